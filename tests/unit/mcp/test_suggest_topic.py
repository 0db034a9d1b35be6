"""A conversation that nobody filed goes where those like it are, or waits in the inbox."""

from __future__ import annotations

from pathlib import Path

from neurigraph.model import Conversation
from neurigraph.suggest import Similar, suggest
from vaults import opened

DOSE = "Lisinopril dose, blood pressure, potassium, cough"
KEYWORDS = ["lisinopril", "blood pressure", "cough", "potassium"]
TOPICS = {"Medical/Medications": "Medications", "Work/Money": "Money budget"}


def like(topic: str, cosine: float | None, words: str = DOSE) -> Similar:
    return Similar(topic, f"A talk in {topic}", cosine, words)


def test_the_topic_of_the_most_similar_memories_wins_and_is_explained() -> None:
    found = suggest(
        KEYWORDS, [like("Medical/Medications", 0.6), like("Work/Money", 0.2, "budget")], TOPICS
    )
    assert found is not None
    assert found.topic == "Medical/Medications"
    assert "A talk in Medical/Medications" in found.why


def test_what_is_like_nothing_fits_no_topic() -> None:
    assert suggest(KEYWORDS, [], {}) is None
    assert suggest(KEYWORDS, [like("Work/Money", 0.3, "budget, tax")], TOPICS) is None
    # another script, whose vectors are all alike
    assert suggest(KEYWORDS, [like("Work/Money", 0.8, "預算 稅")], TOPICS) is None


def test_vectors_are_not_needed() -> None:
    found = suggest(KEYWORDS, [like("Medical/Medications", None)], TOPICS)
    assert found is not None
    assert found.topic == "Medical/Medications"


def test_a_tie_within_one_broad_topic_goes_to_its_general_one() -> None:
    similar = [like("Medical/Heart", 0.6), like("Medical/Medications", 0.6)]
    found = suggest(KEYWORDS, similar, TOPICS)
    assert found is not None
    assert found.topic == "Medical/General"
    assert suggest(KEYWORDS, [like("Medical/Heart", 0.6), like("Work/Money", 0.6)], TOPICS) is None


def test_an_empty_topic_whose_name_is_spoken_of_wins() -> None:
    topics = {"Garden/Tomatoes": "Tomatoes", "Garden/Roses": "Roses"}
    found = suggest(["tomatoes", "balcony"], [], topics)
    assert found is not None
    assert found.topic == "Garden/Tomatoes"


def test_the_answer_of_a_save_says_why(tmp_path: Path) -> None:
    talk = "## User\n\n{}\n\n## Assistant\n\nLet us look at that together, step by step.\n"
    with opened(tmp_path / "v", tmp_path / "s") as memory:
        for words, topic in (
            ("Is lisinopril at ten milligrams right for my blood pressure?", "Medical/Medications"),
            ("How do I prune the roses on the south wall in spring?", "Garden/Roses"),
        ):
            memory.save(Conversation(talk.format(words), broad_topic=topic))
        saved = memory.save(Conversation(talk.format("Does lisinopril raise blood pressure?")))
        assert saved.path.startswith("Medical/Medications/")
        assert saved.chosen.startswith("Put in Medical/Medications, because it is most like")
        odd = memory.save(Conversation(talk.format("Who painted the ceiling of that chapel?")))
        assert odd.path.startswith("Inbox/General/")
        assert "No topic fits" in odd.chosen
        # what waits in the inbox draws nothing after it
        more = memory.save(Conversation(talk.format("Who painted the ceiling of this chapel?")))
        assert "No topic fits" in more.chosen
        named = memory.save(Conversation(talk.format("Anything"), broad_topic="Work"))
        assert named.chosen == ""
