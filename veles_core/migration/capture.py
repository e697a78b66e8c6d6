"""A store that follows migrations: it notes changes for one, and ends when one takes over.

Wraps the store of an epoch. Each write runs in a transaction that first reads the
migration's control documents: while a migration captures, touched things are journaled in
the same transaction; once a successor is named, the write is refused as ``Superseded`` and
the caller goes on with the successor.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from veles_core.migration import control, journal
from veles_core.migration.control import Successor
from veles_core.migration.job import CAPTURING
from veles_core.protocols import Store, WordSearch
from veles_core.records import (
    Counts,
    Document,
    Edge,
    EmbeddingIdentity,
    Fact,
    FactRecord,
    Hit,
    Predicate,
    Problem,
)

if TYPE_CHECKING:
    from veles_core.records import Vector

UNCAPTURED = frozenset({control.NAMESPACE, journal.NAMESPACE})
_ALL_EDGES = 2**31  # every edge of one fact


class Superseded(Exception):
    """The store was handed over; go on with its successor."""

    def __init__(self, successor: Successor) -> None:
        super().__init__(successor.epoch)
        self.successor = successor


def following(store: Store) -> "FollowingStore":
    """The store with migrations followed; words stay searchable if they were."""
    return FollowingWordStore(store) if isinstance(store, WordSearch) else FollowingStore(store)


class FollowingStore:
    """A ``Store`` over one epoch that journals for a migration and refuses once superseded."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self._thread = threading.local()  # depth of this thread's transactions, journal limit

    def successor(self) -> Successor | None:
        """The epoch that has taken over, if one has."""
        return control.read(self.inner).successor

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """As the inner store's; raises Superseded before anything is written."""
        depth = getattr(self._thread, "depth", 0)
        with self.inner.transaction():
            if depth == 0:
                state = control.read(self.inner)
                if state.successor is not None:
                    raise Superseded(state.successor)
                capturing = state.job is not None and state.job.phase in CAPTURING
                self._thread.limit = (
                    state.job.limits.journal_max_bytes if state.job and capturing else None
                )
            self._thread.depth = depth + 1
            try:
                yield
            finally:
                self._thread.depth = depth

    def _note(self, kind: journal.Kind, names: Sequence[int] | Sequence[str]) -> None:
        if self._thread.limit is not None:
            journal.record(self.inner, kind, map(str, names), self._thread.limit)

    def put_facts(self, records: Sequence[FactRecord]) -> None:
        with self.transaction():
            self._note("fact", [record.fact.id for record in records])
            self._note("edges", [record.fact.id for record in records])
            self.inner.put_facts(records)

    def set_confidence(self, fact_id: int, confidence: float) -> bool:
        with self.transaction():
            self._note("fact", [fact_id])
            return self.inner.set_confidence(fact_id, confidence)

    def delete_facts(self, ids: Sequence[int]) -> int:
        with self.transaction():
            if self._thread.limit is not None:
                into = self.inner.edges_to(ids, _ALL_EDGES)
                self._note("fact", ids)
                self._note("edges", [*ids, *(edge.source for edge in into)])
            return self.inner.delete_facts(ids)

    def put_edges(self, edges: Sequence[Edge]) -> None:
        with self.transaction():
            self._note("edges", [edge.source for edge in edges])
            self.inner.put_edges(edges)

    def delete_edges(self, ids: Sequence[int]) -> int:
        with self.transaction():
            self._note("cut", ids)
            return self.inner.delete_edges(ids)

    def put_documents(self, namespace: str, documents: Sequence[Document]) -> None:
        with self.transaction():
            self._note_documents(namespace, [document.key for document in documents])
            self.inner.put_documents(namespace, documents)

    def delete_documents(self, namespace: str, keys: Sequence[str]) -> int:
        with self.transaction():
            self._note_documents(namespace, keys)
            return self.inner.delete_documents(namespace, keys)

    def _note_documents(self, namespace: str, keys: Sequence[str]) -> None:
        if namespace not in UNCAPTURED:
            self._note("document", [f"{namespace}\n{key}" for key in keys])

    def set_provenance(self, identity: EmbeddingIdentity) -> None:
        with self.transaction():
            self.inner.set_provenance(identity)

    def reclaim(self, limit: int) -> int:
        with self.transaction():
            return self.inner.reclaim(limit)

    # Reading goes straight through.

    def get_facts(self, ids: Sequence[int]) -> list[Fact]:
        return self.inner.get_facts(ids)

    def get_records(self, ids: Sequence[int]) -> list[FactRecord]:
        return self.inner.get_records(ids)

    def scan_facts(
        self,
        after: int | None,
        limit: int,
        predicates: Sequence[Predicate] = (),
        internal: bool = False,
    ) -> list[Fact]:
        return self.inner.scan_facts(after, limit, predicates, internal)

    def search(self, vector: "Vector", k: int, predicates: Sequence[Predicate] = ()) -> list[Hit]:
        return self.inner.search(vector, k, predicates)

    def similarities(self, vector: "Vector", ids: Sequence[int]) -> list[float]:
        return self.inner.similarities(vector, ids)

    def count(self) -> Counts:
        return self.inner.count()

    def edges_from(self, sources: Sequence[int], limit: int) -> list[Edge]:
        return self.inner.edges_from(sources, limit)

    def edges_to(self, targets: Sequence[int], limit: int) -> list[Edge]:
        return self.inner.edges_to(targets, limit)

    def entity_edges(self, hub: int, incoming: bool, limit: int) -> list[Edge]:
        return self.inner.entity_edges(hub, incoming, limit)

    def get_documents(self, namespace: str, keys: Sequence[str]) -> dict[str, Document]:
        return self.inner.get_documents(namespace, keys)

    def scan_documents(self, namespace: str, after: str | None, limit: int) -> list[Document]:
        return self.inner.scan_documents(namespace, after, limit)

    def namespaces(self) -> list[str]:
        return [name for name in self.inner.namespaces() if name not in UNCAPTURED]

    def provenance(self) -> EmbeddingIdentity | None:
        return self.inner.provenance()

    def claim(self, duty: str) -> AbstractContextManager[None] | None:
        return self.inner.claim(duty)

    def check(self, repair: bool = False) -> list[Problem]:
        return self.inner.check(repair)

    def compact(self) -> None:
        self.inner.compact()

    def dispose(self) -> None:
        self.inner.dispose()

    def close(self) -> None:
        self.inner.close()


class FollowingWordStore(FollowingStore):
    """The same over a store that searches words."""

    inner: WordSearch  # type: ignore[assignment]

    def search_words(self, query: str, k: int, predicates: Sequence[Predicate] = ()) -> list[Hit]:
        return self.inner.search_words(query, k, predicates)

    def word_scores(self, query: str, ids: Sequence[int]) -> list[float]:
        return self.inner.word_scores(query, ids)
