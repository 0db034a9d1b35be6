"""What runs in the hooks of a coding AI: recall when its session starts, keep it when it ends.

The AI's program hands in JSON on standard input with `cwd` and `transcript_path` (the form that
Claude Code and Codex share).
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import httpx

from neurigraph.client import detached
from neurigraph.lock import DaemonCard

RECALL_TOKENS = 1_500
RECALL_SECONDS = 8.0


def read_hook(text: str) -> Mapping[str, Any]:
    """What the AI's program says; empty when it says nothing that can be read."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def recalled(card: DaemonCard, said: Mapping[str, Any], scope: str) -> str:
    """What to tell the AI at the start of a session: JSON for its program, or nothing."""
    folder = PurePath(str(said.get("cwd") or "")).name
    if not folder:
        return ""
    found = _context(card, folder, scope)
    if not found:
        return ""
    context = f"From the person's memory, about '{folder}':\n\n{found}"
    event = said.get("hook_event_name") or "SessionStart"
    return json.dumps(
        {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}
    )


def _context(card: DaemonCard, query: str, scope: str) -> str:
    """The words of get_context; empty when there is nothing or the daemon is busy."""
    arguments = {"query": query, "max_tokens": RECALL_TOKENS}
    call = {"name": "get_context", "arguments": arguments}
    try:
        answer = httpx.post(
            f"{card.address}/mcp",
            params={"scope": scope} if scope else None,
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
            headers={
                "Accept": "application/json, text/event-stream",
                "Authorization": f"Bearer {card.token}",
            },
            timeout=RECALL_SECONDS,
            trust_env=False,
            verify=False,
        )
    except httpx.HTTPError:
        return ""
    for line in answer.content.split(b"\n"):
        text = line.removeprefix(b"data:").strip()
        result = read_hook(text.decode("utf-8", "replace")).get("result") if text else None
        if isinstance(result, dict) and not result.get("isError"):
            known = (result.get("structuredContent") or {}).get("memories")
            return str(result["content"][0]["text"]) if known else ""
    return ""


def keep(
    program: Sequence[str], said: Mapping[str, Any], options: Sequence[str]
) -> subprocess.Popen[bytes] | None:
    """Hand the session's log to `neurigraph import`, which goes on after the AI's program ended.

    Answers the import's process; None when there is no log.
    """
    place = str(said.get("transcript_path") or "")
    log = Path(place).expanduser()
    if not place or not log.is_file():
        return None
    return subprocess.Popen(
        [*program, "import", str(log), *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=Path.home(),
        **detached(),
    )
