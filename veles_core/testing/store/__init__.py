"""The contract of a store, in parts by what they are about."""

from veles_core.testing.store.documents import DocumentsContract
from veles_core.testing.store.durability import (
    DurabilityContract,
    ProcessesContract,
    ThreadsContract,
    TransactionsContract,
)
from veles_core.testing.store.edges import EdgesContract
from veles_core.testing.store.facts import FactsContract
from veles_core.testing.store.lifetime import LifetimeContract
from veles_core.testing.store.predicates import PredicatesContract
from veles_core.testing.store.search import SearchContract
from veles_core.testing.store.words import WordSearchContract

__all__ = ["StoreContract", "WordSearchContract"]


class StoreContract(
    FactsContract,
    PredicatesContract,
    SearchContract,
    EdgesContract,
    DocumentsContract,
    LifetimeContract,
    TransactionsContract,
    ThreadsContract,
    DurabilityContract,
    ProcessesContract,
):
    """Every promise of ``veles_core.protocols.Store``.

    Subclass it, give the fixture ``open_store``, and override a capability fixture for
    what the store can't promise. A store that finds words too subclasses
    ``WordSearchContract`` beside it.
    """
