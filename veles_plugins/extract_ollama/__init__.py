"""Extraction by a chat model that Ollama serves."""

from collections.abc import Iterable

from pydantic import SecretStr

from veles_core import Backend, BackendSettings, Host, hookimpl, variable
from veles_core.protocols import Extractor


class OllamaExtractorSettings(BackendSettings):
    """Where Ollama listens and which of its models reads passages."""

    url: str = variable(
        "EXTRACTOR_URL",
        "OLLAMA_URL",
        default="http://localhost:11434",
        description="Address of Ollama",
    )
    model: str = variable(
        "EXTRACTOR_MODEL", default="llama3.2", description="Chat model that Ollama has pulled"
    )
    token: SecretStr | None = variable(
        "EXTRACTOR_API_TOKEN", default=None, description="Bearer token, if a proxy wants one"
    )
    timeout: float = variable(
        "EXTRACTOR_TIMEOUT", default=600.0, gt=0, description="Seconds that one answer may take"
    )


@hookimpl
def veles_extractors() -> Iterable[Backend[Extractor]]:
    """The Ollama extractor."""
    return [
        Backend("ollama", "a chat model served by Ollama", _open, settings=OllamaExtractorSettings)
    ]


def _open(settings: OllamaExtractorSettings, _host: Host) -> Extractor:
    from veles_plugins.extract_ollama.extractor import OllamaExtractor

    return OllamaExtractor(settings.url, settings.model, settings.token, settings.timeout)
