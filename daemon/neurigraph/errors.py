"""What can go wrong, said in one line that tells a person what to do.

HTTP statuses live in `rest_api.py`, exit codes in `cli.py`. A subclass builds its message from
its arguments and carries them, so that callers never parse text.
"""

from __future__ import annotations

from collections.abc import Sequence


class NeurigraphError(Exception):
    """The base of every error that is meant to be read by a person. `code` is stable."""

    code = "error"


class InvalidInput(NeurigraphError):
    """A value that a caller handed in does not fit; `field` names it."""

    code = "invalid_input"

    def __init__(self, field: str, reason: str) -> None:
        self.field, self.reason = field, reason
        super().__init__(f"{field}: {reason}")


class NotFound(NeurigraphError):
    """Nothing has this id, path or name; `nearest` are names that come close."""

    code = "not_found"

    def __init__(self, kind: str, wanted: str, nearest: Sequence[str] = ()) -> None:
        self.kind, self.wanted, self.nearest = kind, wanted, tuple(nearest)
        hint = f"; nearest: {', '.join(self.nearest)}" if self.nearest else ""
        super().__init__(f"no {kind} '{wanted}'{hint}")


class Conflict(NeurigraphError):
    """The thing was changed by somebody else since the caller read it, or is in the way."""

    code = "conflict"


class ChangedElsewhere(Conflict):
    """A file no longer holds the bytes that were read; nothing was written."""

    code = "changed_elsewhere"

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} was changed by somebody else meanwhile; read it again and retry")


class VersionRequired(NeurigraphError):
    """A change was asked for without saying which version it is based on."""

    code = "version_required"

    def __init__(self, what: str) -> None:
        super().__init__(f"say which version of the {what} you read (If-Match: its ETag)")


class NotWritable(NeurigraphError):
    """A note that must not be written to, because it cannot be read for certain."""

    code = "not_writable"

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} is left as it is: {reason}")


class OutsideVault(NeurigraphError):
    """A path that leads out of the vault, by its text or through a link."""

    code = "outside_vault"

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} leads out of the vault; use a path inside it")


class VaultUnavailable(NeurigraphError):
    """The vault cannot be read or written at the moment; nothing counts as deleted."""

    code = "vault_unavailable"

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the vault {path} cannot be used: {reason}")


class SystemRefused(NeurigraphError):
    """The system refused something: no permission, no file handles left, a disk that fails."""

    code = "system_refused"

    def __init__(self, error: OSError) -> None:
        where = f" ({error.filename})" if error.filename else ""
        reason = error.strerror or str(error)
        super().__init__(f"the system refused it: {reason}{where}; mend that and try again")


class VaultInUse(NeurigraphError):
    """Another daemon holds the lock of this vault."""

    code = "vault_in_use"

    def __init__(self, path: str, address: str) -> None:
        self.path, self.address = path, address
        super().__init__(
            f"a daemon already serves {path} at {address}; use it, or stop it with: neurigraph down"
        )


class TranscriptMissing(NeurigraphError):
    """A memory's transcript is not where it should be."""

    code = "transcript_missing"

    def __init__(self, memory_id: str) -> None:
        self.memory_id = memory_id
        super().__init__(
            f"the transcript of {memory_id} is missing from _recall; "
            "restore it from a backup or git, or delete the memory"
        )


class TranscriptDamaged(TranscriptMissing):
    """A compressed transcript or artifact is there, but cannot be decompressed."""

    code = "transcript_damaged"

    def __init__(self, memory_id: str, path: str) -> None:
        self.memory_id, self.path = memory_id, path
        NeurigraphError.__init__(
            self, f"{path} is damaged and was left as it is; restore it from a backup or git"
        )


class NotReady(NeurigraphError):
    """A part of the daemon is still starting; asking again soon will do."""

    code = "not_ready"

    def __init__(self, part: str) -> None:
        self.part = part
        super().__init__(f"{part} is still starting; try again in a moment")


class TooLarge(NeurigraphError):
    """Something is over a bound; the message says which setting or limit."""

    code = "too_large"


class Forbidden(NeurigraphError):
    """A thing that settings do not allow; the message names the setting."""

    code = "forbidden"


class Duplicate(NeurigraphError):
    """A name or id that is already taken."""

    code = "duplicate"
