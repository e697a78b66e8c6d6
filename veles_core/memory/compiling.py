"""Compiling with a memory around it: files read, memories pulled, sources and savings kept.

The compiler itself is pure (``veles_core.context``); everything it must not do is here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from veles_core.clock import Clock
from veles_core.context.compile import compile_context, compile_transcript, explain
from veles_core.context.model import (
    Compilation,
    CompiledContext,
    CompileRequest,
    Decision,
    Policy,
    PulledMemory,
    TranscriptRequest,
)
from veles_core.context.validate import check_one_transcript, check_request
from veles_core.ingest import Taken, read_text
from veles_core.limits import (
    DEFAULT_FUSED_HOPS,
    DEFAULT_GRAPH_BOOST,
    DEFAULT_RECALL_LIMIT,
    MAX_INGEST_FILE_BYTES,
    MAX_TRANSCRIPT_BYTES,
)
from veles_core.memory import recall, savings, sources
from veles_core.memory.answers import CompiledTranscript
from veles_core.memory.filters import equalities
from veles_core.memory.live import Live, Memory
from veles_core.memory.recall import Ranking
from veles_core.protocols import Tokenizer


@dataclass(frozen=True, slots=True)
class Compiler:
    """The compile verbs of a memory: the pure compiler with the memory's files and store."""

    memory: Memory
    tokenizer: Tokenizer
    ranking: Ranking
    clock: Clock
    ingest_roots: Sequence[Path]

    def compile_context(self, request: CompileRequest) -> CompiledContext:
        """Compile, and keep the sources and the event as the policy says."""
        compilation = self._compiled(request)
        self._keep(compilation, request.policy, request.project)
        return compilation.context

    def compile_transcript(self, request: TranscriptRequest) -> CompiledTranscript:
        """Cut a transcript into segments and compile those; keeps as ``compile_context``."""
        check_one_transcript(request)
        done = compile_transcript(self._read_transcript(request), self.tokenizer)
        self._keep(done.compilation, request.policy, request.project)
        return CompiledTranscript(done.compilation.context, done.segmentation)

    def explain_compilation(
        self, request: CompileRequest, fragment_id: int | None, fragment_index: int | None
    ) -> Decision:
        """The decision on one fragment of the same compilation, done again; keeps nothing."""
        check_request(request)
        return explain(
            self._read_fragments(request),
            self.tokenizer,
            self._pulled(request),
            fragment_id=fragment_id,
            fragment_index=fragment_index,
        )

    def _compiled(self, request: CompileRequest) -> Compilation:
        check_request(request)
        return compile_context(self._read_fragments(request), self.tokenizer, self._pulled(request))

    def _pulled(self, request: CompileRequest) -> tuple[PulledMemory, ...]:
        """The stored memories that the request's ``memory_scope`` asks for, best first."""
        scope, live = request.memory_scope, self.memory.live()
        if scope is None:
            return ()
        k = DEFAULT_RECALL_LIMIT if scope.k is None else scope.k
        question = recall.ask(live.embedder, request.query) if k > 0 else None
        if question is None:
            return ()
        project = scope.project if scope.project is not None else request.project
        found = recall.recall_fused(
            live.store,
            question,
            k,
            equalities(None if project is None else {"project": project}),
            self.ranking,
            hops=DEFAULT_FUSED_HOPS if scope.hops is None else scope.hops,
            graph_boost=DEFAULT_GRAPH_BOOST if scope.graph_boost is None else scope.graph_boost,
        ).memories
        confidence = {f.id: f.confidence for f in live.store.get_facts([m.id for m in found])}
        return tuple(
            PulledMemory(m.id, m.content, m.score, confidence[m.id], m.metadata)
            for m in found
            if m.id in confidence
        )

    def _read_fragments(self, request: CompileRequest) -> CompileRequest:
        """The request with each ``path`` replaced by its file's text, or refused as a whole."""
        fragments, taken = [], Taken()
        for fragment in request.fragments:
            if fragment.path is not None:
                text, taken = read_text(
                    fragment.path, self.ingest_roots, MAX_INGEST_FILE_BYTES, "fragments", taken
                )
                fragment = replace(fragment, content=text, path=None)
            fragments.append(fragment)
        return replace(request, fragments=tuple(fragments))

    def _read_transcript(self, request: TranscriptRequest) -> TranscriptRequest:
        """The request with its ``path`` replaced by the file's text."""
        if request.path is None:
            return request
        text, _ = read_text(request.path, self.ingest_roots, MAX_TRANSCRIPT_BYTES, "path")
        return replace(request, transcript=text, path=None)

    def _keep(self, compilation: Compilation, policy: Policy, project: str | None) -> None:
        """Store sources and savings in one transaction, as far as the policy wants them."""
        if not policy.store_sources and not policy.record_events:
            return
        now, insights = self.clock.now(), compilation.context.insights

        def change(live: Live) -> None:
            with live.store.transaction():
                if policy.store_sources:
                    until = _expiry(policy.source_ttl_seconds, now)
                    sources.keep(live.store, compilation.sources, until)
                if policy.record_events:
                    until = _expiry(policy.event_ttl_seconds, now)
                    savings.record(live.store, project, insights, until)

        self.memory.write(change)


def _expiry(ttl_seconds: int | None, now: float) -> float | None:
    return None if ttl_seconds is None else now + ttl_seconds
