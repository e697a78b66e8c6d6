"""The default store: SQLite, with an HNSW graph once exact search would become slow."""

from collections.abc import Iterable

from veles_core.hookspecs import Backend, Host, hookimpl
from veles_core.protocols import Store


@hookimpl
def veles_stores() -> Iterable[Backend[Store]]:
    """The store ``hnsw``."""
    return [Backend("hnsw", "SQLite; exact vector search, a graph for large memories", _open)]


def _open(_settings: None, host: Host) -> Store:
    from veles_core.builtin.exact_index import ExactIndex
    from veles_core.store import LedgerStore

    return LedgerStore(host, ExactIndex)
