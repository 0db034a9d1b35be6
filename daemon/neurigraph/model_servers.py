"""Where a model server is, and which models an Ollama has."""

from __future__ import annotations

import http.client
import ipaddress
import json
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

_PORT = 11434
_MOST_BYTES = 4_000_000
_EMBEDDERS = ("embed", "bge-", "minilm", "e5-", "gte-", "rerank", "clip", "-retrieval")
_EMBEDDING_FAMILIES = frozenset({"bert", "nomic-bert", "nomic-bert-moe", "xlmroberta", "clip"})


def is_loopback(url: str) -> bool:
    """Whether an address leads to this machine and nowhere else."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    if host is None:
        return False
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_address(url: str) -> bool:
    """Whether this is an `http` or `https` address with a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_cloud_name(model: str) -> bool:
    """Whether a model's name says that Ollama passes its text on to a server elsewhere."""
    return model.endswith(("-cloud", ":cloud"))


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that an Ollama lists. `remote` when its text leaves the machine, `chats` when it
    answers messages, which embedding models do not."""

    name: str
    remote: bool
    chats: bool


def installed_models(url: str, timeout: float = 0.3) -> list[Installed] | None:
    """The models of the Ollama at `url` (`GET /api/tags`), newest first.

    `None` when nothing answers within `timeout` seconds or the answer is not Ollama's. Neither
    proxies nor redirects are followed.
    """
    if not is_address(url):
        return None
    parts = urlsplit(url)
    try:
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        default = 443 if parts.scheme == "https" else 11434
        connection = kind(parts.hostname or "", parts.port or default, timeout=timeout)
        try:
            connection.request("GET", f"{parts.path.rstrip('/')}/api/tags")
            response = connection.getresponse()
            if response.status != 200:
                return None
            found = json.loads(_read(response, time.monotonic() + timeout))
        finally:
            connection.close()
        return [_installed(model) for model in found["models"]]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, AttributeError):
        return None


def _read(response: http.client.HTTPResponse, until: float) -> bytes:
    body = b""
    while piece := response.read1(65_536):
        body += piece
        if len(body) > _MOST_BYTES or time.monotonic() > until:
            raise TimeoutError
    return body


def _installed(model: dict[str, object]) -> Installed:
    name = str(model.get("name") or model.get("model") or "")
    details = model.get("details")
    family = str(details.get("family") or "") if isinstance(details, dict) else ""
    can = model.get("capabilities")
    embeds = family in _EMBEDDING_FAMILIES or any(word in name.lower() for word in _EMBEDDERS)
    return Installed(
        name=name,
        remote=is_cloud_name(name) or bool(model.get("remote_host") or model.get("remote_model")),
        chats="completion" in can if isinstance(can, list) and can else not embeds,
    )


def same_model(wanted: str, name: str) -> bool:
    """Whether two names mean one model: Ollama reads a name without a tag as `:latest`."""
    return wanted == name or f"{wanted}:latest" == name
