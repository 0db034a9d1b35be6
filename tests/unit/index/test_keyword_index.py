import random
import threading
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest

from neurigraph.index.keyword import (
    Document,
    IndexInUse,
    KeywordIndex,
    Match,
    Query,
    query_terms,
    spans,
    words,
)
from neurigraph.index.spelling import edit_distances
from neurigraph.index.whoosh_writer import Merged


def found(index: KeywordIndex, text: str, **more: object) -> list[str]:
    query = Query(tuple(query_terms(text)), **more)  # type: ignore[arg-type]
    return [match.id for match in index.search(query, 20).best]


@pytest.fixture
def index(tmp_path: Path) -> KeywordIndex:
    index = KeywordIndex(tmp_path / "keyword")
    index.apply(
        [
            Document(
                "m-1",
                "v1",
                title="Lisinopril: dose change",
                keywords="lisinopril\nblood pressure",
                topic="Medical Medications",
                body="The dose went from 10 to 20 mg.",
                transcript="User: my blood pressure is high.\n\nAssistant: ask your doctor.",
                created="2026-11-30",
                speakers="claude",
            ),
            Document("m-2", "v1", title="Tomatoes", body="Water the tomato plants, not the blood."),
            Document("m-3", "v1", title="Empty"),
        ],
        [],
    )
    return index


def test_every_field_is_searched(index: KeywordIndex) -> None:
    for text in ("lisinopril", "pressure", "medications", "mg", "doctor", "claude", "monday"):
        assert found(index, text) == ["m-1"], text
    assert found(index, "30 november 2026 tomatoes") == ["m-1", "m-2"]
    assert found(index, "nothing of this kind") == []
    assert found(index, "") == []


def test_an_edit_replaces_what_was_there(index: KeywordIndex) -> None:
    index.apply([Document("m-2", "v2", title="Cucumbers")], [])
    assert found(index, "tomatoes") == []
    assert found(index, "cucumbers") == ["m-2"]
    assert index.contents() == {"m-1": "v1", "m-2": "v2", "m-3": "v1"}
    assert index.doc_count() == 3


def test_one_id_twice_in_one_commit_keeps_the_last(index: KeywordIndex) -> None:
    index.apply([Document("m-9", "a", title="pear"), Document("m-9", "b", title="quince")], [])
    assert found(index, "pear") == []
    assert found(index, "quince") == ["m-9"]
    assert index.contents()["m-9"] == "b"


def test_an_id_that_is_added_and_deleted_at_once_stays(index: KeywordIndex) -> None:
    index.apply([Document("m-1", "v2", title="moved")], ["m-1"])
    assert index.contents()["m-1"] == "v2"


def test_what_is_deleted_is_gone_and_stays_gone(index: KeywordIndex, tmp_path: Path) -> None:
    index.apply([], ["m-1", "m-7"])
    assert found(index, "lisinopril") == []
    assert "m-1" not in index.contents()
    index.close()
    index = KeywordIndex(tmp_path / "keyword")
    assert found(index, "lisinopril") == []
    index.apply([], ["m-2", "m-3"])
    assert index.contents() == {}
    assert index.doc_count() == 0
    assert found(index, "tomato") == []
    index.apply([Document("m-2", "v1", title="Tomatoes")], [])
    assert found(index, "tomato") == ["m-2"]


def test_a_scope_limits_the_answer_and_not_the_scores(index: KeywordIndex) -> None:
    query = Query(tuple(query_terms("blood")))
    everything = {m.id: m.score for m in index.search(query, 10).best}
    assert set(everything) == {"m-1", "m-2"}
    for allow in (["m-2"], {"m-2", "m-3", "x", "y", "z", "zz"}):
        narrow = index.search(query, 10, allow=allow)
        assert narrow.total == 1
        assert narrow.best[0].id == "m-2"
        assert narrow.best[0].score == everything["m-2"]
    assert index.search(query, 10, allow=[]).total == 0


def test_words_can_be_required_and_ruled_out(index: KeywordIndex) -> None:
    assert found(index, "blood", exclude=("tomato",)) == ["m-1"]
    assert sorted(found(index, "blood", exclude=("absent",))) == ["m-1", "m-2"]
    assert found(index, "blood", require=("tomato",)) == ["m-2"]
    assert found(index, "blood", require=("absent",)) == []


def test_a_match_says_which_words_it_has_and_where(index: KeywordIndex) -> None:
    terms = ("blood", "lisinopril", "doctor", "absent")
    best = index.search(Query(terms), 1).best[0]
    assert isinstance(best, Match)
    assert (best.id, best.matched, best.in_title, best.in_keywords) == ("m-1", 0b111, 0b10, 0b11)


def test_the_limit_holds_and_the_total_counts_all(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path)
    for part in range(3):
        new = [Document(f"m-{part}-{i}", "1", body="tea " * (i + 1) + "x " * 20) for i in range(30)]
        index.apply(new, [])
    answer = index.search(Query(("tea",)), 4)
    assert answer.total == 90
    assert len(answer.best) == 4
    assert {m.id[-2:] for m in answer.best} == {"29", "28"}
    assert index.search(Query(("tea",)), 0).total == 90


