"""Who writes summaries, by the settings and by what this machine has."""

from __future__ import annotations

from collections.abc import Mapping

from neurigraph.model_servers import installed_models, is_loopback, same_model
from neurigraph.settings import SummarizeSettings
from neurigraph.summarize.draft import Summarizer
from neurigraph.summarize.ollama_summarizer import OllamaSummarizer
from neurigraph.summarize.openai_summarizer import OpenAISummarizer


def summarizer_for(
    settings: SummarizeSettings, index_ollama_url: str, environ: Mapping[str, str]
) -> Summarizer | None:
    """The summarizer to use now, `None` when the extractive one is all there is.

    `auto` takes a local Ollama that answers within 0.3 s and has a chat model of its own, else
    the OpenAI-compatible server when one is set. An Ollama elsewhere and models that Ollama runs
    elsewhere are used only when `provider` is `ollama`. A named provider is answered whether it
    is there or not: its drafts fail until it is.
    """
    if settings.provider == "ollama":
        return OllamaSummarizer(index_ollama_url, settings.ollama_model, settings.timeout_seconds)
    if settings.provider == "openai":
        return _openai(settings, environ)
    if settings.provider == "auto":
        return _local_ollama(settings, index_ollama_url) or _openai(settings, environ)
    return None


def is_local(summarizer: Summarizer) -> bool:
    """Whether the text that it reads stays on this machine, as private memories require."""
    return summarizer.local


def _openai(settings: SummarizeSettings, environ: Mapping[str, str]) -> OpenAISummarizer | None:
    if not settings.openai_url:
        return None
    return OpenAISummarizer(
        settings.openai_url,
        settings.openai_model,
        environ.get(settings.openai_key_env, ""),
        settings.timeout_seconds,
    )


def _local_ollama(settings: SummarizeSettings, url: str) -> OllamaSummarizer | None:
    ollama = OllamaSummarizer(url, settings.ollama_model, settings.timeout_seconds)
    if not is_loopback(ollama.url):
        return None
    for model in installed_models(ollama.url) or []:
        wanted = not settings.ollama_model or same_model(settings.ollama_model, model.name)
        if wanted and model.chats and not model.remote:
            return OllamaSummarizer(ollama.url, model.name, settings.timeout_seconds)
    return None
