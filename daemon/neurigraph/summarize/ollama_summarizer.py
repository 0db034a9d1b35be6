"""Summaries by a model that runs in Ollama."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from neurigraph.model_servers import (
    installed_models,
    is_address,
    is_cloud_name,
    is_loopback,
    same_model,
)
from neurigraph.summarize.draft import Draft, SummarizerFailed
from neurigraph.summarize.reader import (
    ANSWER_TOKENS,
    CONTEXT_TOKENS,
    SCHEMA,
    Message,
    Reader,
    Reply,
)

if TYPE_CHECKING:
    import ollama

_MOST_CHARACTERS = 20_000


class OllamaSummarizer:
    """Asks the Ollama at `url` (JSON schema output, streamed, so that `timeout` seconds bound a
    whole answer). Without `model` the first installed chat model is taken that is not remote."""

    def __init__(self, url: str, model: str = "", timeout: float = 120) -> None:
        self.url = url if "://" in url else f"http://{url}"
        self.timeout = timeout
        self._wanted = model

    @property
    def source(self) -> str:
        """`ollama:` and the model's name; `ollama` alone while none is chosen."""
        return f"ollama:{self._wanted}" if self._wanted else "ollama"

    @property
    def local(self) -> bool:
        """Whether the text stays on this machine: a loopback address, and the server says that
        the model is its own. Asks the server, 0.3 s at most; in doubt it is false."""
        if not is_loopback(self.url) or is_cloud_name(self._wanted):
            return False
        if not self._wanted:
            return True  # of all models only one that stays here will be taken
        models = installed_models(self.url) or []
        found = [model for model in models if same_model(self._wanted, model.name)]
        return bool(found) and not found[0].remote

    def summarize(self, transcript: str) -> Draft:
        """Read a transcript; raises `SummarizerFailed`."""
        import ollama  # a fifth of a second, which a daemon without Ollama need not pay

        if not is_address(self.url):
            reason = f"{self.url} is no address; mend index.ollama_url"
            raise SummarizerFailed(self.source, reason, lasting=True)
        model = self._wanted or self._first_model()
        # environment proxies would carry text for loopback elsewhere, and so would a redirect
        with ollama.Client(
            host=self.url,
            timeout=self.timeout,
            follow_redirects=False,
            trust_env=not is_loopback(self.url),
        ) as client:
            conversation = _Conversation(client, model, self.timeout)
            return Reader(conversation.source, conversation.ask).read(transcript)

    def _first_model(self) -> str:
        models = installed_models(self.url, min(self.timeout, 5))
        if models is None:
            raise SummarizerFailed(self.source, f"no Ollama answers at {self.url}", again=False)
        for model in models:
            if model.chats and not model.remote:
                return model.name
        raise SummarizerFailed(
            self.source, "no chat model is installed; get one with: ollama pull", lasting=True
        )


class _Conversation:
    def __init__(self, client: ollama.Client, model: str, timeout: float) -> None:
        self.source = f"ollama:{model}"
        self._client, self._model, self._timeout = client, model, timeout

    def ask(self, messages: Sequence[Message], attempt: int) -> Reply:
        """Put messages to the model; each further attempt with a little more freedom."""
        import httpx
        import ollama

        until = time.monotonic() + self._timeout
        text = ""
        reason = ""
        try:
            for part in self._client.chat(
                model=self._model,
                messages=[{"role": m.role, "content": m.content} for m in messages],
                stream=True,
                think=False,
                format=dict(SCHEMA),
                options={
                    "temperature": 0.2 + 0.3 * attempt,
                    "repeat_penalty": 1.1,
                    "num_ctx": CONTEXT_TOKENS,
                    "num_predict": ANSWER_TOKENS,
                },
            ):
                text += part.message.content or ""
                reason = part.done_reason or reason
                if time.monotonic() > until:
                    raise self._late()
                if len(text) > _MOST_CHARACTERS:
                    raise SummarizerFailed(self.source, "its answer does not end")
        except ollama.ResponseError as error:
            raise self._refused(error) from error
        except httpx.TimeoutException as error:
            raise self._late() from error
        except (ConnectionError, httpx.ConnectError) as error:
            reason = "nothing answers at that address; start it with: ollama serve"
            raise SummarizerFailed(self.source, reason, again=False) from error
        except httpx.HTTPError as error:
            raise SummarizerFailed(self.source, "the connection to Ollama broke") from error
        except (ValueError, AttributeError) as error:
            raise SummarizerFailed(self.source, "it answered with something else") from error
        return Reply(text, complete=bool(reason) and reason != "length")

    def _late(self) -> SummarizerFailed:
        reason = f"no answer within {self._timeout:g} seconds"
        return SummarizerFailed(self.source, reason, again=False)

    def _refused(self, error: ollama.ResponseError) -> SummarizerFailed:
        if error.status_code == 404:
            reason = f"the model is not installed; get it with: ollama pull {self._model}"
            return SummarizerFailed(self.source, reason, lasting=True)
        said = " ".join(str(error.error).split())[:120]
        return SummarizerFailed(self.source, f"Ollama says: {said} ({error.status_code})")
