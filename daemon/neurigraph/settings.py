"""The table of settings: name, type, default and one line of help, from which the docs are made.

`neurigraph.toml` in the vault travels with it; `local.toml` in the state directory is this
machine's; `NEURIGRAPH_<SECTION>_<NAME>` in the environment wins. A setting marked *machine* could
send text elsewhere or open files, so the travelling file cannot set it: a vault from somebody
else must not be able to point a daemon at their server.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from neurigraph.errors import InvalidInput

_MACHINE: JsonDict = {"machine": True}

_MOST = {"days": 100_000, "bytes": 10**12}
_MOST_OTHERWISE = 10**8
"""The largest values, by the last word of a name: dates cannot be reckoned with larger ones."""

_MOST_BYTES = 1_000_000
"""The largest file of settings that is read."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*")
    @classmethod
    def _within_reason(cls, value: Any, info: ValidationInfo) -> Any:
        most = _MOST.get((info.field_name or "").rpartition("_")[2], _MOST_OTHERWISE)
        if isinstance(value, int | float) and not value <= most:
            raise ValueError(f"at most {most} is accepted")
        return value


class ServerSettings(_Section):
    """Where the daemon listens."""

    host: str = Field("127.0.0.1", description="Address to listen on.", json_schema_extra=_MACHINE)
    port: int = Field(
        7878, ge=0, le=65535, description="Port to listen on.", json_schema_extra=_MACHINE
    )
    allowed_hosts: tuple[str, ...] = Field(
        (),
        description="Host names, beside loopback, under which the daemon may be reached.",
        json_schema_extra=_MACHINE,
    )
    log_level: Literal["debug", "info", "warning"] = Field(
        "info", description="How much the daemon logs; never the text of memories."
    )


class VaultSettings(_Section):
    """What belongs to the vault."""

    exclude: tuple[str, ...] = Field(
        (), description="Folders or patterns, relative to the vault, that are left out."
    )
    settle_seconds: int = Field(
        300, ge=0, description="Seconds that a note changed by somebody else is left in peace."
    )
    reconcile_minutes: int = Field(
        15, ge=1, description="Minutes between full comparisons of the disk with the indexes."
    )


class IndexSettings(_Section):
    """How notes are indexed."""

    embedder: str = Field(
        "wordllama", description="What turns text into vectors: wordllama, ollama:<model>, or none."
    )
    ollama_url: str = Field(
        "http://127.0.0.1:11434",
        description="Where Ollama listens.",
        json_schema_extra=_MACHINE,
    )
    chroma_url: str = Field(
        "",
        description="A Chroma server for the vectors; empty keeps them on this machine.",
        json_schema_extra=_MACHINE,
    )
    max_note_bytes: int = Field(
        5_000_000, ge=10_000, description="Notes above this many bytes are listed, not indexed."
    )


class SearchSettings(_Section):
    """How answers are ranked; the reasons are measured in docs/search.md."""

    keyword_weight: float = Field(
        0.3, ge=0, description="Share of full text over whole memories (alone: NDCG@10 .812)."
    )
    window_weight: float = Field(
        0.4, ge=0, description="Share of full text over the best few sentences (alone: .823)."
    )
    vector_weight: float = Field(
        0.3, ge=0, description="Share of the best passage vector (alone: .621; all together: .851)."
    )
    time_weight: float = Field(
        0.2,
        ge=0,
        description="What a time named in the question adds to memories of that time, at most.",
    )


class TemperatureSettings(_Section):
    """When memories cool."""

    hot_minutes: int = Field(60, ge=1, description="Minutes after opening that a memory is hot.")
    cold_after_days: float = Field(7, gt=0, description="Days until a transcript is compressed.")
    deep_cold_after_days: float = Field(30, gt=0, description="Days until artifacts are too.")
    cool: Literal["auto", "never"] = Field(
        "auto", description="never: nothing is compressed by itself."
    )
    agreed: bool = Field(
        False, description="A person has seen what cooling does in this vault and said yes."
    )
    cycle_minutes: int = Field(60, ge=1, description="Minutes between cooling cycles.")
    warm_weight: float = Field(
        0.5, ge=0, le=1, description="Edges heavier than this decompress a neighbour's memories."
    )
    warm_limit: int = Field(
        20, ge=0, description="The most cold memories that one opening decompresses."
    )


class SummarizeSettings(_Section):
    """Who writes summaries when the saving AI does not."""

    provider: Literal["auto", "extractive", "ollama", "openai"] = Field(
        "auto",
        description="auto: a local Ollama that answers, else openai_url if set, else extractive.",
    )
    ollama_model: str = Field(
        "",
        description="Ollama model for summaries; empty takes the first that is installed.",
        # some of Ollama's models run on its makers' servers
        json_schema_extra=_MACHINE,
    )
    openai_url: str = Field(
        "",
        description="Base address of an OpenAI-compatible server; empty is off.",
        json_schema_extra=_MACHINE,
    )
    openai_model: str = Field("", description="Model name to ask that server for.")
    openai_key_env: str = Field(
        "OPENAI_API_KEY",
        description="Environment variable that holds its key.",
        json_schema_extra=_MACHINE,
    )
    timeout_seconds: float = Field(120, gt=0, description="Seconds to wait for a model.")


