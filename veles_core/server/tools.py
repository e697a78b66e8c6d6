"""The table of tools: what ``tools/list`` advertises and ``tools/call`` serves, one row a tool."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from veles_core.server import context_handlers, handlers, migration_handlers
from veles_core.wire import answers, context, context_answers, memory, migration, working
from veles_core.wire.arguments import Arguments
from veles_core.wire.schema import Schema, input_schema, output_schema

if TYPE_CHECKING:
    from veles_core.memory.service import MemoryService


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a client may assume of a tool before it calls it; none reaches beyond the store."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = True


READS: Final = Behaviour(read_only=True)
WRITES: Final = Behaviour()
COUNTS: Final = Behaviour(idempotent=False)
DELETES: Final = Behaviour(destructive=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its arguments, its answer, the handler between them, and how it is described."""

    name: str
    arguments: type[Arguments]
    answer: Any  # the TypedDict of the handler's answer
    handler: "Callable[[MemoryService, Any], Any]"
    behaviour: Behaviour
    description: str

    @property
    def input_schema(self) -> Schema:
        return _input_schema(self.arguments)

    @property
    def output_schema(self) -> Schema:
        return _output_schema(self.answer)


_input_schema = cache(input_schema)
_output_schema = cache(output_schema)


TOOLS: Final[tuple[Tool, ...]] = (
    Tool(
        "remember",
        memory.Remember,
        answers.Remembered,
        handlers.remember,
        WRITES,
        "Store one fact in durable memory; it survives restarts. Use it for decisions, their "
        "reasons, preferences and lessons, one statement each, with metadata to filter by and "
        "links to the memories it rests on. Answers the fact's id: relay id_str, not id.",
    ),
    Tool(
        "recall",
        memory.Recall,
        answers.Memories,
        handlers.recall,
        READS,
        "Find the memories that answer a question, best first. Call it before you start a task or "
        "decide anything. score is the raw similarity; the order also weighs shared words and "
        "what feedback has taught. For connected reasons use why.",
    ),
    Tool(
        "recall_where",
        memory.RecallWhere,
        answers.Memories,
        handlers.recall_where,
        READS,
        "Find memories among those whose metadata fulfils comparisons: ranges, dates, "
        "inequalities. All must hold, types are strict, most similar first. For plain equality "
        "recall's filter is shorter.",
    ),
    Tool(
        "recall_fused",
        memory.RecallFused,
        answers.FusedMemories,
        handlers.recall_fused,
        READS,
        "recall, and in the same ranking whatever typed links reach from the best hit. For "
        "questions that need several connected facts (k 32 to 64), and with date_field for "
        "questions about when and in which order.",
    ),
    Tool(
        "relate",
        memory.Relate,
        answers.Related,
        handlers.relate,
        WRITES,
        "Link two memories: from relation to. Point from at the memory you will ask why about and "
        "to at its evidence (decision to cause, fact to source, new fact to the one it "
        "supersedes): why follows outgoing links only. Repeating a link changes nothing.",
    ),
    Tool(
        "unrelate",
        memory.Unrelate,
        answers.Unrelated,
        handlers.unrelate,
        DELETES,
        "Remove one link, the exact undo of relate. Both memories stay. An absent link answers "
        "found: false.",
    ),
    Tool(
        "forget",
        memory.Forget,
        answers.Forgotten,
        handlers.forget,
        DELETES,
        "Delete one memory and its links for good. found: false means that nothing was stored "
        "under the id. To replace a fact that may still explain something, relate the new one to "
        "it with supersedes instead.",
    ),
    Tool(
        "feedback",
        memory.Feedback,
        answers.Reinforced,
        handlers.feedback,
        COUNTS,
        "Tell whether a recalled memory helped. Its confidence, 0 to 1, moves up or down and "
        "bends the order of later recalls.",
    ),
    Tool(
        "why",
        memory.Why,
        answers.Trail,
        handlers.why,
        READS,
        "Explain a decision: the memory that matches it best (hop 0) and everything reachable "
        "from it through typed links, even what shares no word with the question. truncated: true "
        "means that a limit cut the walk.",
    ),
    Tool(
        "memory_status",
        memory.MemoryStatus,
        answers.Status,
        handlers.memory_status,
        READS,
        "Report the embedder that runs, the one that filled the store, extraction, and the number "
        "of facts and edges. Call it at session start and when recall disappoints: semantic: "
        "false means matching by words only; edges: 0 means that why has nothing to walk.",
    ),
    Tool(
        "list_memories",
        memory.ListMemories,
        answers.Page,
        handlers.list_memories,
        READS,
        "Walk every stored memory page by page, ids ascending: an audit that misses nothing, "
        "where recall ranks. Pass next_cursor back as cursor until it is null; a filtered page "
        "may be short while the walk goes on.",
    ),
    Tool(
        "entity",
        memory.Entity,
        answers.EntityView,
        handlers.entity,
        READS,
        "Look up one named entity of the graph that extraction builds: its attributes, the "
        "relations leaving it and those entering it. Read both directions: who is Theo's sister "
        "is answered by his relations_in. found: false means that nothing mentions it.",
    ),
    Tool(
        "remember_extracted",
        memory.RememberExtracted,
        answers.Receipt,
        handlers.remember_extracted,
        WRITES,
        "Hand over a passage; its facts, entities and relations are extracted and linked in the "
        "background, so that why can connect them. Answers a durable receipt at once: poll "
        "extraction_status with its request_id. extractor outline needs no model.",
    ),
    Tool(
        "extraction_status",
        memory.ExtractionStatus,
        answers.ExtractionResult,
        handlers.extraction_status,
        READS,
        "What has become of a passage given to remember_extracted: accepted, running, committed "
        "(ids in extraction order) or failed (error says why).",
    ),
    Tool(
        "compile_context",
        context.CompileContext,
        context_answers.Compiled,
        context_handlers.compile_context,
        WRITES,
        "Fit fragments of context (files, logs, code, notes, images) into a token budget without "
        "a model: duplicates go, logs collapse, prohibitions, code, URLs and exact values stay. "
        "What doesn't fit is set aside under a handle. Check risk: high means that something "
        "that must be kept isn't wholly there.",
    ),
    Tool(
        "compile_transcript",
        context.CompileTranscript,
        context_answers.CompiledTranscript,
        context_handlers.compile_transcript,
        WRITES,
        "compile_context for the raw transcript of a session: it is cut into turns, code and logs "
        "first, and segmentation tells where. Give exactly one of transcript and path.",
    ),
    Tool(
        "explain_compilation",
        context.ExplainCompilation,
        context_answers.Decision,
        context_handlers.explain_compilation,
        READS,
        "Tell why a fragment was kept, shortened, set aside or dropped: its one decision. The "
        "request is compiled again and nothing is recorded; memories and files are read as they "
        "are now.",
    ),
    Tool(
        "retrieve_context_source",
        context.RetrieveContextSource,
        context_answers.Retrieved,
        context_handlers.retrieve_context_source,
        READS,
        "Fetch the exact original behind a ctx://source/ handle of a compiled context. Call it "
        "when something set aside or shortened turns out to matter.",
    ),
    Tool(
        "context_savings",
        context.ContextSavings,
        context_answers.Savings,
        context_handlers.context_savings,
        READS,
        "Add up what recorded compilations saved, in tokens and in millionths of each currency. "
        "Local estimates, not a provider's bill.",
    ),
    Tool(
        "suggest_budget",
        context.SuggestBudget,
        context_answers.Suggestion,
        context_handlers.suggest_budget,
        READS,
        "Suggest a token_budget for a model from a static table of context windows; source names "
        "its date. An unlisted model answers nulls, never a guess.",
    ),
    Tool(
        "save_working_context",
        working.SaveWorkingContext,
        answers.Remembered,
        context_handlers.save_working_context,
        WRITES,
        "Save the distilled state of a session, so that a later one can pick it up: goal, "
        "constraints, verified facts, open hypotheses, evidence, next actions. Call it before a "
        "session ends or its context is cut; saving the same project and session again replaces "
        "the state whole, so load first.",
    ),
    Tool(
        "load_working_context",
        working.LoadWorkingContext,
        working.Loaded,
        context_handlers.load_working_context,
        READS,
        "Resume a session: the state saved under exactly this project and session. found: false "
        "with a similar name in other_sessions is usually a typo. Enrich what you loaded and save "
        "it back as it is.",
    ),
    Tool(
        "list_working_contexts",
        working.ListWorkingContexts,
        working.Sessions,
        context_handlers.list_working_contexts,
        READS,
        "List the sessions of a project that can be resumed, last saved first. Call it at session "
        "start instead of guessing a session's name.",
    ),
    Tool(
        "migration_start",
        migration.MigrationStart,
        migration.Migration,
        migration_handlers.migration_start,
        COUNTS,
        "Move the memory to another embedding model while it goes on serving. Answers once the "
        "job is durable; poll migration_status until phase is committed. Only on the user's wish: "
        "every fact is embedded again.",
    ),
    Tool(
        "migration_status",
        migration.MigrationStatus,
        migration.Migration,
        migration_handlers.migration_status,
        READS,
        "Report the migration's phase, progress, last error and what to do about it, without "
        "working on it. job: null means that there never was one.",
    ),
    Tool(
        "migration_cancel",
        migration.MigrationCancel,
        migration.Migration,
        migration_handlers.migration_cancel,
        DELETES,
        "End the migration and remove what it has copied, while the old model still serves. "
        "Refused once the memory is being handed over.",
    ),
    Tool(
        "migration_recover",
        migration.MigrationRecover,
        migration.Migration,
        migration_handlers.migration_recover,
        WRITES,
        "Go on with a migration that stopped, after its target proves to embed as it did when the "
        "migration began. Read migration_status first: last_error and recovery_action say why it "
        "stopped.",
    ),
)
