"""What the daemon answers is recorded for the viewer's own tests: both ends hold one contract.

`NEURIGRAPH_RECORD=1` writes the recordings anew after a change that is meant.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from daemon_process import Daemon

ANSWERS = Path(__file__).resolve().parents[2] / "viewer" / "tests" / "answers"


def form(value: Any) -> Any:
    """The keys and types of a value; a list is as its first item."""
    if isinstance(value, dict):
        return {key: form(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [form(value[0])] if value else []
    return (
        "number"
        if isinstance(value, int | float) and not isinstance(value, bool)
        else (type(value).__name__)
    )


def fits(recorded: Any, now: Any) -> bool:
    """Whether an answer still has all that was recorded, as it was; new keys may come.

    Null and empty lists say nothing about what they would hold.
    """
    if isinstance(recorded, dict) and isinstance(now, dict):
        return recorded.keys() <= now.keys() and all(fits(recorded[k], now[k]) for k in recorded)
    if isinstance(recorded, list) and isinstance(now, list):
        return not recorded or not now or fits(recorded[0], now[0])
    return "NoneType" in (recorded, now) or recorded == now


@pytest.fixture(scope="module")
def answers(running: Daemon) -> dict[str, Any]:
    get = running.get
    broad = get("/api/graph/broad")
    topic = broad["items"][0]["id"]
    focused = get(f"/api/graph/broad/{topic}/focused")
    memories = get("/api/memory", per_page=2)
    memory = get(f"/api/memory/chunk/{memories['items'][0]['id']}")
    chunk = f"/api/memory/chunk/{memory['id']}"
    stale = running.http.patch(chunk, json={"title": "x"}, headers={"If-Match": '"old"'})
    assert stale.status_code == 409
    opened = running.http.post(f"{chunk}/open")
    version = {"If-Match": f'"{opened.json()["version"]}"'}
    return {
        "broad": broad,
        "focused": focused,
        "node": get(f"/api/graph/focused/{focused['items'][0]['id']}"),
        "edges": get(f"/api/graph/edges/{topic}", per_page=2),
        "memories": memories,
        "memory": memory,
        "stale": stale.json(),
        "opened": opened.json(),
        "turns": get(f"{chunk}/transcript", format="turns", per_page=2, q="ledger"),
        "search": get("/api/search", q="ledger", limit=2),
        "status": get("/api/status"),
        "temperature": get("/api/temperature/status"),
        "deleted": running.http.request("DELETE", chunk, headers=version).json(),
    }


def test_answers_are_those_that_the_viewer_was_tested_on(
    answers: dict[str, Any], vault: Path
) -> None:
    if os.environ.get("NEURIGRAPH_RECORD"):
        ANSWERS.mkdir(exist_ok=True)
        for name, answer in answers.items():
            text = json.dumps(answer, indent=2, ensure_ascii=False) + "\n"
            said = text.replace(str(vault), "/home/ada/Notes")
            (ANSWERS / f"{name}.json").write_text(said, "utf-8")
    assert sorted(answers) == sorted(path.stem for path in ANSWERS.glob("*.json"))
    for name, answer in answers.items():
        recorded = json.loads((ANSWERS / f"{name}.json").read_text("utf-8"))
        assert fits(form(recorded), form(answer)), f"{name}: {form(recorded)} != {form(answer)}"
