"""Embeddings by any service that speaks the OpenAI protocol."""

from collections.abc import Iterable

from veles_core.embedding.options import RemoteEmbedderSettings
from veles_core.hookspecs import Backend, Host, hookimpl
from veles_core.protocols import Embedder
from veles_core.settings import variable


class OpenAISettings(RemoteEmbedderSettings):
    """Where the service is, and its model. Neither has a default: it is no particular vendor."""

    url: str = variable(
        "EMBEDDER_URL", description="Base address of the service, with or without /v1"
    )
    model: str = variable("EMBEDDER_MODEL", description="Embedding model")


@hookimpl
def veles_embedders() -> Iterable[Backend[Embedder]]:
    """The embedder ``openai``."""
    summary = "any service that speaks the OpenAI embeddings protocol"
    return [Backend("openai", summary, _open, OpenAISettings)]


def _open(settings: OpenAISettings, _host: Host) -> Embedder:
    from veles_plugins.embed_openai.embedder import openai_embedder

    return openai_embedder(settings)
