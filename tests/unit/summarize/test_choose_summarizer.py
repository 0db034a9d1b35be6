"""Who writes the summaries, for every setting."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from model_servers import ModelServer, ollama_server

from neurigraph.settings import SummarizeSettings
from neurigraph.summarize.choose import is_local, summarizer_for

REMOTE = "http://192.0.2.1:11434"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ollama_server() as state:
        yield state


def gone() -> str:
    with ollama_server() as state:
        return str(state.url)


def chosen(url: str, environ: dict[str, str] | None = None, **settings: object) -> str:
    found = summarizer_for(SummarizeSettings.model_validate(settings), url, environ or {})
    return found.source if found else "extractive"


def test_auto_takes_the_ollama_of_this_machine(server: ModelServer) -> None:
    assert chosen(server.url) == "ollama:llama3.2:3b"
    found = summarizer_for(SummarizeSettings(), server.url, {})
    assert found is not None
    assert is_local(found)


def test_auto_without_ollama_is_extractive() -> None:
    assert chosen(gone()) == "extractive"


def test_auto_never_asks_an_ollama_elsewhere() -> None:
    began = time.monotonic()
    assert chosen(REMOTE) == "extractive"
    assert time.monotonic() - began < 0.2


def test_auto_leaves_out_models_that_run_elsewhere_or_only_embed(server: ModelServer) -> None:
    server.models = [
        {"name": "kimi-k2:1t-cloud"},
        {"name": "glm-4.6:cloud"},
        {"name": "alias:latest", "remote_host": "https://ollama.com"},
        {"name": "vectors:latest", "capabilities": ["embedding"]},
        {"name": "mxbai-embed-large:latest"},
    ]
    assert chosen(server.url) == "extractive"
    assert chosen(server.url, ollama_model="kimi-k2:1t-cloud") == "extractive"


def test_auto_takes_the_named_model_when_it_is_installed(server: ModelServer) -> None:
    server.models = [{"name": "llama3.2:3b"}, {"name": "mistral:latest"}]
    assert chosen(server.url, ollama_model="mistral") == "ollama:mistral:latest"
    assert chosen(server.url, ollama_model="phi4") == "extractive"


def test_auto_falls_back_to_an_endpoint_that_is_set() -> None:
    settings = {"openai_url": "http://127.0.0.1:8080/v1", "openai_model": "gemma"}
    assert chosen(gone(), **settings) == "openai:gemma"


def test_extractive_asks_nobody(server: ModelServer) -> None:
    assert chosen(server.url, provider="extractive") == "extractive"


def test_a_named_provider_is_used_wherever_it_is() -> None:
    assert chosen(REMOTE, provider="ollama", ollama_model="llama3") == "ollama:llama3"
    settings = {"openai_url": "https://api.example.org/v1", "openai_model": "gpt-5"}
    assert chosen(REMOTE, provider="openai", **settings) == "openai:gpt-5"
    found = summarizer_for(
        SummarizeSettings.model_validate({"provider": "openai", **settings}), REMOTE, {}
    )
    assert found is not None
    assert not is_local(found)


def test_openai_without_an_address_is_off() -> None:
    assert chosen(REMOTE, {"OPENAI_API_KEY": "x"}, provider="openai") == "extractive"


@pytest.mark.parametrize("answer", [b"not json", b"[]", b'{"models": 3}', b'{"models": [1]}'])
def test_something_else_on_the_port_is_no_ollama(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr("model_servers._Handler.do_GET", lambda self: self.send_json(200, answer))
    assert chosen(server.url) == "extractive"


def test_a_port_that_accepts_and_says_nothing_costs_a_third_of_a_second(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model_servers._Handler.do_GET", lambda self: server.released.wait(5))
    began = time.monotonic()
    assert chosen(server.url) == "extractive"
    assert time.monotonic() - began < 1


def test_choosing_imports_no_client_library() -> None:
    code = (
        "import sys, neurigraph.summarize.choose, neurigraph.summarize.extractive;"
        "print(sorted({'ollama', 'httpx', 'yake', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
