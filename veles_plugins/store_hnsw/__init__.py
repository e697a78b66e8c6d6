"""The default store: SQLite, with an HNSW graph once exact search would become slow."""

from collections.abc import Iterable

from veles_core.hookspecs import Backend, Host, hookimpl
from veles_core.protocols import Store
from veles_core.settings import BackendSettings, variable


class HnswSettings(BackendSettings):
    """When the graph takes over from exact search."""

    threshold: int = variable(
        "HNSW_THRESHOLD",
        default=50_000,
        ge=1,
        description="Facts above which a graph (package hnswlib) is built and searched",
    )


@hookimpl
def veles_stores() -> Iterable[Backend[Store]]:
    """The store ``hnsw``."""
    return [
        Backend(
            "hnsw",
            "SQLite; exact vector search, a graph for large memories",
            _open,
            HnswSettings,
            install="pip install 'veles-memory[hnsw]'",
        )
    ]


def _open(settings: HnswSettings | None, host: Host) -> Store:
    from functools import partial

    from veles_core.store import LedgerStore
    from veles_plugins.store_hnsw.index import HnswIndex

    threshold = (settings or HnswSettings()).threshold
    return LedgerStore(host, partial(HnswIndex, threshold=threshold))
