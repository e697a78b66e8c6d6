"""``/v1/embeddings``, as OpenAI defined it and others more or less serve it."""

from typing import Any

from veles_core.embedding.remote import RemoteEmbedder
from veles_core.remote import Patience, Remote, openai_root
from veles_plugins.embed_openai import OpenAISettings


def openai_embedder(settings: OpenAISettings) -> RemoteEmbedder:
    """The embedder of a configured service, which isn't contacted yet."""
    remote = Remote(
        openai_root(settings.url),
        "embedding service",
        token=settings.token,
        patience=Patience(total=settings.timeout),
    )

    def ask(texts: list[str]) -> object:
        answer = remote.post("/embeddings", {"model": settings.model, "input": texts})
        items = answer.get("data")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise remote.refusal("returned no list of embeddings under 'data'")
        return [item.get("embedding") for item in _ordered(items, remote)]

    return RemoteEmbedder(remote, settings.model, settings.prefixes(settings.model), ask)


def _ordered(items: list[dict[str, Any]], remote: Remote) -> list[dict[str, Any]]:
    """The items by their ``index``; as they came if the service gives none."""
    if all(item.get("index") is None for item in items):
        return items
    placed = {item["index"]: item for item in items if type(item.get("index")) is int}
    if placed.keys() != set(range(len(items))):
        raise remote.refusal(
            f"returned {len(items)} embeddings whose indices don't tell them apart"
        )
    return [placed[index] for index in range(len(items))]
