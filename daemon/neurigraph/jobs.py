"""Long work that runs beside the requests: one of a name at a time, its outcome remembered."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from neurigraph.errors import Conflict, NeurigraphError, NotFound
from neurigraph.events import EventBus
from neurigraph.model import Event

log = logging.getLogger(__name__)


class JobRunning(Conflict):
    """The same long work is under way already."""

    code = "job_running"

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is under way already; ask for its progress, or wait")


class Jobs:
    """The long work of one daemon. Progress comes as `progress` events that name the job."""

    def __init__(self, events: EventBus) -> None:
        self._events = events
        self._lock = threading.Lock()
        self._known: dict[str, dict[str, Any]] = {}
        events.subscribe(self._listen)

    def _listen(self, event: Event) -> None:
        name = event.data.get("job")
        known = self._known.get(str(name)) if event.kind == "progress" else None
        if known is not None and known["state"] == "running":
            known.update({k: event.data.get(k) for k in ("done", "total", "text")})

    def begin(self, name: str, work: Callable[[], object]) -> None:
        """Run `work` in a thread of its own. Raises `JobRunning`."""
        with self._lock:
            if self._known.get(name, {}).get("state") == "running":
                raise JobRunning(name)
            self._known[name] = {"state": "running", "done": 0, "total": 0, "text": ""}
        threading.Thread(target=self._run, args=(name, work), name=name, daemon=True).start()

    def _run(self, name: str, work: Callable[[], object]) -> None:
        outcome: dict[str, Any] = {"state": "failed", "error": f"{name} stopped; the log says why"}
        try:
            outcome = {"state": "done", "result": work()}
        except NeurigraphError as error:
            outcome = {"state": "failed", "error": str(error)}
        except OSError as error:
            outcome = {"state": "failed", "error": f"{name} stopped: {error}"}
        except Exception:  # the thread is the job: whatever ends it must be told to who waits
            log.exception("%s failed", name)
        finally:
            with self._lock:
                self._known[name] = outcome
            self._events.publish("progress", job=name, done=1, total=1, text="done", **outcome)

    def state(self, name: str) -> Mapping[str, Any]:
        """What became of the latest work of this name: `state` is running (with done, total and
        text), done (with result) or failed (with error). Raises `NotFound`."""
        with self._lock:
            if name not in self._known:
                raise NotFound("job", name, sorted(self._known))
            return {"job": name, **self._known[name]}
