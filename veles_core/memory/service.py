"""The memory service: the verbs of the tools, with the same names and arguments.

Each verb checks its input, embeds what must be embedded, and then reads or writes the
store; the rules themselves are in the modules beside this one. All verbs are synchronous
and may be called from several threads.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from veles_core.clock import SYSTEM_CLOCK, Clock
from veles_core.context.model import CompiledContext, CompileRequest, Decision, TranscriptRequest
from veles_core.context.models import BudgetSuggestion, suggest_budget
from veles_core.errors import ConfigurationError
from veles_core.limits import (
    DEFAULT_FUSED_HOPS,
    DEFAULT_GRAPH_BOOST,
    DEFAULT_LIST_LIMIT,
    DEFAULT_RECALL_LIMIT,
    DEFAULT_WHY_HOPS,
    MAX_LIST_LIMIT,
    MAX_WHY_HOPS,
)
from veles_core.memory import entities, facts, graph, provenance, recall, savings, sources, transfer
from veles_core.memory import working as contexts
from veles_core.memory.answers import (
    CompiledTranscript,
    EntityView,
    ExtractionHealth,
    ExtractionResult,
    Forgotten,
    FusedRecall,
    Link,
    LoadedContext,
    Memory,
    Page,
    Recalled,
    Receipt,
    Reinforced,
    Related,
    Remembered,
    RetrievedSource,
    Savings,
    SessionEntry,
    Status,
    Trail,
    Unrelated,
)
from veles_core.memory.autograph import Autograph
from veles_core.memory.compiling import Compiler
from veles_core.memory.duties import Duties
from veles_core.memory.extraction import ExtractionJobs
from veles_core.memory.extractors import NO_EXTRACTORS, Extractors
from veles_core.memory.filters import comparisons, equalities
from veles_core.memory.metadata import visible
from veles_core.memory.recall import Ranking
from veles_core.memory.transfer import Transferred
from veles_core.migration.capture import Superseded
from veles_core.migration.epochs import Epochs, Live, SingleEpoch
from veles_core.migration.job import Limits
from veles_core.migration.plane import GRACE_SECONDS, Migrations, MigrationView
from veles_core.protocols import Embedder, Progress, Store, Tokenizer
from veles_core.records import EmbeddingIdentity, Predicate, Problem

T = TypeVar("T")


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
        extractors: Extractors = NO_EXTRACTORS,
        autograph: bool = False,
        tokenizer: Tokenizer | None = None,
        ingest_roots: Sequence[Path] = (),
        epochs: Epochs | None = None,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        """What a verb needs beyond store and embedder is given here, or the verb is refused.

        ``epochs``, whose store and embedder these are, lets the embedding model change; the
        store that a migration leaves behind is freed ``grace_seconds`` later. ``autograph``
        builds the graph of each remembered fact with the default extractor.
        """
        provenance.admit(store, embedder)
        self._epochs = epochs or SingleEpoch(store, embedder)
        self._clock = clock
        self._ranking = ranking
        self._default_ttl = default_ttl
        self._migrations = Migrations(epochs, grace_seconds) if epochs else None
        self._extractors = extractors
        self._extraction = ExtractionJobs(self, extractors, clock, default_ttl)
        self._autograph = (
            Autograph(self, extractors, extractors.default)
            if autograph and extractors.default
            else None
        )
        self._compiler = (
            Compiler(self, tokenizer, ranking, clock, ingest_roots) if tokenizer else None
        )
        self._duties = Duties(self)

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
        """Stop the background work and release every backend; idempotent."""
        self._duties.stop()
        self._extraction.close()
        if self._autograph:
            self._autograph.stop()
        self._extractors.close()
        if self._migrations:
            self._migrations.close()
        self._epochs.close()

    def live(self) -> Live:
        """The store that serves now and its embedder; follows migrations of any process."""
        return self._epochs.live()

    def write(self, change: Callable[[Live], T]) -> T:
        """Make a change on the store that serves, again if a migration hands over meanwhile."""
        while True:
            try:
                return change(self.live())
            except Superseded:
                continue

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
        if drafted.edges:  # before its text is embedded
            facts.check_targets(self.live().store, drafted)
        self.write(lambda live: facts.write_all(live.store, live.embedder, [drafted]))
        if self._autograph:
            self._autograph.offer(drafted.id, drafted.content)
        return Remembered(drafted.id)

    def recall(
        self,
        query: str,
        k: int = DEFAULT_RECALL_LIMIT,
        filter: Mapping[str, Any] | None = None,
    ) -> Recalled:
        """The memories that answer a query best, with an optional exact-match filter."""
        live, predicates = self.live(), equalities(filter)
        question = recall.ask(live.embedder, query) if k > 0 else None
        if question is None:
            return recall.NOTHING
        return recall.recall(live.store, question, k, predicates, self._ranking)

    def recall_where(
        self, query: str, filters: Sequence[Predicate], k: int = DEFAULT_RECALL_LIMIT
    ) -> Recalled:
        """The most similar memories among those that fulfil typed comparisons, all of them."""
        live, predicates = self.live(), comparisons(filters)
        question = recall.ask(live.embedder, query) if k > 0 else None
        if question is None:
            return recall.NOTHING
        return recall.recall_where(live.store, question, k, predicates)

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
        live, predicates = self.live(), equalities(filter)
        recall.check_boost(graph_boost)
        question = recall.ask(live.embedder, query) if k > 0 else None
        if question is None:
            return FusedRecall(())
        return recall.recall_fused(
            live.store,
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
        return self.write(lambda live: graph.relate(live.store, source, target, relation))

    def unrelate(self, source: int, target: int, relation: str) -> Unrelated:
        """Undo ``relate``; an absent edge is reported, not refused."""
        return self.write(lambda live: graph.unrelate(live.store, source, target, relation))

    def forget(self, id: int) -> Forgotten:
        """Delete a memory with its links, and entities that nothing mentions any more."""
        return self.write(lambda live: facts.forget(live.store, id))

    def feedback(self, id: int, success: bool) -> Reinforced:
        """Reinforce a memory with an outcome; its confidence moves up or down in [0, 1]."""
        return self.write(lambda live: facts.reinforce(live.store, id, success))

    def why(
        self,
        decision: str,
        max_hops: int = DEFAULT_WHY_HOPS,
        filter: Mapping[str, Any] | None = None,
    ) -> Trail:
        """The memory that matches a decision best, and all that typed links reach from it."""
        live, predicates = self.live(), equalities(filter)
        question = recall.ask(live.embedder, decision, "decision")
        seed = question and recall.seed(live.store, question, predicates, self._ranking)
        if not seed:
            return Trail((), (), False)
        return graph.walk(live.store, seed, min(max_hops, MAX_WHY_HOPS))

    def memory_status(self) -> Status:
        """What runs, what filled the store, and how much is in it. Contacts no backend."""
        live = self.live()
        recorded, running = live.store.provenance(), live.embedder.identity
        if running.dimension is None and recorded is not None:
            running = EmbeddingIdentity(running.model, recorded.dimension, running.semantic)
        return Status(running, recorded, self._extraction_health(), live.store.count())

    def list_memories(
        self,
        cursor: int | None = None,
        limit: int = DEFAULT_LIST_LIMIT,
        filter: Mapping[str, Any] | None = None,
        include_internal: bool = False,
    ) -> Page:
        """One page of all memories by ascending id, from above ``cursor``."""
        store, limit = self.live().store, max(1, min(limit, MAX_LIST_LIMIT))
        found = store.scan_facts(cursor, limit + 1, equalities(filter), include_internal)
        memories = tuple(
            Memory(
                fact.id,
                fact.content,
                dict(fact.metadata) if include_internal else visible(fact.metadata),
            )
            for fact in found[:limit]
        )
        return Page(memories, memories[-1].id if len(found) > limit else None)

    def entity(self, name: str) -> EntityView:
        """Everything the graph knows about one named entity."""
        return entities.view(self.live().store, name)

    def remember_extracted(
        self,
        text: str,
        metadata: Mapping[str, Any] | None = None,
        extractor: str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Accept a passage durably; its facts and their graph are stored in the background."""
        return self._extraction.submit(text, metadata, extractor, idempotency_key)

    def extraction_status(self, request_id: str) -> ExtractionResult:
        """What has become of an accepted passage."""
        return self._extraction.status(request_id)

    def compile_context(self, request: CompileRequest) -> CompiledContext:
        """Fit fragments and pulled memories into a token budget, one decision a fragment."""
        return self._needed_compiler().compile_context(request)

    def compile_transcript(self, request: TranscriptRequest) -> CompiledTranscript:
        """Cut a session transcript into segments and fit them into a token budget."""
        return self._needed_compiler().compile_transcript(request)

    def explain_compilation(
        self,
        request: CompileRequest,
        fragment_id: int | None = None,
        fragment_index: int | None = None,
    ) -> Decision:
        """The decision on one fragment of a compilation; keeps nothing."""
        return self._needed_compiler().explain_compilation(request, fragment_id, fragment_index)

    def retrieve_context_source(self, handle: str) -> RetrievedSource:
        """The exact original behind a handle of a compiled context."""
        return sources.retrieve(self.live().store, handle)

    def context_savings(self, project: str | None = None) -> Savings:
        """What recorded compilations saved, in all or for one project."""
        return savings.total(self.live().store, project)

    def suggest_budget(self, target_model: str, reserve_tokens: int = 0) -> BudgetSuggestion:
        """A starting token budget for a model, from a static table."""
        return suggest_budget(target_model, reserve_tokens)

    def save_working_context(
        self, project: str, session: str, working: Mapping[str, Any]
    ) -> Remembered:
        """Save the working state of a session, replacing the one saved before."""
        now = self._clock.now()
        return self.write(lambda live: contexts.save(live.store, project, session, working, now))

    def load_working_context(self, project: str, session: str) -> LoadedContext:
        """The working state of a session, and the other sessions of its project."""
        return contexts.load(self.live().store, project, session)

    def list_working_contexts(self, project: str) -> list[SessionEntry]:
        """The sessions that can be resumed, newest first."""
        return contexts.listed(self.live().store, project)

    def migration_start(self, target_backend: str, limits: Limits) -> MigrationView:
        """Start moving the memory to another embedding model while it serves."""
        if self._migrations is None:
            return MigrationView(False)
        return self._migrations.start(target_backend, limits)

    def migration_status(self) -> MigrationView:
        """The migration's job and its progress."""
        return self._migrations.status() if self._migrations else MigrationView(False)

    def migration_cancel(self) -> MigrationView:
        """End the migration while the source is still authoritative."""
        return self._migrations.cancel() if self._migrations else MigrationView(False)

    def migration_recover(self) -> MigrationView:
        """Go on with a stopped migration."""
        return self._migrations.recover() if self._migrations else MigrationView(False)

    def check(self, repair: bool = False) -> list[Problem]:
        """Compare everything stored with what it should be; ``repair`` mends, losing nothing."""
        return [
            self._embed_again(problem) if repair and problem.code == "vector-missing" else problem
            for problem in self.write(lambda live: live.store.check(repair))
        ]

    def import_items(self, items: Iterable[transfer.Item], progress: Progress) -> Transferred:
        """Write exported items as they were, embedding their facts with the present model."""
        return transfer.import_items(self, items, self._clock.now(), progress)

    def _extraction_health(self) -> ExtractionHealth:
        configured, autograph = self._extractors.default is not None, self._autograph
        if autograph is None:
            return ExtractionHealth(configured)
        return ExtractionHealth(configured, True, autograph.dropped, autograph.failed)

    def _needed_compiler(self) -> Compiler:
        if self._compiler is None:
            raise ConfigurationError("this memory was opened without a tokenizer to compile with")
        return self._compiler

    def _embed_again(self, problem: Problem) -> Problem:
        """Give facts whose vector is missing or damaged a new one; their ids stay."""
        for start in range(0, len(problem.ids), 256):
            self.write(partial(facts.embed_again, ids=problem.ids[start : start + 256]))
        return Problem(problem.code, problem.message, problem.ids, repaired=True)