def test_marks_show_where_the_words_stand(index: KeywordIndex) -> None:
    text = "User: my blood pressure is high.\n\nAssistant: ask your doctor."
    marked = index.marks(["m-1", "m-2", "gone"], ["doctor", "absent", "pressur", "blood"])
    assert set(marked) == {"m-1", "m-2"}
    assert marked["m-2"].length == 0
    one = marked["m-1"]
    assert one.length == len(words(text))
    assert one.terms.tolist() == [3, 2, 0]
    starts = one.starts()
    assert starts.tolist() == [w.start for w in spans(text)]
    assert [text[s:].split()[0] for s in starts[one.positions].tolist()] == [
        "blood",
        "pressure",
        "doctor.",
    ]
    body = index.marks(["m-2"], ["tomato"], "body")["m-2"]
    assert body.positions.tolist() == [2]


def test_lines_and_phrases_are_known(tmp_path: Path) -> None:
    text = "Ann: to be or not\nto be?\n\n## Bob\n\n- Node.js server: to be…\n"
    index = KeywordIndex(tmp_path)
    index.apply([Document("m-0", "1", body="x\ny", transcript="z")], [])
    index.apply([Document("m-1", "1", body="to be", transcript=text)], [])
    index.apply([Document("m-2", "1", title="to be")], [])

    def lines(name: str) -> list[str]:
        marked = index.marks([name], [])[name]
        return [words(text)[i] for i in marked.lines().tolist()]

    def places(phrase: str) -> dict[str, list[int]]:
        found = index.phrase(["m-0", "m-1", "m-2", "gone"], words(phrase))
        return {name: at.tolist() for name, at in found.items()}

    for _ in range(2):
        assert lines("m-1") == ["ann", "to", "bob", "node"]
        assert lines("m-2") == []
        assert places("to be") == {"m-1": [1, 5, 11]}
        assert places("To be, or not to be?") == {"m-1": [1]}
        assert places("node.js servers") == {"m-1": [8]}
        assert places("be to be or not to be to be") == places("be absent") == places("") == {}
        assert index.phrase(["m-1"], ["to", "be"], "body")["m-1"].tolist() == [0]
        index.optimize()


def test_a_word_is_found_at_its_place_in_a_long_transcript(tmp_path: Path) -> None:
    filler = "Wörter — and other “things” that stand in the way. " * 2000
    text = filler + "xyzzy " + filler + " " * 700 + "xyzzy"
    index = KeywordIndex(tmp_path)
    index.apply([Document("m-1", "1", transcript=text)], [])
    marked = index.marks(["m-1"], ["xyzzi"])["m-1"]
    places = marked.starts()[marked.positions].tolist()
    assert [text[p : p + 5] for p in places] == ["xyzzy", "xyzzy"]


def test_merging_keeps_everything(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path)
    expected = {}
    for i in range(40):
        text = f"common word{i} Ünï“code” " + "filler " * i
        index.apply([Document(f"m-{i % 25}", f"v{i}", title=f"t{i}", transcript=text)], [])
        expected[f"m-{i % 25}"] = (f"v{i}", text)
    index.apply([], ["m-3"])
    del expected["m-3"]
    while index.merge():
        pass
    index.optimize()
    assert index.contents() == {name: version for name, (version, _) in expected.items()}
    assert index.search(Query(("common",)), 100).total == 24
    for name, (version, text) in expected.items():
        assert found(index, f"word{version[1:]}") == [name]
        marked = index.marks([name], ["common"])[name]
        assert marked.length == len(words(text))
        assert marked.starts().tolist() == [w.start for w in spans(text)]
    assert len([p for p in tmp_path.iterdir() if p.suffix == ".arrays"]) == 1


def test_what_is_deleted_while_a_merge_runs_stays_deleted(tmp_path: Path) -> None:
    class Interrupted(KeywordIndex):
        def _merge_sources(self, names: Collection[str]) -> Merged:
            merged = super()._merge_sources(names)
            self.apply([Document("m-2", "new", title="fresh")], ["m-1"])
            return merged

    index: KeywordIndex = Interrupted(tmp_path)
    for i in range(4):
        index.apply([Document(f"m-{i}", "old", title=f"word{i} all")], [])
    index.optimize()
    assert index.contents() == {"m-0": "old", "m-2": "new", "m-3": "old"}
    assert sorted(found(index, "all")) == ["m-0", "m-3"]
    assert found(index, "fresh") == ["m-2"]
    index.close()
    index = KeywordIndex(tmp_path)
    assert index.contents() == {"m-0": "old", "m-2": "new", "m-3": "old"}


