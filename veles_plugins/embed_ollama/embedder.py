"""Ollama's ``/api/embed``."""

from veles_core.embedding.remote import RemoteEmbedder
from veles_core.remote import Patience, Remote
from veles_plugins.embed_ollama import OllamaSettings


def ollama_embedder(settings: OllamaSettings) -> RemoteEmbedder:
    """The embedder of a configured server, which isn't contacted yet."""
    remote = Remote(
        settings.url,
        "embedding service",
        token=settings.token,
        patience=Patience(total=settings.timeout),
    )

    def ask(texts: list[str]) -> object:
        # Told to truncate, the server would cut a long text without a word.
        body = {"model": settings.model, "input": texts, "truncate": False}
        return remote.post("/api/embed", body).get("embeddings")

    model = settings.model.removesuffix(":latest")  # which is what a name without a tag means
    return RemoteEmbedder(remote, model, settings.prefixes(model), ask)
