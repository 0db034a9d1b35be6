"""The mark on a note in which something looks like a secret: held out of git until a yes. Pure."""

from __future__ import annotations

from neurigraph.vault.note import read_note, text

SECRETS_KEY = "secrets"
HELD, ALLOWED = "held", "allowed"
"""What the key says: nobody has said yes yet, or a person has."""


def is_held(note: bytes) -> bool:
    """Whether a note is marked to be held out of git."""
    if b"secrets" not in note:
        return False
    return text(read_note(note).data.get(SECRETS_KEY)).strip().casefold() == HELD
