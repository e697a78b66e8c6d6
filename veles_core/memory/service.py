"""The memory service: the verbs of the tools, with the same names and arguments.

Each verb checks its input, embeds what must be embedded, and then reads or writes the
store; the rules themselves are in the modules beside this one. All verbs are synchronous
and may be called from several threads.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from veles_core.clock import SYSTEM_CLOCK, Clock
from veles_core.errors import NotFound
from veles_core.limits import (
    CONFIDENCE_PENALTY,
    CONFIDENCE_REWARD,
    DEFAULT_FUSED_HOPS,
    DEFAULT_GRAPH_BOOST,
    DEFAULT_LIST_LIMIT,
    DEFAULT_RECALL_LIMIT,
    DEFAULT_WHY_HOPS,
    MAX_LIST_LIMIT,
    MAX_WHY_HOPS,
)
from veles_core.memory import facts, graph, provenance, recall, transfer
from veles_core.memory.answers import (
    ExtractionHealth,
    Forgotten,
    FusedRecall,
    Link,
    Memory,
    Page,
    Recalled,
    Reinforced,
    Related,
    Remembered,
    Status,
    Trail,
    Unrelated,
)
from veles_core.memory.duties import Duties
from veles_core.memory.filters import comparisons, equalities
from veles_core.memory.metadata import visible
from veles_core.memory.recall import Question, Ranking
from veles_core.memory.transfer import Transferred
from veles_core.protocols import Embedder, Progress, QueryEmbedder, Store
from veles_core.records import EmbeddingIdentity, Predicate, Problem

if TYPE_CHECKING:
    from veles_core.records import Matrix


class MemoryService:
    """The memory over one store and one embedder. Use it as a context manager.

    Raises EmbeddingMismatch if the store was filled by another model. Closing the
    service stops its background duties and closes the store and the embedder.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        clock: Clock = SYSTEM_CLOCK,
        ranking: Ranking = "hybrid",
        default_ttl: int | None = None,
    ) -> None:
        provenance.admit(store, embedder)
        self.store = store
        self.embedder = embedder
        self._clock = clock
        self._ranking = ranking
        self._default_ttl = default_ttl
        self._duties = Duties(store)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the background duties and release the store and the embedder; idempotent."""
        self._duties.stop()
        self.store.close()
        self.embedder.close()

    def remember(
        self,
        fact: str,
        *,
        links: Sequence[Link] = (),
        metadata: Mapping[str, Any] | None = None,
        ttl_seconds: int | None = None,
    ) -> Remembered:
        """Store a fact with its links. Durable when this returns; the same text is one memory."""
        ttl = self._default_ttl if ttl_seconds is None else ttl_seconds
        drafted = facts.draft(
            fact, clock=self._clock, links=links, metadata=metadata, ttl_seconds=ttl
        )
        facts.check_targets(self.store, drafted)
        self.write_facts([drafted])
        return Remembered(drafted.id)

    def write_facts(self, drafts: Sequence[facts.Draft]) -> None:
        """Embed and write drafts, all in one transaction or none."""
        vectors = self.embed([drafted.content for drafted in drafts])
        with self.store.transaction():
            self._confirm(vectors.shape[1])
            for drafted, vector in zip(drafts, vectors, strict=True):
                facts.write(self.store, drafted, vector)

    def recall(
        self,
        query: str,
        k: int = DEFAULT_RECALL_LIMIT,
        filter: Mapping[str, Any] | None = None,
    ) -> Recalled:
        """The memories that answer a query best, with an optional exact-match filter."""
        predicates = equalities(filter)
        question = self._question(query, "query") if k > 0 else None
        if question is None:
            return recall.NOTHING
        return recall.recall(self.store, question, k, predicates, self._ranking)

    def recall_where(
        self, query: str, filters: Sequence[Predicate], k: int = DEFAULT_RECALL_LIMIT
    ) -> Recalled:
        """The most similar memories among those that fulfil typed comparisons, all of them."""
        predicates = comparisons(filters)
        question = self._question(query, "query") if k > 0 else None
        if question is None:
            return recall.NOTHING
        return recall.recall_where(self.store, question, k, predicates)

    def recall_fused(
        self,
        query: str,
        k: int = DEFAULT_RECALL_LIMIT,
        filter: Mapping[str, Any] | None = None,
        hops: int = DEFAULT_FUSED_HOPS,
        graph_boost: float = DEFAULT_GRAPH_BOOST,
        pool: int | None = None,
        date_field: str | None = None,
    ) -> FusedRecall:
        """Recall together with what typed links reach from the best hit, ranked as one."""
        predicates = equalities(filter)
        recall.check_boost(graph_boost)
        question = self._question(query, "query") if k > 0 else None
        if question is None:
            return FusedRecall(())
        return recall.recall_fused(
            self.store,
            question,
            k,
            predicates,
            self._ranking,
            hops=hops,
            graph_boost=graph_boost,
            pool=pool,
            date_field=date_field,
        )

    def relate(self, source: int, target: int, relation: str) -> Related:
        """Link two memories: ``source`` *relation* ``target``. Idempotent."""
        return graph.relate(self.store, source, target, relation)

    def unrelate(self, source: int, target: int, relation: str) -> Unrelated:
        """Undo ``relate``; an absent edge is reported, not refused."""
        return graph.unrelate(self.store, source, target, relation)

    def forget(self, id: int) -> Forgotten:
        """Delete a memory with its links, and entities that nothing mentions any more."""
        with self.store.transaction():
            return Forgotten(id, self.store.delete_facts([id]) > 0)

    def feedback(self, id: int, success: bool) -> Reinforced:
        """Reinforce a memory with an outcome; its confidence moves up or down in [0, 1]."""
        with self.store.transaction():
            found = [fact for fact in self.store.get_facts([id]) if fact.kind == "fact"]
            if not found:
                raise NotFound(f"id: there is no memory {id}", field="id", actual=str(id))
            step = CONFIDENCE_REWARD if success else -CONFIDENCE_PENALTY
            confidence = round(min(1.0, max(0.0, found[0].confidence + step)), 6)
            self.store.set_confidence(id, confidence)
        return Reinforced(id, confidence)

    def why(
        self,
        decision: str,
        max_hops: int = DEFAULT_WHY_HOPS,
        filter: Mapping[str, Any] | None = None,
    ) -> Trail:
        """The memory that matches a decision best, and all that typed links reach from it."""
        predicates = equalities(filter)
        question = self._question(decision, "decision")
        seed = question and recall.seed(self.store, question, predicates, self._ranking)
        if not seed:
            return Trail((), (), False)
        return graph.walk(self.store, seed, min(max_hops, MAX_WHY_HOPS))

    def memory_status(self) -> Status:
        """What runs, what filled the store, and how much is in it. Contacts no backend."""
        recorded, running = self.store.provenance(), self.embedder.identity
        if running.dimension is None and recorded is not None:
            running = EmbeddingIdentity(running.model, recorded.dimension, running.semantic)
        return Status(running, recorded, ExtractionHealth(False), self.store.count())

    def list_memories(
        self,
        cursor: int | None = None,
        limit: int = DEFAULT_LIST_LIMIT,
        filter: Mapping[str, Any] | None = None,
        include_internal: bool = False,
    ) -> Page:
        """One page of all memories by ascending id, from above ``cursor``."""
        limit = max(1, min(limit, MAX_LIST_LIMIT))
        found = self.store.scan_facts(cursor, limit + 1, equalities(filter), include_internal)
        memories = tuple(
            Memory(
                fact.id,
                fact.content,
                dict(fact.metadata) if include_internal else visible(fact.metadata),
            )
            for fact in found[:limit]
        )
        return Page(memories, memories[-1].id if len(found) > limit else None)

    def check(self, repair: bool = False) -> list[Problem]:
        """Compare everything stored with what it should be; ``repair`` mends, losing nothing."""
        return [
            self._embed_again(problem) if repair and problem.code == "vector-missing" else problem
            for problem in self.store.check(repair)
        ]

    def import_items(self, items: Iterable[transfer.Item], progress: Progress) -> Transferred:
        """Write exported items as they were, embedding their facts with the present model."""
        return transfer.import_items(
            self.store, items, self.embed, self._confirm, self._clock.now(), progress
        )

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """Unit vectors of texts by the configured embedder."""
        return self.embedder.embed(texts)

    def _embed_again(self, problem: Problem) -> Problem:
        """Give facts whose vector is missing or damaged a new one; their ids stay."""
        for start in range(0, len(problem.ids), 256):
            batch = self.store.get_facts(problem.ids[start : start + 256])
            vectors = self.embed([fact.content for fact in batch])
            with self.store.transaction():
                self._confirm(vectors.shape[1])
                self.store.put_facts(facts.records(batch, vectors))
        return Problem(problem.code, problem.message, problem.ids, repaired=True)

    def _confirm(self, dimension: int) -> None:
        provenance.confirm(self.store, self.embedder.identity, dimension)

    def _question(self, text: str, field: str) -> Question | None:
        searched = recall.searchable(text, field)
        if searched is None:
            return None
        if isinstance(self.embedder, QueryEmbedder):
            return Question(searched, self.embedder.embed_query(searched))
        return Question(searched, self.embed([searched])[0])
