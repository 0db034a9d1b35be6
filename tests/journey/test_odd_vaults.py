"""Vaults with notes that are odd, broken or hostile: all else goes on, and nothing is changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon_process import Daemon, daemon

HEALTHY = {
    "bom.md": b"\xef\xbb\xbf---\ntitle: x\n---\nhealthy bom walrus\n",
    "crlf.md": b"---\r\ntitle: x\r\n---\r\nhealthy crlf walrus\r\n",
    "tabs.md": b"text\twith\ttabs walrus\n",
    "empty.md": b"",
    f"{'long' * 60}name.md": b"a name of nearly 250 bytes walrus\n",
    "foreign.md": b"---\ntype: book\nid: 17\n---\nsomebody else's type walrus\n",
    "foreign id.md": b"---\ntype: memory\nid: my-own-id\n---\nnearly ours walrus\n",
    "rules.md": b"---\nA line between rules, and no mapping.\n---\nwalrus\n",
    "orders.md": b"# \x1b[2J\x1b]0;owned\x07 \xc2\x9b31m walrus orders\n",
    "template.md": b"emoji \xf0\x9f\xa6\xad walrus {{date}}\n",
}
BROKEN = {
    "yaml.md": b"---\ntitle: a: b\n---\nbroken yaml walrus\n",
    "nul.md": b"---\ntitle: x\n---\nnul \x00 byte walrus\n",
    "latin.md": b"---\ntitle: caf\xe9\n---\nno utf-8 walrus\n",
    "twice.md": b"---\ntitle: x\ntitle: y\n---\nduplicate keys walrus\n",
    "bomb.md": b"---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n"
    b"c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n"
    b"e: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]\n---\nalias bomb walrus\n",
}
TWIN = b"---\ntype: memory\nid: m-20260101-0000000a\ntitle: Twin\n---\n## Summary\ntwins walrus\n"


def picture(vault: Path) -> dict[str, str]:
    return {
        os.path.relpath(p, vault): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in vault.rglob("*")
        if p.is_file()
    }


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    place = tmp_path_factory.mktemp("odd")
    vault = place / "vault"
    (vault / "Things" / "Odd").mkdir(parents=True)
    for name, data in {**HEALTHY, **BROKEN}.items():
        (vault / "Things" / "Odd" / name).write_bytes(data)
    (vault / "Things" / "Odd" / "a twin.md").write_bytes(TWIN)
    (vault / "Things" / "Odd" / "a twin 1.md").write_bytes(TWIN)
    (vault / "Things" / "huge.md").write_bytes(b"twenty megabytes walrus\n" * 900_000)
    (vault / "neurigraph.toml").write_text("[temperature]\nhot_minutes = 'many'\n", "utf-8")
    secret = place / "outside.md"
    secret.write_text("outside walrus, never to be read\n", "utf-8")
    (vault / "Things" / "link.md").symlink_to(secret)
    (vault / "Things" / "loop").symlink_to(vault)
    with daemon(vault, place / "state") as running:
        running.ready()
        yield running


def test_healthy_notes_are_found_and_listed_nowhere(odd: Daemon) -> None:
    found = {h["path"] for h in odd.search("walrus", limit=50)}
    problems = {p["path"] for p in odd.get("/api/status")["problems"]}
    for name, data in HEALTHY.items():
        path = f"Things/Odd/{name}"
        assert path not in problems
        assert (path in found) == (b"walrus" in data), path


def test_broken_notes_are_found_too_and_listed_with_what_to_do(odd: Daemon) -> None:
    found = {h["path"] for h in odd.search("walrus", limit=50)}
    problems = {p["path"]: p["problem"] for p in odd.get("/api/status")["problems"]}
    for name in BROKEN:
        path = f"Things/Odd/{name}"
        assert path in found, path
        assert len(problems[path].splitlines()) == 1
    assert "20 MB" in problems["Things/huge.md"] or "22 MB" in problems["Things/huge.md"]
    assert "same id" in problems["Things/Odd/a twin 1.md"]
    assert "Things/link.md" in problems


def test_what_a_note_says_gives_the_terminal_no_orders(odd: Daemon) -> None:
    for words in (("search", "orders"), ("search", "orders", "--json"), ("status",), ("doctor",)):
        printed = odd.cli(*words, code=1 if words == ("doctor",) else 0)
        assert not set(printed) & {"\x1b", "\x07", "\x9b"}, words
    assert odd.cli_json("search", "orders")["results"][0]["path"] == "Things/Odd/orders.md"


def test_a_wrong_line_in_the_vaults_settings_is_said_by_status(odd: Daemon) -> None:
    assert [n for n in odd.get("/api/status")["notices"] if "temperature.hot_minutes" in n]
    assert "temperature.hot_minutes does not accept 'many'" in odd.cli("status")


def test_commands_for_a_vault_that_is_not_there_are_one_line_and_exit_code_2(
    odd: Daemon, tmp_path: Path
) -> None:
    nowhere = str(tmp_path / "nowhere")
    for words in (("status", nowhere), ("down", nowhere), ("doctor", nowhere), ("up", nowhere)):
        printed = odd.cli(*words, code=2)
        assert nowhere in printed
        assert len(printed.splitlines()) == 1


def test_words_that_are_no_utf_8_are_one_line_and_exit_code_2(odd: Daemon) -> None:
    for words in (("search", "\udcff"), ("restore", "\udcff"), ("warm", "\udcff")):
        printed = odd.cli(*words, code=2)
        assert "not UTF-8" in printed
        assert len(printed.splitlines()) == 1


def test_a_terminal_without_emoji_shows_all_else(
    odd: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(odd.env, "PYTHONIOENCODING", "latin-1")
    assert "memories" in odd.cli("status")
    assert "walrus" in odd.cli("search", "walrus")


def test_a_link_out_of_the_vault_is_never_read(odd: Daemon) -> None:
    assert not odd.search("outside never to be read")


def test_broken_notes_are_never_written_to_even_when_asked(odd: Daemon) -> None:
    before = picture(odd.vault)
    for name in BROKEN:
        hit = next(h for h in odd.search("walrus", limit=50) if h["path"].endswith(name))
        answer = odd.http.patch(
            f"/api/memory/chunk/{hit['id']}",
            json={"keywords": ["new"]},
            headers={"If-Match": "*"},
        )
        assert answer.status_code == 409, answer.text
        assert answer.json()["error"]["message"]
    assert picture(odd.vault) == before


def test_a_stranger_s_note_is_edited_line_by_line_and_stays_the_persons(odd: Daemon) -> None:
    path = odd.vault / "Things" / "Odd" / "crlf.md"
    before = path.read_bytes()
    hit = next(h for h in odd.search("healthy crlf") if h["path"].endswith("crlf.md"))
    answer = odd.http.patch(
        f"/api/memory/chunk/{hit['id']}", json={"keywords": ["sea"]}, headers={"If-Match": "*"}
    )
    assert answer.status_code == 200, answer.text
    expected = before.replace(b"title: x\r\n", b"title: x\r\nkeywords:\r\n  - sea\r\n")
    assert path.read_bytes() == expected
    path.write_bytes(before)


def test_wrong_requests_name_the_field(odd: Daemon) -> None:
    cases = [
        ("POST", "/api/memory", {"transcript": ""}, "transcript"),
        ("POST", "/api/memory", {"transcript": 7}, "transcript"),
        ("POST", "/api/memory", {"transcript": "x", "tittle": "y"}, "tittle"),
        ("POST", "/api/memory", {"transcript": "x", "created": "soon"}, "created"),
        ("POST", "/api/graph/broad", {"name": ""}, "name"),
        ("POST", "/api/graph/broad", {"name": "A", "color": "red"}, "color"),
        ("POST", "/api/graph/edges", {"source": "Things"}, "target"),
        ("GET", "/api/search?limit=0", None, "limit"),
        ("GET", "/api/search?q=x&offset=-1", None, "offset"),
        ("GET", "/api/memory?sort=size", None, "sort"),
        ("GET", "/api/memory?from=soon", None, "from"),
        ("GET", "/api/memory?per_page=501", None, "per_page"),
    ]
    for method, path, body, field in cases:
        answer = odd.http.request(method, path, json=body)
        assert answer.status_code == 422, f"{path}: {answer.status_code} {answer.text}"
        assert field in answer.json()["error"]["message"], answer.text
    assert odd.http.post("/api/memory", content=b"{").status_code == 422
    assert odd.http.get("/api/memory/chunk/../../etc/passwd").status_code in (404, 200)
    assert odd.http.get("/api/memory/chunk/m-20260101-ffffffff").status_code == 404
    assert odd.http.get("/api/nothing").json()["error"]["message"]
    assert odd.http.put("/api/status").status_code == 405
