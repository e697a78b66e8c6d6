"""What a compilation is asked and what it answers: frozen data under the wire's own names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from veles_core.limits import (
    DEFAULT_CHUNK_BYTES,
    DEFAULT_CONFIDENCE_WEIGHT,
    DEFAULT_RECENCY_WEIGHT,
    DEFAULT_SEGMENT_BYTES,
    INITIAL_CONFIDENCE,
)
from veles_core.records import Metadata

Action = Literal["preserve", "abstract", "retrieve", "drop", "cache"]
Risk = Literal["low", "medium", "high"]
Boundary = Literal["paragraph", "sentence", "fixed"]
Format = Literal["auto", "plain", "jsonl"]
SectionKind = Literal["cache", "body"]
SegmentKind = Literal["body", "code", "log"]


# The request


@dataclass(frozen=True, slots=True)
class Media:
    """An inline image or other binary; ``bytes_b64`` is canonical base64."""

    mime: str
    bytes_b64: str


@dataclass(frozen=True, slots=True)
class Fragment:
    """One piece of context: exactly one of ``path``, non-empty ``content`` or ``media``.

    ``id`` (a decimal string) replaces the content-derived id in the answer. The compiler
    reads no files: a ``path`` becomes content before it gets here.
    """

    content: str = ""
    id: int | str | None = None
    path: str | None = None
    kind: str | None = None
    priority: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    media: Media | None = None


@dataclass(frozen=True, slots=True)
class ChunkPolicy:
    """Where a fragment that doesn't fit may be cut.

    Pieces of a fragment are emitted back to back, so the text that two of them share by
    ``overlap_bytes`` is emitted once.
    """

    boundary: Boundary = "paragraph"
    max_chunk_bytes: int = DEFAULT_CHUNK_BYTES
    overlap_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Importance:
    """What a pulled memory's confidence and recency add to its relevance when packing.

    ``recency_field`` names the metadata key with a YYYYMMDD date.
    """

    confidence: float = DEFAULT_CONFIDENCE_WEIGHT
    recency: float = DEFAULT_RECENCY_WEIGHT
    recency_field: str | None = None


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What a million input tokens of a model cost, in millionths of a currency unit."""

    input_micros_per_million_tokens: int


@dataclass(frozen=True, slots=True)
class Pricing:
    """A caller's price table; ``version`` is echoed so that savings can be audited."""

    version: str
    currency: str
    models: Mapping[str, ModelPrice]


@dataclass(frozen=True, slots=True)
class Policy:
    """How to compile. ``normalize_log_timestamps`` None: on for transcripts, else off."""

    chunk: ChunkPolicy = ChunkPolicy()
    disabled_rules: tuple[str, ...] = ()
    event_ttl_seconds: int | None = None
    ids_as_strings: bool = False
    importance: Importance = Importance()
    near_dup_dedup: bool = True
    normalize_log_timestamps: bool | None = None
    pricing: Pricing | None = None
    record_events: bool = True
    response_reserve_tokens: int = 0
    slim_response: bool = False
    source_ttl_seconds: int | None = None
    store_sources: bool = True


@dataclass(frozen=True, slots=True)
class MemoryScope:
    """Which stored memories to pull into the compilation; None means the service's default."""

    project: str | None = None
    k: int | None = None
    hops: int | None = None
    graph_boost: float | None = None


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """``compile_context``: fragments to fit into ``token_budget`` tokens for ``query``."""

    query: str
    fragments: tuple[Fragment, ...]
    token_budget: int
    project: str | None = None
    target_model: str | None = None
    memory_scope: MemoryScope | None = None
    policy: Policy = Policy()


@dataclass(frozen=True, slots=True)
class PulledMemory:
    """A stored memory that ``memory_scope`` recalled; ``score`` is its similarity."""

    memory_id: int
    content: str
    score: float = 0.0
    confidence: float = INITIAL_CONFIDENCE
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SegmentationPolicy:
    """How to cut a transcript into turns and segments."""

    format: Format = "auto"
    min_segment_bytes: int = DEFAULT_SEGMENT_BYTES
    cache_system_turn: bool = True


@dataclass(frozen=True, slots=True)
class TranscriptRequest:
    """``compile_transcript``: exactly one of ``transcript`` and ``path``."""

    query: str
    token_budget: int
    transcript: str | None = None
    path: str | None = None
    project: str | None = None
    target_model: str | None = None
    policy: Policy = Policy()
    segmentation: SegmentationPolicy = SegmentationPolicy()


# The answer


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one fragment, and why. ``handle`` gives back what is not in the content."""

    fragment_id: int
    content_hash: int
    action: Action
    rule_id: str
    relevance: float
    risk: Risk
    reason: str
    memory_id: int | None = None
    handle: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of the content; all sections in order concatenate to it."""

    kind: SectionKind
    content: str
    fragment_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SourceRef:
    """A distinct fragment and the handle of its exact original bytes."""

    fragment_id: int
    handle: str
    memory_id: int | None = None


@dataclass(frozen=True, slots=True)
class RetrievalHandle:
    """A fragment that is not, or not wholly, in the content; tokens are of the whole."""

    handle: str
    fragment_id: int
    estimated_tokens: int


@dataclass(frozen=True, slots=True)
class ContextWarning:
    """A relevant fragment that is only there by its handle."""

    fragment_id: int
    action: Action
    relevance: float
    reason: str


@dataclass(frozen=True, slots=True)
class Insights:
    """Tokens before and after; ``tokens_saved_by_rule`` sums to ``tokens_saved``.

    The cost is in millionths of ``currency``, rounded down; the last three are None
    without a price for the target model.
    """

    tokens_in: int
    tokens_out: int
    tokens_saved: int
    tokens_saved_by_rule: Mapping[str, int]
    estimated_cost_saved_micros: int | None = None
    currency: str | None = None
    pricing_version: str | None = None


@dataclass(frozen=True, slots=True)
class CompiledContext:
    """The answer of ``compile_context``. ``decisions`` has one entry a fragment, in input
    order, pulled memories after them.

    With ``slim_response`` decisions and sections are left out.
    """

    content: str
    sections: tuple[Section, ...]
    decisions: tuple[Decision, ...]
    sources: tuple[SourceRef, ...]
    retrieval_handles: tuple[RetrievalHandle, ...]
    insights: Insights
    risk: Risk
    warnings: tuple[ContextWarning, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """The exact bytes behind a handle: UTF-8 text, or decoded media of type ``mime``."""

    id: int
    data: bytes
    mime: str | None = None


@dataclass(frozen=True, slots=True)
class Compilation:
    """An answer together with the sources its handles refer to, each once."""

    context: CompiledContext
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """One fragment of a transcript: bytes ``[byte_start, byte_end)`` of it."""

    index: int
    turn: int
    kind: SegmentKind
    byte_start: int
    byte_end: int
    fragment_id: int
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Segmentation:
    """How a transcript was cut; the segments' ranges partition its bytes."""

    format_detected: Format
    segments: tuple[Segment, ...]
    merged_segments: int


@dataclass(frozen=True, slots=True)
class TranscriptCompilation:
    """``compile_transcript``: the compilation, and the audit trail of its cutting."""

    compilation: Compilation
    segmentation: Segmentation