def test_a_seeded_random_does_no_harm(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path)
    before = random.getstate()
    for step in range(3):
        random.seed(0)
        index.apply([Document(f"m-{step}", "1", body=f"word{step} all")], [])
    random.setstate(before)
    assert index.search(Query(("all",)), 5).total == 3
    assert [found(index, f"word{step}") for step in range(3)] == [["m-0"], ["m-1"], ["m-2"]]


def test_small_segments_do_not_pile_up(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path)
    for step in range(40):
        index.apply([Document(f"m-{step}", "1", body=f"word{step} all")], [])
        while index.merge():
            pass
        assert len(index._searcher.leaves) < 5
    assert index.search(Query(("all",)), 5).total == 40


def test_a_second_owner_is_told_so(tmp_path: Path) -> None:
    first = KeywordIndex(tmp_path)
    with pytest.raises(IndexInUse):
        KeywordIndex(tmp_path)
    first.close()
    first.close()
    with pytest.raises(ValueError, match="closed"):
        first.apply([Document("a", "1")], [])
    KeywordIndex(tmp_path).close()


def test_text_that_is_no_text_does_no_harm(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path)
    for number, text in enumerate(
        ("", "\0\0", "\ud800 half a pair \udc00", "\ufeff", "\u200d", "☃" * 99)
    ):
        index.apply([Document(f"m-{number}", "\ud800", title=text, body=text, transcript=text)], [])
    index.optimize()
    assert index.doc_count() == 6
    assert found(index, "half a pair") == ["m-2"]
    assert index.near_terms("\ud800x") == []
    index.close()
    assert KeywordIndex(tmp_path).contents()["m-2"] == "\ud800"


def test_searches_while_others_write(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path)
    index.apply([Document(f"m-{i}", "0", body="always here") for i in range(20)], [])
    wrong: list[object] = []
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            answer = index.search(Query(("alway",)), 50)
            if answer.total != 20 or len({m.id for m in answer.best}) != 20:
                wrong.append(answer)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for step in range(30):
        index.apply([Document(f"m-{step % 20}", str(step), body="always here")], [])
        if step % 10 == 9:
            index.merge()
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_misspelt_words_lead_to_indexed_ones(index: KeywordIndex) -> None:
    def near(token: str) -> list[str]:
        return [n.term for n in index.near_terms(token, 3)]

    assert near("lisinopirl")[0] == "lisinopril"
    assert near("presure")[0] == "pressur"
    assert near("tomatto")[0] == "tomato"
    assert near("lisin")[0] == "lisinopril"
    assert near("inopri")[0] == "lisinopril"
    assert near("") == near("qqqqqqqq") == []
    assert index.near_terms("lisinopirl")[0].frequency == 2
    index.apply([Document("m-8", "1", body="Повторение — мать учения; Straßenbahn; 東京都")], [])
    assert near("повторенее")[0] == "повторение"
    assert near("повтор")[0] == "повторение"
    assert near("strasenbahn")[0] == near("senbah")[0] == "strassenbahn"
    assert sorted(near("京")) == ["京都", "東京"]


def test_compounds_come_apart(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path)
    index.apply([Document("a", "1", body="blood pressure and the database")], [])
    assert index.splits("bloodpressure") == [("blood", "pressur")]
    assert index.splits("zzzz") == []


def test_one_character_of_chinese_is_found_by_what_begins_with_it(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path)
    index.apply([Document("a", "1", body="東京都"), Document("b", "1", body="大阪府")], [])
    terms = tuple(n.term for n in index.near_terms("京", 20))
    assert found(index, "京") == []
    assert [m.id for m in index.search(Query(terms), 5).best] == ["a"]
    assert found(index, "都") == ["a"]


def test_edit_distances_are_exact() -> None:
    def plain(a: str, b: str) -> int:
        table = [[i + j if i * j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                table[i][j] = min(
                    table[i - 1][j] + 1,
                    table[i][j - 1] + 1,
                    table[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                )
                if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                    table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
        return table[-1][-1]

    chance = random.Random(1)
    rows = ["".join(chance.choices("abc", k=chance.randint(2, 7))) for _ in range(80)]
    letters = np.array(rows, "U7").view(np.uint32).reshape(80, 7)
    lengths = np.array([len(row) for row in rows])
    for size in (3, 4, 5, 6, 7):
        wanted = "".join(chance.choices("abc", k=size))
        code = np.array([wanted], f"U{size}").view(np.uint32)
        for most in (1, 2):
            got = edit_distances(code, letters, lengths, most).tolist()
            assert [min(d, most + 1) for d in got] == [
                min(plain(wanted, row), most + 1) for row in rows
            ]


def test_very_many_documents_are_committed_in_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neurigraph.index.keyword.SEGMENT_CHARS", 1000)
    index = KeywordIndex(tmp_path)
    index.apply([Document(f"m-{i}", "1", body="word " * 50) for i in range(20)], [])
    assert index.doc_count() == 20
    index.apply([Document(f"m-{i}", "2", body="other " * 50) for i in range(20)], ["m-19"])
    assert index.search(Query(("word",)), 5).total == 0
    assert index.search(Query(("other",)), 5).total == 20
