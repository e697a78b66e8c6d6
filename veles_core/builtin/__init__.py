"""The built-in backends, registered through the same hooks as everybody's."""

from collections.abc import Iterable

from veles_core.hookspecs import Backend, Host, hookimpl
from veles_core.protocols import Embedder, Extractor


@hookimpl
def veles_embedders() -> Iterable[Backend[Embedder]]:
    """The hash embedder."""
    return [Backend("hash", "surface matching, offline, no model", _open_hash)]


@hookimpl
def veles_extractors() -> Iterable[Backend[Extractor]]:
    """The outline extractor."""
    return [Backend("outline", "one directive a line, offline, no model", _open_outline)]


def _open_hash(_settings: None, _host: Host) -> Embedder:
    from veles_core.builtin.hash_embedder import HashEmbedder

    return HashEmbedder()


def _open_outline(_settings: None, _host: Host) -> Extractor:
    from veles_core.builtin.outline_extractor import OutlineExtractor

    return OutlineExtractor()
