"""The embedded store: ``LedgerStore(host, open_index)`` makes a Store of any VectorIndex."""

from veles_core.store.ledger_store import LedgerStore

__all__ = ["LedgerStore"]
