"""What an AI is given to read before it answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from neurigraph.model import Passage
from neurigraph.search.context import Candidate, clipped, pack, same_matter
from neurigraph.vault.turns import estimate_tokens

MAY = datetime(2026, 5, 1, tzinfo=UTC)


def memory(number: int, score: float = 1.0, **values: object) -> Candidate:
    usual: dict[str, object] = {
        "title": f"Title {chr(97 + number % 26) * 5}",
        "topic": "Medical/Medications",
        "created": MAY + timedelta(days=number),
        "summary": f"Summary of memory {number}. " * 4,
    }
    return Candidate(id=f"m-{number}", score=score, **{**usual, **values})  # type: ignore[arg-type]


def said(text: str, start: int = 0) -> Passage:
    return Passage(text, start, start + len(text), "transcript", 0.5)


def test_the_best_memory_comes_first_and_equals_newest_first() -> None:
    context = pack([memory(1, 0.99), memory(2, 1.0), memory(3, 0.5)], 2_000, estimate_tokens)
    assert [m.id for m in context.memories] == ["m-2", "m-1", "m-3"]
    context = pack([memory(1, 1.0), memory(2, 0.99)], 2_000, estimate_tokens)
    assert [m.id for m in context.memories] == ["m-2", "m-1"]


def test_summary_decisions_and_questions_come_before_passages() -> None:
    passage = said("The dose is ten milligrams. " * 10)
    one = memory(1, decisions="- Take it at night.", open_questions="- Ask about salt.")
    one = Candidate(**{**{f: getattr(one, f) for f in one.__slots__}, "passages": (passage,)})
    (packed,) = pack([one], 130, estimate_tokens).memories
    assert packed.summary == one.summary.strip()
    assert (packed.decisions, packed.open_questions) == (one.decisions, one.open_questions)
    assert packed.passages == ()
    (packed,) = pack([one], 400, estimate_tokens).memories
    assert packed.passages == (passage,)


def test_every_memory_gets_its_best_passage_before_any_gets_its_second() -> None:
    texts = [tuple(said(f"{n}{i} " * 40, i * 200) for i in range(3)) for n in "ab"]
    both = [memory(i, passages=texts[i]) for i in range(2)]
    context = pack(both, 200, estimate_tokens)
    assert [len(m.passages) for m in context.memories] == [1, 1]


def test_a_memory_is_there_once() -> None:
    context = pack([memory(1), memory(1, 0.3), memory(2)], 2_000, estimate_tokens)
    assert sorted(m.id for m in context.memories) == ["m-1", "m-2"]


def test_what_does_not_fit_is_counted() -> None:
    context = pack([memory(i) for i in range(10)], 200, estimate_tokens)
    assert 0 < len(context.memories) < 10
    assert context.left_out == 10 - len(context.memories)
    assert context.tokens <= 200


def test_a_newer_memory_on_the_same_matter_may_supersede_the_older() -> None:
    old = memory(1, title="Lisinopril: dose change 2025")
    new = memory(9, title="Lisinopril dose change")
    other = memory(5, title="Ibuprofen and the stomach")
    context = pack([old, new, other], 2_000, estimate_tokens)
    marked = {m.id: m.may_supersede for m in context.memories}
    assert marked == {"m-9": ("m-1",), "m-1": (), "m-5": ()}


def test_the_same_title_in_another_topic_is_another_matter() -> None:
    one, other = memory(1, title="Weekly plan"), memory(2, title="Weekly plan", topic="Work/Team")
    assert not same_matter(one, other)


def test_keywords_that_mostly_agree_are_the_same_matter() -> None:
    words = ("boat", "mast", "rigging", "sail")
    one = memory(1, title="Monday", keywords=words)
    assert same_matter(one, memory(2, title="Harbour", keywords=(*words[:3], "rope")))
    assert not same_matter(one, memory(2, title="Harbour", keywords=("boat", "rope", "tar")))


def test_a_cut_text_ends_with_a_sentence_or_a_word() -> None:
    text = "One sentence stands here. Another one follows it. " * 20
    piece = clipped(text, 40, estimate_tokens)
    assert estimate_tokens(piece) <= 40
    assert piece.endswith(".…")
    assert clipped("a" * 1_000, 10, estimate_tokens) == ""


@settings(deadline=None, max_examples=80)
@given(
    st.lists(
        st.builds(
            memory,
            st.integers(0, 9),
            st.floats(0, 1),
            summary=st.text(max_size=300),
            decisions=st.text(max_size=100),
            passages=st.lists(st.text(max_size=300).map(said), max_size=3).map(tuple),
        ),
        max_size=8,
    ),
    st.integers(0, 800),
)
def test_the_bound_is_kept_whatever_is_handed_in(found: list[Candidate], room: int) -> None:
    context = pack(found, room, estimate_tokens)
    assert context.tokens <= room
    assert len({m.id for m in context.memories}) == len(context.memories)
    assert context.left_out + len(context.memories) == len({c.id for c in found})
