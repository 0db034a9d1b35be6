"""A damaged index says so; it never gives a wrong answer and never keeps a daemon from starting."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from neurigraph.index.array_file import ArrayFile, write_arrays
from neurigraph.index.keyword import Document, IndexDamaged, KeywordIndex, Query


def make(folder: Path) -> dict[str, float]:
    index = KeywordIndex(folder)
    for part in range(3):
        index.apply(
            [
                Document(f"m-{part}-{i}", "v", title=f"t{i}", transcript="tea" + f" word{i}" * i)
                for i in range(30)
            ],
            [],
        )
    answer = scores(index)
    index.close()
    return answer


def scores(index: KeywordIndex) -> dict[str, float]:
    best = index.search(Query(("tea", "word3", "t7", "t8")), 1000).best
    for name in index.contents():
        index.marks([name], ["tea"])[name].starts()
    return {match.id: match.score for match in best}


@pytest.mark.parametrize("suffix", [".arrays", ".toc"])
def test_any_flipped_or_missing_byte_is_noticed(tmp_path: Path, suffix: str) -> None:
    expected = make(tmp_path)
    chance = random.Random(suffix)
    noticed = 0
    for attempt in range(60):
        path = chance.choice(sorted(tmp_path.glob(f"*{suffix}")))
        whole = path.read_bytes()
        if attempt % 3 == 0:
            broken = whole[: chance.randrange(len(whole))]
        else:
            at = chance.randrange(len(whole))
            broken = whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :]
        path.write_bytes(broken)
        index = None
        try:
            index = KeywordIndex(tmp_path)
            assert scores(index) == expected
        except IndexDamaged:
            noticed += 1
        finally:
            if index is not None:
                index.close()
            path.write_bytes(whole)
    assert noticed > 50


def test_a_look_at_the_whole_index_finds_damage_before_a_search_does(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path)
    text = " ".join(f"word{i % 900}" for i in range(100_000))
    index.apply([Document("m-1", "v", transcript=text)], [])
    index.check()
    index.close()
    (path,) = tmp_path.glob("*.arrays")
    whole = bytearray(path.read_bytes())
    whole[whole.rindex(b'{"names"') - 70_000] ^= 1  # in an array that opening does not read
    path.write_bytes(whole)
    index = KeywordIndex(tmp_path)
    with pytest.raises(IndexDamaged):
        index.check()
    index.close()


def test_a_missing_segment_is_noticed(tmp_path: Path) -> None:
    make(tmp_path)
    next(iter(tmp_path.glob("*.arrays"))).unlink()
    with pytest.raises(IndexDamaged):
        KeywordIndex(tmp_path)


def test_a_damaged_index_can_be_begun_anew(tmp_path: Path) -> None:
    expected = make(tmp_path)
    for path in tmp_path.glob("*.toc"):
        path.write_bytes(b"")
    with pytest.raises(IndexDamaged):
        KeywordIndex(tmp_path)
    KeywordIndex.reset(tmp_path)
    KeywordIndex(tmp_path).close()
    assert make(tmp_path) == expected


def test_an_index_of_another_version_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path)
    monkeypatch.setattr("neurigraph.index.keyword.VERSION", "other")
    index = KeywordIndex(tmp_path)
    assert index.contents() == {}
    index.close()
    assert not list(tmp_path.glob("*.arrays"))


WRITER = """
import sys
from pathlib import Path
from neurigraph.index.keyword import Document, KeywordIndex
index = KeywordIndex(Path(sys.argv[1]))
print("open", flush=True)
for step in range(100_000):
    index.apply([Document(f"m-{step % 7}", str(step), body=f"word{step} tea " * 200)], [])
    print(step, flush=True)
    if step % 5 == 4:
        index.optimize()
"""


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    chance = random.Random(3)
    for _ in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert writer.stdout is not None
        with writer.stdout as said:
            assert said.readline() == "open\n"
            last = -1
            for line in said:
                last = int(line)
                if last >= 8 and chance.random() < 0.2:
                    break
            writer.send_signal(signal.SIGKILL)
            rest = said.read().split()
        writer.wait()
        last = int(rest[-1]) if rest else last
        index = KeywordIndex(tmp_path)
        held = index.contents()
        assert len(held) == 7
        assert max(map(int, held.values())) in (last, last + 1)
        newest = max(held, key=lambda name: int(held[name]))
        answer = index.search(Query((f"word{held[newest]}",)), 3)
        assert [m.id for m in answer.best] == [newest]
        assert index.search(Query(("tea",)), 30).total == 7
        assert not [p for p in tmp_path.iterdir() if p.name.startswith(".") or ".toc." in p.name]
        index.close()


def test_array_files_give_back_what_was_written(tmp_path: Path) -> None:
    import numpy as np

    path = tmp_path / "x.arrays"
    big = np.arange(100_000, dtype=np.int32)
    crc = write_arrays(
        path, {"big": big, "none": big[:0], "bytes": np.frombuffer(b"abc", np.uint8)}
    )
    file = ArrayFile(path, crc)
    assert file.array("big").tolist() == big.tolist()
    assert file.part("big", 40_000, 40_003).tolist() == [40_000, 40_001, 40_002]
    assert file.array("none").tolist() == []
    assert file.array("bytes").tobytes() == b"abc"
    file.check()
    with pytest.raises(IndexDamaged):
        file.part("big", 0, 100_001)
    with pytest.raises(IndexDamaged):
        ArrayFile(path, crc + 1)
