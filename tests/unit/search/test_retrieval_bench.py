"""The bench of retrieval counts as the textbooks do, and reads LoCoMo's format."""

from __future__ import annotations

import json
import sys
from math import log2
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from retrieval_data import read_locomo
from retrieval_score import mean, score


def test_figures_of_an_order() -> None:
    found = score(["a", "b", "c", "d", "e", "f"], {"b", "f"})
    assert (found.r1, found.r5, found.r10, found.hit5) == (0, 0.5, 1, 1)
    assert found.mrr == 0.5
    best = 1 + 1 / log2(3)
    assert found.ndcg10 == pytest.approx((1 / log2(3) + 1 / log2(7)) / best)
    assert score(["x"], {"y"}) == mean([])


def test_locomo_files_are_read_with_dates_captions_and_evidence(tmp_path: Path) -> None:
    sample = {
        "sample_id": "c1",
        "qa": [
            {"question": "Where?", "evidence": ["D1:2; D2:1"], "category": 1},
            {"question": "Trick?", "evidence": ["D1:1"], "category": 5},
            {"question": "Lost?", "evidence": [], "category": 2},
        ],
        "conversation": {
            "speaker_a": "Ann",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "text": "Hi"},
                {"speaker": "Bob", "text": "Look", "blip_caption": "a red kayak"},
            ],
            "session_2_date_time": "2:00 pm on 9 May, 2023",
            "session_2": [{"speaker": "Ann", "text": "Bye"}],
            "session_3_date_time": "empty",
            "session_3": [],
        },
    }
    path = tmp_path / "made.json"
    path.write_text(json.dumps([sample]), "utf-8")
    sessions, questions = read_locomo(path)
    assert [s.name for s in sessions] == ["c1 1", "c1 2"]
    assert sessions[0].text == ("1:56 pm on 8 May, 2023\nAnn: Hi\nBob: Look [shared a red kayak]")
    assert sessions[0].date is not None
    assert sessions[0].date.isoformat()[:10] == "2023-05-08"
    assert [(q.text, q.evidence) for q in questions] == [("Where?", {"c1 1", "c1 2"})]
