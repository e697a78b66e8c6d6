"""The store itself: four collections and the rules of what is visible in them."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from filelock import Timeout

from veles_core.errors import StoreError
from veles_core.hookspecs import Host
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
from veles_plugins.store_chroma import check, rows
from veles_plugins.store_chroma.connection import Connection
from veles_plugins.store_chroma.documents import Documents
from veles_plugins.store_chroma.edges import Edges
from veles_plugins.store_chroma.facts import Facts
from veles_plugins.store_chroma.pending import PendingDocuments
from veles_plugins.store_chroma.table import BATCH
from veles_plugins.store_chroma.transactions import MARKS_A_SECOND, Transactions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from veles_core.records import Vector

ABANDONED_SECONDS: Final = 3_600  # a transaction that began earlier and isn't over is dead
PROVENANCE: Final = "provenance"


class ChromaStore:
    """``Store`` over the collections ``veles_<epoch>_…``; the README says what it can't."""

    def __init__(self, connection: Connection, host: Host) -> None:
        self._connection = connection
        self._now = host.clock.now
        self._dimension = host.identity.dimension if host.identity else None
        self._transactions = Transactions(connection, host.clock)

    def transaction(self) -> AbstractContextManager[None]:
        return self._transactions.begin()

    def put_facts(self, records: Sequence[FactRecord]) -> None:
        latest = {record.fact.id: record for record in records}
        parts = [
            (purpose, [one for one in latest.values() if one.fact.kind == kind])
            for purpose, kind in (("hubs", "entity"), ("facts", "fact"))
        ]
        at_once = len(latest) <= BATCH and not all(part for _, part in parts)
        with self._connection.writing() if at_once else self.transaction():
            for purpose, part in parts:
                if part:
                    self._put(purpose, part)

    def _put(self, purpose: str, records: list[FactRecord]) -> None:
        """Replace in place what is visible; what is new waits for the transaction's end."""
        table, seen = self._connection.table(purpose), self._facts()
        ids = [str(record.fact.id) for record in records]
        old = table.get(ids)
        stale = [id for id, row in old.items() if not seen.is_visible(row)]
        self._edges().delete_of([int(id) for id in stale])
        table.delete(stale)
        kept = {id: row for id, row in old.items() if id not in stale}
        self._transactions.adds(purpose, [id for id in ids if id not in kept])
        marks = {id: row["written"] for id, row in kept.items()}
        table.put(
            ids,
            [self._vector(record) for record in records],
            [
                rows.fact_row(record, marks.get(id, self._transactions.mark), kept.get(id))
                for id, record in zip(ids, records, strict=True)
            ],
            [record.fact.content for record in records],
        )

    def _vector(self, record: FactRecord) -> Any:
        if record.fact.kind == "entity":
            return rows.spread(str(record.fact.id))
        if record.vector is not None:
            self._dimension = len(record.vector)
            return record.vector
        if self._dimension is None:
            raise StoreError(
                f"fact {record.fact.id} has no vector, and how long vectors are here isn't "
                "known yet; store one that has a vector first"
            )
        return np.zeros(self._dimension, np.float32)

    def get_facts(self, ids: Sequence[int]) -> list[Fact]:
        found = self._facts().get(ids)
        return [found[id] for id in ids if id in found]

    def get_records(self, ids: Sequence[int]) -> list[FactRecord]:
        seen = self._facts()
        found = seen.get(ids)
        vectors = seen.vectors(found)
        return [FactRecord(found[id], vectors.get(id)) for id in ids if id in found]

    def set_confidence(self, fact_id: int, confidence: float) -> bool:
        with self._connection.writing():
            found = self._facts().get([fact_id])
            if not found:
                return False
            fact = found[fact_id]
            purpose = "hubs" if fact.kind == "entity" else "facts"
            exact = rows.exact_json(fact.metadata, confidence)
            self._connection.table(purpose).update([str(fact_id)], [{"fact": exact}])
        return True

    def delete_facts(self, ids: Sequence[int]) -> int:
        names = [str(id) for id in ids]
        with self._connection.writing():
            count = len(self._facts().present(ids))
            # Edges first: should this be broken off, none of them is left for a later fact.
            self._edges().delete_of(ids)
            for purpose in ("facts", "hubs"):
                self._connection.table(purpose).delete(names)
        return count

    def scan_facts(
        self,
        after: int | None,
        limit: int,
        predicates: Sequence[Predicate] = (),
        internal: bool = False,
    ) -> list[Fact]:
        seen = self._facts()
        if predicates:
            found = [id for id in seen.matching(predicates) if after is None or id > after]
        else:
            found = seen.page(after, limit, internal)
        return self.get_facts(found[:limit])

    def search(self, vector: "Vector", k: int, predicates: Sequence[Predicate] = ()) -> list[Hit]:
        return self._facts().nearest(vector, k, predicates) if k > 0 else []

    def similarities(self, vector: "Vector", ids: Sequence[int]) -> list[float]:
        return self._facts().similarities(vector, ids)

    def count(self) -> Counts:
        seen = self._facts()
        facts, hubs = seen.hidden()
        return Counts(len(seen.table) - len(facts), self._edges().count(facts | hubs))

    def put_edges(self, edges: Sequence[Edge]) -> None:
        with self._connection.writing():
            self._edges().put(edges)

    def delete_edges(self, ids: Sequence[int]) -> int:
        with self._connection.writing():
            return self._edges().delete(ids)

    def edges_from(self, sources: Sequence[int], limit: int) -> list[Edge]:
        return self._edges().at("source", sources, limit)

    def edges_to(self, targets: Sequence[int], limit: int) -> list[Edge]:
        return self._edges().at("target", targets, limit)

    def entity_edges(self, hub: int, incoming: bool, limit: int) -> list[Edge]:
        return self._edges().of_entity(hub, incoming, limit)

    def put_documents(self, namespace: str, documents: Sequence[Document]) -> None:
        with self.transaction():
            self._documents().put(namespace, documents)

    def get_documents(self, namespace: str, keys: Sequence[str]) -> dict[str, Document]:
        return self._documents().get(namespace, keys)

    def delete_documents(self, namespace: str, keys: Sequence[str]) -> int:
        with self.transaction():
            return self._documents().delete(namespace, keys)

    def scan_documents(self, namespace: str, after: str | None, limit: int) -> list[Document]:
        return self._documents().scan(namespace, after, limit)

    def namespaces(self) -> list[str]:
        return self._documents().namespaces()

    def provenance(self) -> EmbeddingIdentity | None:
        row = self._connection.table("documents").get([PROVENANCE]).get(PROVENANCE)
        return None if row is None else EmbeddingIdentity(**json.loads(row["identity"]))

    def set_provenance(self, identity: EmbeddingIdentity) -> None:
        parts = {
            "model": identity.model,
            "dimension": identity.dimension,
            "semantic": identity.semantic,
        }
        with self._connection.writing():
            self._connection.table("documents").put(
                [PROVENANCE], [rows.spread(PROVENANCE)], [{"identity": json.dumps(parts)}]
            )

    def reclaim(self, limit: int) -> int:
        oldest = int((self._now() - ABANDONED_SECONDS) * MARKS_A_SECOND)
        with self._connection.writing():
            facts = self._facts().reclaimable(limit, oldest)
            self._edges().delete_of(facts)
            for purpose in ("facts", "hubs"):
                self._connection.table(purpose).delete(map(str, facts))
            documents = Documents(self._connection.table("documents"), self._now())
            return len(facts) + documents.reclaim(limit - len(facts))

    def claim(self, duty: str) -> AbstractContextManager[None] | None:
        lock = self._connection.lock(f"duty-{duty}")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return None

        @contextmanager
        def held() -> "Iterator[None]":
            try:
                yield
            finally:
                lock.release()

        return held()

    def check(self, repair: bool = False) -> list[Problem]:
        with self._connection.writing():
            return check.check(self._connection, self._facts(), self._edges(), repair)

    def compact(self) -> None:
        """Chroma gives no space back while it runs; ``chroma vacuum`` does when it doesn't."""

    def dispose(self) -> None:
        self._connection.drop()

    def close(self) -> None:
        self._connection.close()

    def _facts(self) -> Facts:
        return Facts(self._connection, self._now(), self._transactions.mark)

    def _edges(self) -> Edges:
        return Edges(self._connection.table("edges"), self._facts())

    def _documents(self) -> PendingDocuments:
        return self._transactions.documents()
