"""What is worked out from a conversation before it is stored: drafts, and what looks secret in it.

An import does this in a process of its own and hands the results over; a save does it on the way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from neurigraph.importers.secrets import find_secrets, mask
from neurigraph.model import Conversation, NewArtifact
from neurigraph.summarize.draft import Draft
from neurigraph.vault.turns import split_parts

PART_TOKENS = 50_000
Secrecy = Literal["warn", "mask", "off"]
"""The setting `imports.secrets`."""

Drafter = Callable[[str], Draft]
"""Writes a title, summary and keywords from a transcript, quickly and without fail."""

_TEXT_ARTIFACT = 5_000_000


def sha256(transcript: str) -> str:
    """The SHA-256 of a transcript's bytes as handed in, in hex."""
    return hashlib.sha256(transcript.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Prepared:
    """Of one part of a conversation: its draft, and the kinds of secrets found in it."""

    draft: Draft
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ready:
    """A conversation with what was worked out of it, by the SHA-256 of its parts.

    `beside` are the kinds of secrets in its title, summary and artifacts.
    """

    conversation: Conversation
    parts: Mapping[str, Prepared]
    beside: tuple[str, ...] = ()


class Preparer:
    """Works out what is not worked out yet."""

    def __init__(self, drafter: Drafter, secrecy: Secrecy) -> None:
        self._drafter, self.secrecy = drafter, secrecy

    def screened(self, conversation: Conversation) -> Ready:
        """The conversation as it may be stored: masked where the setting says so."""
        if self.secrecy == "mask":
            return Ready(masked(conversation), {})
        beside = kinds_beside(conversation) if self.secrecy == "warn" else ()
        return Ready(conversation, {}, beside)

    def worked_out(self, conversation: Conversation) -> Ready:
        """The same with a draft of every part."""
        ready = self.screened(conversation)
        texts = split_parts(ready.conversation.content, PART_TOKENS)
        return replace(ready, parts={sha256(text): self.part(text, {}) for text in texts})

    def part(self, text: str, parts: Mapping[str, Prepared]) -> Prepared:
        """What is known of one part, worked out now where it is not in `parts`."""
        found = parts.get(sha256(text)) if parts else None
        if found is not None:
            return found
        secrets = kinds_in(text) if self.secrecy == "warn" else ()
        return Prepared(self._drafter(text), secrets)


def kinds_in(text: str) -> tuple[str, ...]:
    """The kinds of secrets that stand in a text, one for each place."""
    return tuple(secret.kind for secret in find_secrets(text))


def kinds_beside(conversation: Conversation) -> tuple[str, ...]:
    """The kinds of secrets in what comes with a transcript."""
    texts = [text for text in _words(conversation) if text]
    texts += [text for a in conversation.artifacts if (text := _text_of(a)) is not None]
    return tuple(kind for text in texts for kind in kinds_in(text))


def masked(conversation: Conversation) -> Conversation:
    """The conversation with every secret in it replaced by `[secret: kind]`."""

    def hide(text: str | None) -> str | None:
        return mask(text)[0] if text else text

    keywords = conversation.keywords
    return replace(
        conversation,
        content=mask(conversation.content)[0],
        title=hide(conversation.title),
        summary=hide(conversation.summary),
        decisions=hide(conversation.decisions),
        open_questions=hide(conversation.open_questions),
        keywords=tuple(mask(k)[0] for k in keywords) if keywords is not None else None,
        artifacts=tuple(_masked(a) for a in conversation.artifacts),
    )


def _words(conversation: Conversation) -> Sequence[str | None]:
    return (
        conversation.title,
        conversation.summary,
        conversation.decisions,
        conversation.open_questions,
        *(conversation.keywords or ()),
    )


def _text_of(artifact: NewArtifact) -> str | None:
    """What an artifact says, where it is text of a bearable size."""
    if len(artifact.data) > _TEXT_ARTIFACT or b"\0" in artifact.data:
        return None
    try:
        return artifact.data.decode()
    except UnicodeDecodeError:
        return None


def _masked(artifact: NewArtifact) -> NewArtifact:
    text = _text_of(artifact)
    if text is None:
        return artifact
    hidden, found = mask(text)
    return replace(artifact, data=hidden.encode()) if found else artifact
