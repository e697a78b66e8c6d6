"""The table of tools: what ``tools/list`` advertises and ``tools/call`` serves, one row a tool."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from veles_core.server import handlers
from veles_core.wire import answers, memory
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
LEARNS: Final = Behaviour(idempotent=False)
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
        LEARNS,
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
)
