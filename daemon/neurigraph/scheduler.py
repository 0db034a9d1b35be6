"""The table of jobs that run by themselves."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from neurigraph.errors import NeurigraphError
from neurigraph.memory import Memory

COOL = "cool"
FIRST_CYCLE = 180.0
"""Seconds until the first cycle: a daemon that an AI starts may not live for an hour."""

DAY = 86_400.0

SYNC_TICK = 3.0
"""Seconds between looks at whether it is time to sync; a look costs a few file stamps."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """Something done every so many seconds, never twice at once; `first` is the wait before the
    first time, in seconds, where it is another."""

    name: str
    seconds: float
    run: Callable[[], object]
    first: float | None = None


def jobs(memory: Memory) -> list[Job]:
    """All of them, in the order of their first run."""
    settings = memory.settings
    cooling = settings.temperature.cycle_minutes * 60
    quiet = settings.imports.quiet_seconds
    return [
        Job("merge full text", 20, memory.tidy_indexes),
        Job("look after the state directory", 3, memory.look_after_state),
        Job("compare with the disk", settings.vault.reconcile_minutes * 60, memory.reconcile),
        Job(COOL, cooling, memory.cool_by_itself, first=min(FIRST_CYCLE, cooling)),
        Job("inbox", max(1.0, min(quiet, 5)), lambda: memory.capture.take_inbox()),
        Job("follow logs", max(1.0, min(3 * quiet, 15)), lambda: memory.capture.follow()),
        Job("look through _recall", DAY, memory.survey_recall),
        Job("sync", SYNC_TICK, memory.sync_by_itself, first=1),
    ]


class Scheduler:
    """Runs the table with APScheduler; a job that is late runs once, not many times."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._scheduler = BackgroundScheduler(
            executors={"default": ThreadPoolExecutor(2)},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )

    def start(self) -> None:
        """Begin the table."""
        for job in jobs(self._memory):
            wait = job.seconds if job.first is None else job.first
            self._scheduler.add_job(
                _survivor(job),
                "interval",
                seconds=job.seconds,
                id=job.name,
                jitter=1,
                next_run_time=datetime.now(UTC) + timedelta(seconds=wait),
            )
        self._scheduler.start()
        self._memory.follow_cycles(self._next_cycle)

    def _next_cycle(self) -> datetime | None:
        job = self._scheduler.get_job(COOL) if self._scheduler.running else None
        found: datetime | None = job.next_run_time if job else None
        return found.astimezone(UTC) if found else None

    def stop(self) -> None:
        """End after the jobs that are under way."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=True)


def _survivor(job: Job) -> Callable[[], None]:
    def run() -> None:
        try:
            job.run()
        except NeurigraphError as error:
            log.warning("%s: %s", job.name, error)
        except Exception:  # a job that fails once must run again
            log.exception("%s failed", job.name)

    return run
