"""Import, export, secrets and forgetting over REST."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from neurigraph.app import create_app
from neurigraph.clock import system_clock
from vaults import QUICK

KEY = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    (tmp_path / "state").mkdir()
    return tmp_path


def client_at(place: Path, host: str) -> Iterator[TestClient]:
    app = create_app(QUICK, system_clock, place / "vault", place / "state", "token", follow=False)
    with TestClient(app, base_url="http://127.0.0.1:7878", client=(host, 5000)) as client:
        while client.get("/api/status").json()["state"] != "ready":
            time.sleep(0.02)
        yield client


@pytest.fixture
def near(place: Path) -> Iterator[TestClient]:
    yield from client_at(place, "127.0.0.1")


def export_file(place: Path) -> Path:
    """A Claude export of two conversations, one with a key in it."""
    talks = [
        {
            "uuid": f"id-{name}",
            "name": name,
            "created_at": "2024-03-01T10:00:00Z",
            "chat_messages": [
                {"uuid": "a", "sender": "human", "text": said},
                {"uuid": "b", "sender": "assistant", "text": "Indeed."},
            ],
        }
        for name, said in (("Rye", "How long does rye rise?"), ("Leaky", f"My token is {KEY}"))
    ]
    path = place / "conversations.json"
    path.write_text(json.dumps(talks), "utf-8")
    return path


def run_import(client: TestClient, **body: Any) -> dict[str, Any]:
    """Import and wait for the outcome."""
    assert client.post("/api/import", json=body).status_code == 202
    while (job := client.get("/api/jobs/import").json())["state"] == "running":
        time.sleep(0.02)
    assert job["state"] == "done", job
    result: dict[str, Any] = job["result"]
    return result


def test_an_import_answers_at_once_and_its_rows_are_paged(near: TestClient, place: Path) -> None:
    path = export_file(place)
    planned = run_import(near, path=str(path), dry_run=True, topic="A/B")
    assert planned["dry_run"] is True
    assert planned["counts"]["imported"] == 2
    assert near.get("/api/memory").json()["total"] == 0
    result = run_import(near, path=str(path), topic="A/B")
    assert result["counts"] == {
        "imported": 2,
        "updated": 0,
        "unchanged": 0,
        "left_out": 0,
        "failed": 0,
    }
    page = near.get("/api/import", params={"per_page": 1, "page": 2}).json()
    assert (page["total"], page["page"], len(page["items"])) == (2, 2, 1)
    assert page["items"][0]["path"].startswith("A/B/")
    assert near.get("/api/import", params={"what": "failed"}).json()["total"] == 0
    assert near.get("/api/import", params={"what": "odd"}).status_code == 422
    assert near.request("DELETE", "/api/import").json() == {"stopping": True}


@pytest.mark.parametrize("path", ["relative.zip", "/nowhere/at/all.zip", "", "/tmp/\u0000x"])
def test_a_path_that_cannot_be_meant_is_refused_at_once(near: TestClient, path: str) -> None:
    answer = near.post("/api/import", json={"path": path})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].startswith("path:")


def test_what_is_no_export_is_told_in_the_outcome(near: TestClient, place: Path) -> None:
    (place / "photo.jpg").write_bytes(b"\xff\xd8\xff\x00")
    result = run_import(near, path=str(place / "photo.jpg"))
    assert "no export that is known" in result["error"]


def test_files_of_this_machine_are_not_read_for_another_one(place: Path) -> None:
    path = export_file(place)
    for client in client_at(place, "192.168.1.20"):
        answer = client.post("/api/import", json={"path": str(path)})
        assert answer.status_code == 403
        assert client.put("/api/import/watched", json={"folders": ["/etc"]}).status_code == 403


def test_followed_folders_need_whole_paths(near: TestClient) -> None:
    assert near.put("/api/import/watched", json={"folders": ["logs"]}).status_code == 422
    body = {"folders": ["/home/ada/logs"], "topic": "Work/Sessions"}
    assert near.put("/api/import/watched", json=body).json() == body


def test_an_export_is_a_download_of_lines(near: TestClient, place: Path) -> None:
    run_import(near, path=str(export_file(place)))
    answer = near.get("/api/export", params={"format": "jsonl"})
    assert "attachment" in answer.headers["content-disposition"]
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines[0] == {"neurigraph": "export", "version": 1}
    assert lines[-1] == {"neurigraph": "end", "items": len(lines) - 2}
    assert near.get("/api/export", params={"format": "xml"}).status_code == 422


def test_a_held_memory_is_listed_allowed_and_forgotten(near: TestClient, place: Path) -> None:
    run_import(near, path=str(export_file(place)))
    while near.get("/api/status").json()["summarizer"]["waiting"]:
        time.sleep(0.02)  # better keywords are still being written, and change the version
    (held,) = near.get("/api/secrets").json()["items"]
    assert held["title"] == "Leaky"
    assert KEY not in json.dumps(held)
    address = f"/api/memory/chunk/{held['id']}"
    memory = near.get(address).json()
    assert memory["secrets"] == "held"
    allowed = near.patch(
        address, json={"secrets_ok": True}, headers={"If-Match": memory["version"]}
    )
    assert allowed.json()["secrets"] == "allowed"
    assert near.get("/api/secrets").json()["total"] == 0
    assert near.post(f"{address}/forget").status_code == 428
    stale = near.post(f"{address}/forget", headers={"If-Match": memory["version"]})
    assert stale.status_code == 409
    done = near.post(f"{address}/forget", headers={"If-Match": allowed.json()["version"]})
    assert done.status_code == 200
    assert memory["path"] in done.json()["removed"]
    assert near.get(address).status_code == 404
    assert near.post(f"{address}/forget", headers={"If-Match": "*"}).status_code == 404
