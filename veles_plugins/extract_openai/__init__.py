"""Extraction by a chat model behind the OpenAI protocol, whoever serves it."""

from collections.abc import Iterable

from pydantic import SecretStr

from veles_core import Backend, BackendSettings, Host, hookimpl, variable
from veles_core.protocols import Extractor


class OpenAIExtractorSettings(BackendSettings):
    """Where the service listens, with or without ``/v1``, and which model reads passages."""

    url: str = variable("EXTRACTOR_URL", description="Base URL, with or without /v1")
    model: str = variable("EXTRACTOR_MODEL", description="Chat model")
    token: SecretStr | None = variable(
        "EXTRACTOR_API_TOKEN", default=None, description="Bearer token"
    )
    timeout: float = variable(
        "EXTRACTOR_TIMEOUT", default=600.0, gt=0, description="Seconds that one answer may take"
    )


@hookimpl
def veles_extractors() -> Iterable[Backend[Extractor]]:
    """The extractor for chat completions of the OpenAI protocol."""
    return [
        Backend(
            "openai",
            "a chat model behind the OpenAI protocol",
            _open,
            settings=OpenAIExtractorSettings,
        )
    ]


def _open(settings: OpenAIExtractorSettings, _host: Host) -> Extractor:
    from veles_plugins.extract_openai.extractor import OpenAIExtractor

    return OpenAIExtractor(settings.url, settings.model, settings.token, settings.timeout)
