"""The tools, resources and prompts as clients see them, kept as a snapshot.

A model chooses a tool by its words, so a change of them is a change of behaviour. After one on
purpose: python tests/unit/mcp/test_mcp_tools_snapshot.py
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from fastmcp import Client

from neurigraph.mcp_server import INSTRUCTIONS, mcp_server
from neurigraph.vault.turns import estimate_tokens
from vaults import opened

SNAPSHOT = Path(__file__).with_name("tools.json")


def offered(place: Path) -> dict[str, Any]:
    """All that the server offers."""

    async def ask() -> dict[str, Any]:
        with opened(place / "vault", place / "state") as memory:
            async with Client(mcp_server(memory)) as client:
                return {
                    "instructions": INSTRUCTIONS,
                    "tools": [_plain(t) for t in await client.list_tools()],
                    "resources": [_plain(r) for r in await client.list_resources()],
                    "templates": [_plain(t) for t in await client.list_resource_templates()],
                    "prompts": [_plain(p) for p in await client.list_prompts()],
                }

    return asyncio.run(ask())


def _plain(item: Any) -> dict[str, Any]:
    found: dict[str, Any] = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    found.pop("_meta", None)
    return found


def written(found: dict[str, Any]) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def test_clients_are_offered_what_the_snapshot_says(tmp_path: Path) -> None:
    found = offered(tmp_path)
    assert written(found) == SNAPSHOT.read_text("utf-8"), f"run: python {Path(__file__).name}"
    names = [t["name"] for t in found["tools"]]
    assert names == [
        "search_memory",
        "get_context",
        "list_topics",
        "get_recall_file",
        "recent_memories",
        "save_conversation",
        "push_chunk",
        "warm_node",
        "connect_nodes",
        "update_memory",
        "delete_memory",
    ]
    for tool in found["tools"]:
        # for a model that never saw it: when to use it, what comes back; its hints; its forms
        assert len(tool["description"]) > 120, tool["name"]
        assert "Use it" in tool["description"] or "Only when" in tool["description"], tool["name"]
        assert "nswers" in tool["description"] or "answers" in tool["description"], tool["name"]
        assert {"readOnlyHint", "destructiveHint", "idempotentHint"} <= set(tool["annotations"])
        assert tool["outputSchema"]["type"] == "object"
        for name, field in tool["inputSchema"].get("properties", {}).items():
            assert field.get("description"), f"{tool['name']}.{name}"
    # it stands in every conversation of every client
    inputs = [{k: v for k, v in t.items() if k != "outputSchema"} for t in found["tools"]]
    assert estimate_tokens(json.dumps(inputs)) < 5_000
    assert estimate_tokens(found["instructions"]) < 500


def test_everything_that_is_offered_is_on_the_page_about_connecting() -> None:
    page = (Path(__file__).parents[3] / "docs" / "connect.md").read_text("utf-8")
    found = json.loads(SNAPSHOT.read_text("utf-8"))
    names = [item["name"] for kind in ("tools", "prompts") for item in found[kind]]
    names += [r["uri"] for r in found["resources"]] + [t["uriTemplate"] for t in found["templates"]]
    assert [name for name in names if f"`{name}`" not in page] == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        SNAPSHOT.write_text(written(offered(Path(folder))), "utf-8")
