"""Whether cooling may compress in this vault: the two switches that a person has.

Both live in the vault's `neurigraph.toml`, so that the first yes travels with it; the rest of that
file is kept byte for byte.
"""

from __future__ import annotations

import codecs
import re
import tomllib
from typing import Any, Literal, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from neurigraph.errors import NotWritable
from neurigraph.settings import TemperatureSettings
from neurigraph.vault.files import VaultFiles

FILE = "neurigraph.toml"
_HEADING = re.compile(rb"^[ \t]*\[[ \t]*temperature[ \t]*\][^\r\n]*(\r?\n)?", re.MULTILINE)


class Agreement:
    """`agreed`: a person has said yes. `cool`: "never" switches cooling off.

    What the environment or this machine's `local.toml` sets stays as it was at the start; what the
    vault's file says is followed as it changes.
    """

    def __init__(self, files: VaultFiles, settings: TemperatureSettings) -> None:
        self._files = files
        self.agreed: bool = settings.agreed
        self.cool: Literal["auto", "never"] = settings.cool
        said = self._said()
        self._follows = {
            "agreed": said.get("agreed", False) == self.agreed,
            "cool": said.get("cool", "auto") == self.cool,
        }

    @property
    def may_cool(self) -> bool:
        """Whether anything may be compressed."""
        return self.agreed and self.cool != "never"

    def agree(self) -> None:
        """Keep a person's yes. Raises `NotWritable` when the file is no TOML."""
        if self.agreed:
            return
        if self._files.exists(FILE):
            self._files.edit(FILE, with_yes)
        else:
            self._files.create(FILE, with_yes(b""), numbered_if_taken=False)
        self.agreed = True

    def read_again(self) -> None:
        """Follow what the file says now; one that cannot be read changes nothing."""
        said = self._said()
        if self._follows["agreed"] and isinstance(said.get("agreed", False), bool):
            self.agreed = said.get("agreed", False)
        if self._follows["cool"] and said.get("cool", "auto") in ("auto", "never"):
            self.cool = cast(Literal["auto", "never"], said.get("cool", "auto"))

    def _said(self) -> dict[str, Any]:
        try:
            text = self._files.read(FILE).decode("utf-8-sig")
            found = tomllib.loads(text).get("temperature", {})
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            # half written, or not TOML: as if it said what it said before
            return {"agreed": self.agreed, "cool": self.cool}
        return found if isinstance(found, dict) else {}


def with_yes(raw: bytes) -> bytes:
    """The settings file with `temperature.agreed = true` in it, all else unchanged.

    Raises `NotWritable` when it is no TOML.
    """
    bom = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    plain = raw[len(bom) :]
    try:
        expected = tomllib.loads(plain.decode("utf-8"))
        table = expected.setdefault("temperature", {})
        if not isinstance(table, dict):
            raise NotWritable(FILE, "temperature is no section in it; mend it, then say yes again")
        new = b"" if "agreed" in table else _with_line(plain)
        table["agreed"] = True
        if not _says(new, expected):
            document = tomlkit.parse(plain.decode("utf-8"))
            cast(dict[str, Any], document["temperature"])["agreed"] = True
            new = tomlkit.dumps(document).encode("utf-8")
    except (TOMLKitError, ValueError, KeyError) as error:
        raise NotWritable(FILE, f"it is no TOML ({error}); mend it, then say yes again") from error
    if not _says(new, expected):
        raise NotWritable(FILE, "set agreed = true under [temperature] in it by hand")
    return bom + new


def _says(raw: bytes, expected: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(raw.decode("utf-8")) == expected
    except tomllib.TOMLDecodeError:
        # the section is written as dotted keys or inline
        return False


def _with_line(raw: bytes) -> bytes:
    """The line put under its section's heading, or at the end with a heading of its own."""
    end = b"\r\n" if b"\r\n" in raw else b"\n"
    heading = _HEADING.search(raw)
    if heading is not None:
        gap = b"" if heading.group(1) else end
        return raw[: heading.end()] + gap + b"agreed = true" + end + raw[heading.end() :]
    gap = b"" if not raw.strip() else end if raw.endswith(b"\n") else end + end
    return raw + gap + b"[temperature]" + end + b"agreed = true" + end
