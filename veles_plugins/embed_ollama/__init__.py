"""Embeddings by an Ollama server."""

from collections.abc import Iterable

from veles_core.embedding.options import RemoteEmbedderSettings
from veles_core.hookspecs import Backend, Host, hookimpl
from veles_core.protocols import Embedder
from veles_core.settings import variable


class OllamaSettings(RemoteEmbedderSettings):
    """Where the server is, and its model."""

    url: str = variable(
        "EMBEDDER_URL",
        "OLLAMA_URL",
        default="http://localhost:11434",
        description="Address of the Ollama server",
    )
    model: str = variable(
        "EMBEDDER_MODEL", "OLLAMA_MODEL", default="all-minilm", description="Embedding model"
    )


@hookimpl
def veles_embedders() -> Iterable[Backend[Embedder]]:
    """The embedder ``ollama``."""
    return [Backend("ollama", "any embedding model of an Ollama server", _open, OllamaSettings)]


def _open(settings: OllamaSettings, _host: Host) -> Embedder:
    from veles_plugins.embed_ollama.embedder import ollama_embedder

    return ollama_embedder(settings)
