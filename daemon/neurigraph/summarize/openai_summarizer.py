"""Summaries by any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from neurigraph.model_servers import is_address, is_cloud_name, is_loopback
from neurigraph.summarize.draft import Draft, SummarizerFailed
from neurigraph.summarize.reader import ANSWER_TOKENS, SCHEMA, Message, Reader, Reply

if TYPE_CHECKING:
    import httpx

_MOST_BYTES = 1_000_000
_JSON_SCHEMA: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {"name": "memory", "strict": True, "schema": SCHEMA},
}
# What servers accept differs: from the strictest form down to the plainest, in this order.
_FORMS: tuple[Mapping[str, Any], ...] = (
    {"response_format": _JSON_SCHEMA, "max_tokens": ANSWER_TOKENS, "temperature": 0.2},
    # reasoning models take neither of the two, and count their thoughts as answer
    {"response_format": _JSON_SCHEMA, "max_completion_tokens": 4 * ANSWER_TOKENS},
    {"response_format": {"type": "json_object"}, "max_tokens": ANSWER_TOKENS},
    {"max_tokens": ANSWER_TOKENS},
)


class OpenAISummarizer:
    """Asks the server at `base_url` (the part before `/chat/completions`) with `key`, which may
    be empty. Without `model` the first that a server on this machine lists is taken."""

    def __init__(self, base_url: str, model: str = "", key: str = "", timeout: float = 120) -> None:
        self.url = base_url.rstrip("/").removesuffix("/chat/completions")
        self.timeout = timeout
        self._model, self._key = model, key.strip()

    @property
    def source(self) -> str:
        """`openai:` and the model's name; `openai` alone while none is known."""
        return _source(self._model)

    @property
    def local(self) -> bool:
        """Whether the text stays on this machine, as far as the address and the name tell."""
        return is_loopback(self.url) and not is_cloud_name(self._model)

    def summarize(self, transcript: str) -> Draft:
        """Read a transcript; raises `SummarizerFailed`."""
        import httpx  # a tenth of a second, which a daemon without such a server need not pay

        if not is_address(self.url):
            reason = f"{self.url} is no address; mend summarize.openai_url"
            raise SummarizerFailed(self.source, reason, lasting=True)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            # environment proxies would carry text for loopback elsewhere
            client = httpx.Client(
                headers=headers, timeout=self.timeout, trust_env=not is_loopback(self.url)
            )
        except (ValueError, UnicodeError) as error:
            raise SummarizerFailed(self.source, "its key is malformed", lasting=True) from error
        with client:
            server = _Server(client, self.url, self._model, self.timeout)
            return Reader(server.source, server.ask).read(transcript)


def _source(model: str) -> str:
    return f"openai:{'-'.join(model.split())}" if model else "openai"


class _Server:
    def __init__(self, client: httpx.Client, url: str, model: str, timeout: float) -> None:
        self._client, self._url, self._timeout = client, url, timeout
        self._form = 0
        self._model = model or self._first_model()
        self.source = _source(self._model)

    def _first_model(self) -> str:
        self.source = "openai"
        if not is_loopback(self._url):
            reason = "no model is named; set summarize.openai_model"
            raise SummarizerFailed(self.source, reason, lasting=True)
        status, found = self._call("GET", f"{self._url}/models", None)
        try:
            names = [str(model["id"]) for model in found["data"]] if status == 200 else []
        except (KeyError, TypeError):
            names = []
        if not names:
            reason = "the server lists no model; set summarize.openai_model"
            raise SummarizerFailed(self.source, reason, lasting=True)
        return names[0]

    def ask(self, messages: Sequence[Message], attempt: int) -> Reply:
        """Put messages to the model in the strictest form that the server accepts."""
        while True:
            form = dict(_FORMS[self._form])
            if attempt and "temperature" in form:
                form["temperature"] = 0.2 + 0.3 * attempt
            body = {
                "model": self._model,
                "messages": [{"role": m.role, "content": m.content} for m in messages],
                "stream": False,
                **form,
            }
            status, found = self._call("POST", f"{self._url}/chat/completions", body)
            if status in {400, 415, 422, 501} and self._form + 1 < len(_FORMS):
                self._form += 1
                continue
            if status != 200:
                raise self._refused(status, found)
            return self._reply(found)

    def _call(self, method: str, url: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Status and JSON of an answer; `None` for an answer that is none."""
        import httpx

        until = time.monotonic() + self._timeout
        text = b""
        try:
            with self._client.stream(method, url, json=body) as response:
                for piece in response.iter_bytes():
                    text += piece
                    if time.monotonic() > until:
                        raise self._late()
                    if len(text) > _MOST_BYTES:
                        raise SummarizerFailed(self.source, "its answer does not end")
                status = response.status_code
        except httpx.TimeoutException as error:
            raise self._late() from error
        except httpx.LocalProtocolError as error:
            raise SummarizerFailed(self.source, "its key is malformed", lasting=True) from error
        except httpx.ConnectError as error:
            reason = f"nothing answers at {self._url}"
            raise SummarizerFailed(self.source, reason, again=False) from error
        except httpx.HTTPError as error:
            reason = f"the connection to {self._url} broke"
            raise SummarizerFailed(self.source, reason) from error
        try:
            return status, json.loads(text)
        except (ValueError, RecursionError):
            return status, None

    def _late(self) -> SummarizerFailed:
        reason = f"no answer within {self._timeout:g} seconds"
        return SummarizerFailed(self.source, reason, again=False)

    def _reply(self, found: Any) -> Reply:
        try:
            choice = found["choices"][0]
            text, reason = choice["message"]["content"], choice.get("finish_reason")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise SummarizerFailed(self.source, "it answered with something else") from error
        if not isinstance(text, str):
            raise SummarizerFailed(self.source, "its answer is empty")
        return Reply(text, complete=reason != "length")

    def _refused(self, status: int, found: Any) -> SummarizerFailed:
        error = found.get("error") if isinstance(found, dict) else None
        said = error.get("message") if isinstance(error, dict) else error
        hint = f": {' '.join(said.split())[:120]}" if isinstance(said, str) and said else ""
        if status in {401, 403}:
            return SummarizerFailed(self.source, f"the key was refused ({status})", lasting=True)
        if status == 404:
            reason = f"the server has no such model or address (404){hint}"
            return SummarizerFailed(self.source, reason, lasting=True)
        # a redirect is not followed: the text was meant for this server
        reason = f"the server answered {status}{hint}"
        return SummarizerFailed(self.source, reason, again=status >= 500)
