"""What every summarizer answers, and how one says that it could not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from neurigraph.errors import NeurigraphError


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposal for what a memory note says about its transcript.

    `decisions` and `open_questions` are markdown lists, a line each beginning with `- `, or
    empty. `source` says who made it, as `summary_source` has it: `extractive`, `ollama:<model>`
    or `openai:<model>`.
    """

    title: str
    summary: str
    keywords: tuple[str, ...]
    decisions: str
    open_questions: str
    source: str


class Summarizer(Protocol):
    """Something that reads a whole transcript and answers a draft.

    `local` is true when the text cannot leave this machine, which private memories require.
    """

    @property
    def source(self) -> str:
        """The `source` of the drafts that it makes."""
        ...

    @property
    def local(self) -> bool:
        """Whether the transcript stays on this machine."""
        ...

    def summarize(self, transcript: str) -> Draft:
        """Read a transcript; raises `SummarizerFailed`."""
        ...


class SummarizerFailed(NeurigraphError):
    """A model did not answer, or its answer is not fit to keep.

    `lasting` is true when only a person can help: the model is not installed, the key is
    refused. `again` is false when asking at once again is no use: nothing listens, the time is up.
    """

    code = "summarizer_failed"

    def __init__(self, who: str, reason: str, lasting: bool = False, again: bool = True) -> None:
        self.who, self.reason = who, reason
        self.lasting, self.again = lasting, again and not lasting
        super().__init__(f"no summary from {who}: {reason}")
