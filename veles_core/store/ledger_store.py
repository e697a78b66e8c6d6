"""LedgerStore: a whole store from the ledger and any vector index."""

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np

from veles_core.errors import StoreError
from veles_core.hookspecs import Host
from veles_core.ledger import check, documents, edges, facts, schema, state
from veles_core.ledger.connect import Database
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
from veles_core.store import audit
from veles_core.store.claims import claim
from veles_core.store.derived import Derived, OpenIndex
from veles_core.store.filters import Eligible, Filters
from veles_core.store.upkeep import Upkeep, due

if TYPE_CHECKING:
    from veles_core.records import Vector

log = logging.getLogger(__name__)

LEDGER: Final = "ledger.db"
SNAPSHOT_DUTY: Final = "snapshot"


class LedgerStore:
    """The Store and WordSearch protocols over SQLite, a VectorIndex and a word index.

    SQLite holds the truth. Both indexes live in memory, come from snapshot files beside
    the ledger and follow its change sequence before each search, whichever process wrote.
    """

    def __init__(self, host: Host, open_index: OpenIndex) -> None:
        """Open or create ``stores/<epoch>/ledger.db`` in the host's data directory.

        ``open_index`` is called with the path of its snapshot before the first search.
        Raises ConfigurationError or StoreError with one sentence that says what to do.
        """
        self._folder = host.data_dir / "stores" / host.epoch
        self._now = host.clock.now
        self._open_index = open_index
        self._db = Database(self._folder / LEDGER)
        try:
            schema.migrate(self._db)
            with self._db.reading():
                stored = state.read(self._db)
        except BaseException:
            self._db.close()
            raise
        # What derives from a ledger that was here before isn't ours.
        self._snapshots = self._folder / f"index-{stored.token}"
        self._derived: Derived | None = None
        self._filters = Filters(self._db)
        self._closed = False
        self._written = 0  # changes by this process since it last saved
        self._upkeep = Upkeep(
            self._db, self._open_derived, lambda: self.claim(SNAPSHOT_DUTY), self._adopt
        )
        self._upkeep.saved_at = stored.sequence

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One atomic, durable write around the calls inside. Re-entrant."""
        with self._db.transaction():
            if self._db.depth > 1:
                yield
                return
            began_at = state.sequence(self._db)
            try:
                yield
            except BaseException:
                # An index that has followed what is rolled back is worth nothing.
                if self._derived is not None and self._derived.position > began_at:
                    self._forget_derived()
                raise

    def put_facts(self, records: Sequence[FactRecord]) -> None:
        """Insert, or replace by id, facts with their vectors. Their edges stay."""
        with self.transaction():
            facts.put(self._db, records, self._now())
            self._written += len(records)
            self._upkeep.see(state.sequence(self._db))

    def get_facts(self, ids: Sequence[int]) -> list[Fact]:
        """The visible ones of these facts and hubs, in the order asked."""
        with self._db.reading():
            return facts.get(self._db, ids, self._now())

    def get_records(self, ids: Sequence[int]) -> list[FactRecord]:
        """As ``get_facts``, with vectors."""
        with self._db.reading():
            return facts.get_records(self._db, ids, self._now())

    def set_confidence(self, fact_id: int, confidence: float) -> bool:
        """Set the learned confidence of a visible fact; False if there is none."""
        return facts.set_confidence(self._db, fact_id, confidence, self._now())

    def delete_facts(self, ids: Sequence[int]) -> int:
        """Delete facts or hubs and all their edges; how many were visible."""
        return facts.delete(self._db, ids, self._now())

    def scan_facts(
        self,
        after: int | None,
        limit: int,
        predicates: Sequence[Predicate] = (),
        internal: bool = False,
    ) -> list[Fact]:
        """Up to ``limit`` visible facts with ids above ``after``, ascending."""
        now = self._now()
        with self._db.reading():
            if not predicates:
                return facts.scan(self._db, after, limit, now, internal)
            return self._scan_matching(after, limit, self._eligible(predicates, now), now)

    def _scan_matching(
        self, after: int | None, limit: int, eligible: Eligible, now: float
    ) -> list[Fact]:
        found: list[Fact] = []
        if eligible.allowed is None:
            while len(found) < limit:
                page = facts.scan(self._db, after, limit, now, internal=False)
                found += [fact for fact in page if not eligible.excludes(fact.id)]
                if len(page) < limit:
                    break
                after = page[-1].id
            return found[:limit]
        start = 0 if after is None else int(
            np.searchsorted(eligible.allowed, np.uint64(after), "right")
        )  # fmt: skip
        while start < len(eligible.allowed) and len(found) < limit:
            page = facts.get(self._db, eligible.allowed[start : start + limit].tolist(), now)
            found += [fact for fact in page if fact.kind == "fact"]
            start += limit
        return found[:limit]

    def search(self, vector: "Vector", k: int, predicates: Sequence[Predicate] = ()) -> list[Hit]:
        """The ``k`` most similar visible facts among those that match all predicates."""
        now = self._now()
        with self._db.reading():
            index = self._current().vectors
            eligible = self._eligible(predicates, now)
            ids, scores = index.search(vector, k, eligible.allowed, eligible.excluded)
        return [
            Hit(id, round(score, 6))
            for id, score in zip(ids.tolist(), scores.tolist(), strict=True)
        ]

    def similarities(self, vector: "Vector", ids: Sequence[int]) -> list[float]:
        """Cosine similarity to each of these facts, in the order asked; NaN without a vector."""
        with self._db.reading():
            scores = self._current().vectors.similarities(vector, np.array(ids, np.uint64))
        return [round(score, 6) for score in scores.tolist()]

    def search_words(self, query: str, k: int, predicates: Sequence[Predicate] = ()) -> list[Hit]:
        """Up to ``k`` visible facts sharing a term with ``query``, by BM25 descending, then id."""
        now = self._now()
        with self._db.reading():
            words = self._current().words
            eligible = self._eligible(predicates, now)
            ids, scores = words.search(query, k, now, eligible.allowed, eligible.excluded)
        return list(map(Hit, ids.tolist(), scores.tolist()))

    def word_scores(self, query: str, ids: Sequence[int]) -> list[float]:
        """BM25 of each of these visible facts, in the order asked; 0 without a shared term."""
        now = self._now()
        with self._db.reading():
            scores = self._current().words.scores_of(query, np.array(ids, np.uint64), now)
        return [float(score) for score in scores]

    def count(self) -> Counts:
        """How many visible facts and edges there are; reads only what has expired."""
        now = self._now()
        with self._db.reading():
            stored = state.read(self._db)
            return Counts(
                stored.facts - facts.count_expired(self._db, now),
                stored.edges - edges.count_expired(self._db, now),
            )

    def put_edges(self, edges_: Sequence[Edge]) -> None:
        """Insert edges between visible facts; one whose id is there already stays as it is."""
        edges.put(self._db, edges_, self._now())

    def delete_edges(self, ids: Sequence[int]) -> int:
        """Delete edges by id; how many visible ones there were."""
        return edges.delete(self._db, ids, self._now())

    def edges_from(self, sources: Sequence[int], limit: int) -> list[Edge]:
        """Visible edges leaving each source, at most ``limit`` a source."""
        with self._db.reading():
            return edges.outgoing(self._db, sources, limit, self._now())

    def edges_to(self, targets: Sequence[int], limit: int) -> list[Edge]:
        """Visible edges entering each target, at most ``limit`` a target."""
        with self._db.reading():
            return edges.incoming(self._db, targets, limit, self._now())

    def entity_edges(self, hub: int, incoming: bool, limit: int) -> list[Edge]:
        """Up to ``limit`` visible edges of a hub without its links to the facts about it."""
        with self._db.reading():
            return edges.of_entity(self._db, hub, incoming, limit, self._now())

    def put_documents(self, namespace: str, documents_: Sequence[Document]) -> None:
        """Insert, or replace by key, documents of a namespace."""
        documents.put(self._db, namespace, documents_)

    def get_documents(self, namespace: str, keys: Sequence[str]) -> dict[str, Document]:
        """The visible ones of these documents, by key."""
        with self._db.reading():
            return documents.get(self._db, namespace, keys, self._now())

    def delete_documents(self, namespace: str, keys: Sequence[str]) -> int:
        """Delete documents; how many visible ones there were."""
        return documents.delete(self._db, namespace, keys, self._now())

    def scan_documents(self, namespace: str, after: str | None, limit: int) -> list[Document]:
        """Up to ``limit`` visible documents with keys above ``after``, by key ascending."""
        with self._db.reading():
            return documents.scan(self._db, namespace, after, limit, self._now())

    def namespaces(self) -> list[str]:
        """The namespaces that hold a visible document, ascending."""
        with self._db.reading():
            return documents.namespaces(self._db, self._now())

    def provenance(self) -> EmbeddingIdentity | None:
        """What filled the store; None before the first vector."""
        with self._db.reading():
            return state.provenance(self._db)

    def set_provenance(self, identity: EmbeddingIdentity) -> None:
        """Record what fills the store."""
        with self._db.transaction():
            state.set_provenance(self._db, identity)

    def reclaim(self, limit: int) -> int:
        """Delete up to ``limit`` expired facts and documents; how many there were."""
        now = self._now()
        with self._db.transaction():
            freed = facts.reclaim(self._db, limit, now)
            return freed + documents.reclaim(self._db, limit - freed, now)

    def claim(self, duty: str) -> AbstractContextManager[None] | None:
        """Hold a duty that one process at a time may do, or None if it is held."""
        return claim(self._folder, duty)

    def check(self, repair: bool = False) -> list[Problem]:
        """Compare everything stored and derived with what it should be."""
        with self.transaction() if repair else self._db.reading():
            problems = [*check.ledger(self._db, repair), *audit.files(self._snapshots, repair)]
            if any(p.code == "ledger-damaged" and not p.repaired for p in problems):
                return problems
            return [*problems, *audit.indexes(self._db, self._current(), repair)]

    def compact(self) -> None:
        """Rewrite the ledger without the space of what was deleted. Other writers wait."""
        self._db.compact()

    def save(self) -> None:
        """Bring the indexes to the ledger and write their snapshots, for the next to open it.

        Does nothing while another process is at it.
        """
        with self._db.guarded():
            if self._derived is None:
                self._derived = self._open_derived()
            self._derived.follow(self._db)
            self._save_derived(self._derived)

    def dispose(self) -> None:
        """Close, and remove this epoch with everything in it."""
        self._written = 0
        self.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Release everything; idempotent. Saves first if this process wrote much."""
        self._upkeep.stop()
        with self._db.guarded():
            if self._closed:
                return
            self._closed = True
            try:
                if self._written >= due(self.count().facts):
                    self.save()
            except StoreError as error:
                log.warning("closing without a snapshot: %s", error)
            self._forget_derived()
            self._db.close()

    def _current(self) -> Derived:
        """The indexes, at the ledger's position. The caller holds a read."""
        if self._derived is not None:
            if self._derived.follow(self._db):
                self._upkeep.see(self._derived.position)
            return self._derived
        self._derived = self._open_derived()
        self._upkeep.saved_at = self._derived.position
        built = self._derived.follow(self._db)
        if built >= due(state.read(self._db).facts) and not self._db.depth:
            try:  # others should be spared what was built just now
                self._save_derived(self._derived)
            except StoreError as error:
                log.warning("%s", error)
        return self._derived

    def _save_derived(self, derived: Derived) -> None:
        """Write snapshots of the live indexes and go on from them, if nobody else is at it."""
        held = self.claim(SNAPSHOT_DUTY)
        if held is None:
            return
        with held:
            derived.save()
        saved = self._open_derived()
        if saved.position == derived.position:
            self._adopt(saved)
        else:  # an index that keeps nothing on disk
            saved.close()

    def _open_derived(self) -> Derived:
        return Derived.open(self._snapshots, self._open_index)

    def _adopt(self, derived: Derived) -> None:
        """Go on with indexes that share their snapshots' memory with other processes."""
        with self._db.guarded():
            self._forget_derived()
            self._derived = derived
            self._upkeep.saved_at = derived.position
            self._written = 0

    def _eligible(self, predicates: Sequence[Predicate], now: float) -> Eligible:
        """Which facts a search may find. The caller holds a read."""
        return self._filters.eligible(predicates, now)

    def _forget_derived(self) -> None:
        if self._derived is not None:
            self._derived.close()
            self._derived = None
