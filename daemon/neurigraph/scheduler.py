"""The table of jobs that run by themselves."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

from neurigraph.errors import NeurigraphError
from neurigraph.memory import Memory

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """Something done every so many seconds, never twice at once."""

    name: str
    seconds: float
    run: Callable[[], object]


def jobs(memory: Memory) -> list[Job]:
    """All of them, in the order of their first run."""
    settings = memory.settings
    return [
        Job("merge full text", 20, memory.tidy_indexes),
        Job("compare with the disk", settings.vault.reconcile_minutes * 60, memory.reconcile),
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
            self._scheduler.add_job(
                _survivor(job), "interval", seconds=job.seconds, id=job.name, jitter=1
            )
        self._scheduler.start()

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
