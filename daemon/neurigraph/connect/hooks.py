"""The hooks of clients that have them: recall when a session starts, keep it when it ends. Pure.

Claude Code and Codex share one form: {"hooks": {event: [{"matcher", "hooks": [{"type",
"command"}]}]}}.
"""

from __future__ import annotations

from typing import Any

from neurigraph.connect.json_text import add_item, remove_item

_MARK = " hook "
START = "SessionStart"


def with_hooks(text: str, program: str, options: str, ends_with: str) -> str:
    """The text with our two hooks. `program` runs this program, `options` follow the command.
    Raises `NotJson`."""
    begin = {
        "matcher": "startup|clear|compact",
        "hooks": [_hook(f"{program} hook recall {options}")],
    }
    end = {"hooks": [_hook(f"{program} hook keep {options}")]}
    text = add_item(text, ["hooks", START], begin, is_ours)
    return add_item(text, ["hooks", ends_with], end, is_ours)


def _hook(command: str) -> dict[str, Any]:
    return {"type": "command", "command": command.strip(), "timeout": 20}


def without_hooks(text: str, ends_with: str) -> str:
    """The text without them."""
    for event in (START, ends_with):
        text = remove_item(text, ["hooks", event], is_ours, empty_too=2)
    return text


def is_ours(group: Any) -> bool:
    """Whether a group of hooks runs this program."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and any(
        isinstance(hook, dict)
        and "neurigraph" in str(hook.get("command", ""))
        and _MARK in str(hook.get("command", ""))
        for hook in hooks
    )
