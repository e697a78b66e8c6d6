"""The built-in backends, registered through the same hooks as everybody's."""

from collections.abc import Iterable

from veles_core.hookspecs import Backend, Host, hookimpl
from veles_core.protocols import Embedder, Extractor, Store, Tokenizer


@hookimpl
def veles_stores() -> Iterable[Backend[Store]]:
    """The embedded store with the exact index alone."""
    return [Backend("exact", "SQLite; every vector is compared", _open_exact)]


@hookimpl
def veles_embedders() -> Iterable[Backend[Embedder]]:
    """The hash embedder."""
    return [Backend("hash", "surface matching, offline, no model", _open_hash)]


@hookimpl
def veles_extractors() -> Iterable[Backend[Extractor]]:
    """The outline extractor."""
    return [Backend("outline", "one directive a line, offline, no model", _open_outline)]


@hookimpl
def veles_tokenizers() -> Iterable[Backend[Tokenizer]]:
    """The heuristic tokenizer."""
    return [Backend("heuristic", "never under cl100k_base or o200k_base", _open_heuristic)]


def _open_exact(_settings: None, host: Host) -> Store:
    from veles_core.builtin.exact_index import ExactIndex
    from veles_core.store import LedgerStore

    return LedgerStore(host, ExactIndex)


def _open_hash(_settings: None, _host: Host) -> Embedder:
    from veles_core.builtin.hash_embedder import HashEmbedder

    return HashEmbedder()


def _open_outline(_settings: None, _host: Host) -> Extractor:
    from veles_core.builtin.outline_extractor import OutlineExtractor

    return OutlineExtractor()


def _open_heuristic(_settings: None, _host: Host) -> Tokenizer:
    from veles_core.builtin.heuristic_tokenizer import HeuristicTokenizer

    return HeuristicTokenizer()