class ImportSettings(_Section):
    """What happens to imported and saved text."""

    secrets: Literal["warn", "mask", "off"] = Field(
        "warn", description="What to do about text that looks like a key or a password."
    )
    watch: tuple[str, ...] = Field(
        (),
        description="Folders with session logs that are imported as they grow.",
        json_schema_extra=_MACHINE,
    )
    watch_topic: str = Field("", description="Topic for what is imported from those folders.")
    quiet_seconds: float = Field(
        5,
        ge=0,
        description="Seconds without a change before a dropped file or a followed log is read.",
    )


class ArtifactSettings(_Section):
    """Files that are stored with memories."""

    allowed_folders: tuple[str, ...] = Field(
        (),
        description="Folders from which an AI may have files copied into the vault.",
        json_schema_extra=_MACHINE,
    )
    max_bytes: int = Field(20_000_000, ge=0, description="The largest artifact, in bytes.")


class SyncSettings(_Section):
    """How git carries the vault between machines."""

    enabled: bool = Field(
        False, description="Commit, merge and push by itself.", json_schema_extra=_MACHINE
    )
    remote: str = Field("origin", description="The git remote.", json_schema_extra=_MACHINE)
    interval_minutes: int = Field(10, ge=1, description="Minutes between looks at the remote.")
    quiet_seconds: int = Field(
        120, ge=0, description="Seconds without a change before changes are committed."
    )


class Settings(_Section):
    """Everything that can be set, by section."""

    server: ServerSettings = ServerSettings()
    vault: VaultSettings = VaultSettings()
    index: IndexSettings = IndexSettings()
    search: SearchSettings = SearchSettings()
    temperature: TemperatureSettings = TemperatureSettings()
    summarize: SummarizeSettings = SummarizeSettings()
    imports: ImportSettings = ImportSettings()
    artifacts: ArtifactSettings = ArtifactSettings()
    sync: SyncSettings = SyncSettings()


def is_machine(field: FieldInfo) -> bool:
    """Whether this setting is refused in the file that travels with the vault."""
    extra = field.json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("machine"))


def sections() -> dict[str, type[BaseModel]]:
    """The sections of the table, in order, by name."""
    return {
        name: kind
        for name, field in Settings.model_fields.items()
        if isinstance(kind := field.annotation, type) and issubclass(kind, BaseModel)
    }


def load_settings(
    vault: Path, state: Path, environ: Mapping[str, str] = os.environ
) -> tuple[Settings, tuple[str, ...]]:
    """Settings of a vault on this machine, and what was ignored in its files, a line each.

    A damaged or unknown line in the travelling file is ignored and said, so that another
    machine's mistake never keeps a daemon from starting; in `local.toml` or the environment it
    raises `InvalidInput`, since the person at this machine can mend it at once.
    """
    ignored: list[str] = []
    merged: dict[str, dict[str, Any]] = {}
    for path, travels in ((vault / "neurigraph.toml", True), (state / "local.toml", False)):
        for section, values in _read_toml(path, travels, ignored).items():
            _merge(merged, section, values, path.name, travels, ignored)
    for section, kind in sections().items():
        for name, field in kind.model_fields.items():
            text = environ.get(f"NEURIGRAPH_{section}_{name}".upper())
            if text is not None:
                many = str(field.annotation).startswith("tuple")
                value: Any = [t for t in text.split(os.pathsep) if t] if many else text
                merged.setdefault(section, {})[name] = value
    try:
        return Settings.model_validate(merged), tuple(ignored)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"setting {where}", str(first["msg"])) from error


def _read_toml(path: Path, travels: bool, ignored: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(_read_text(path))
    except FileNotFoundError:
        return {}
    # a number with thousands of digits is a ValueError, brackets in thousands a RecursionError
    except (OSError, ValueError, RecursionError) as error:
        said = (error.strerror if isinstance(error, OSError) else "") or str(error)
        if travels:
            ignored.append(f"{path.name}: {said}; mend or remove it")
            return {}
        raise InvalidInput(str(path), f"{said}; mend or remove it") from error


def _read_text(path: Path) -> str:
    if path.exists() and not path.is_file():
        # a pipe would keep its reader waiting
        raise ValueError("it is not a file")
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError("it is too large")
    return data.decode("utf-8-sig")


def _merge(
    merged: dict[str, dict[str, Any]],
    section: str,
    values: Any,
    source: str,
    travels: bool,
    ignored: list[str],
) -> None:
    kind = sections().get(section)
    if kind is None or not isinstance(values, dict):
        if not travels:
            raise InvalidInput(f"setting [{section}]", f"there is no such section ({source})")
        ignored.append(f"{source}: there is no section [{section}]")
        return
    for name, value in values.items():
        field = kind.model_fields.get(name)
        if field is None:
            if not travels:
                raise InvalidInput(f"setting {section}.{name}", "there is no such setting")
            ignored.append(f"{source}: there is no setting {section}.{name}")
        elif travels and is_machine(field):
            ignored.append(f"{source}: {section}.{name} belongs in local.toml, not in the vault")
        elif travels and not _valid(kind, name, value):
            ignored.append(f"{source}: {section}.{name} does not accept {value!r:.60}")
        else:
            merged.setdefault(section, {})[name] = value


def _valid(kind: type[BaseModel], name: str, value: Any) -> bool:
    try:
        kind.model_validate({name: value})
    except ValidationError:
        return False
    return True
