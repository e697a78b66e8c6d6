"""What the service's verbs answer: frozen, typed, one record a verb.

The wire layer turns each into the JSON of the tool of the same name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from veles_core.context.model import CompiledContext, Media, Segmentation
from veles_core.records import Counts, Edge, EmbeddingIdentity


@dataclass(frozen=True, slots=True)
class Link:
    """An edge to create together with a fact: fact *relation* target."""

    target: int
    relation: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """``remember``: the fact's id, derived from its content."""

    id: int


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered fact as a caller may see it; ``score`` is the raw cosine similarity."""

    id: int
    content: str
    metadata: Mapping[str, Any]
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Recalled:
    """``recall`` and ``recall_where``: memories, best first."""

    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class FusedRecall:
    """``recall_fused``: memories, best first, and their dated rendering if any has a date."""

    memories: tuple[Memory, ...]
    dated_context: str | None = None
    now: str | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """``relate``: the edge's id, derived from (from, relation, to)."""

    edge_id: int


@dataclass(frozen=True, slots=True)
class Unrelated:
    """``unrelate``: whether the edge was there, and how many were removed."""

    found: bool
    removed: int


@dataclass(frozen=True, slots=True)
class Forgotten:
    """``forget``: whether anything was stored under the id."""

    id: int
    found: bool


@dataclass(frozen=True, slots=True)
class Reinforced:
    """``feedback``: the fact's new learned confidence in [0, 1]."""

    id: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Node:
    """One fact or entity hub on a walk, ``hop`` edges from the seed."""

    id: int
    content: str
    hop: int


@dataclass(frozen=True, slots=True)
class Trail:
    """``why``: the subgraph reachable from the best-matching memory, which is hop 0."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class ExtractionHealth:
    """Whether a default extractor is configured, and how the autograph worker fares."""

    configured: bool
    autograph_active: bool = False
    autograph_dropped: int = 0
    autograph_failed: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """``memory_status``: what runs, what filled the store, and how much is there."""

    embedder: EmbeddingIdentity
    provenance: EmbeddingIdentity | None
    extraction: ExtractionHealth
    memory: Counts


@dataclass(frozen=True, slots=True)
class Page:
    """``list_memories``: one page in ascending id order; ``next_cursor`` None ends the walk."""

    memories: tuple[Memory, ...]
    next_cursor: int | None


@dataclass(frozen=True, slots=True)
class EntityRelation:
    """A typed edge of an entity and the entity at its other end, by bare name."""

    predicate: str
    id: int
    name: str


@dataclass(frozen=True, slots=True)
class EntityView:
    """``entity``: everything the graph knows about one named entity."""

    found: bool
    id: int
    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    relations: tuple[EntityRelation, ...] = ()
    relations_in: tuple[EntityRelation, ...] = ()
    relations_truncated: bool = False
    relations_in_truncated: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """``remember_extracted``: the durable job a passage was accepted under."""

    request_id: str
    state: str
    reused: bool


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """``extraction_status``: ids in extraction order once committed, or why it failed."""

    request_id: str
    state: str
    ids: tuple[int, ...] = ()
    skipped_over_cap: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """One resumable session; ``saved_at`` is Unix seconds."""

    session: str
    saved_at: int


@dataclass(frozen=True, slots=True)
class LoadedContext:
    """``load_working_context``: the saved state, or None and the sessions there are."""

    found: bool
    working: Mapping[str, Any] | None
    other_sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RetrievedSource:
    """``retrieve_context_source``: the exact original; ``content`` is empty for media."""

    handle: str
    content: str
    media: Media | None = None


@dataclass(frozen=True, slots=True)
class Savings:
    """``context_savings``: what compilations saved; cost in millionths of each currency."""

    events: int
    tokens_in: int
    tokens_out: int
    tokens_saved: int
    cost_saved_micros_by_currency: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CompiledTranscript:
    """``compile_transcript``: the compiled context, and how the transcript was cut."""

    context: CompiledContext
    segmentation: Segmentation
