"""The answers of the memory tools: the JSON a client sees, one shape a tool.

Ids run to 2^64-1 and are rounded by clients that read numbers as doubles, so each comes
with its decimal string.
"""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

Count = Annotated[int, Field(ge=0)]
Object = dict[str, Any]


class Remembered(TypedDict):
    id: Count
    id_str: str


class Listed(TypedDict):
    id: Count
    id_str: str
    content: str
    metadata: NotRequired[Object | None]


class Recalled(TypedDict):
    id: Count
    id_str: str
    score: float
    content: str
    metadata: NotRequired[Object | None]


class Memories(TypedDict):
    memories: list[Recalled]


class FusedMemories(Memories):
    dated_context: NotRequired[str | None]
    now: NotRequired[str | None]


class Related(TypedDict):
    edge_id: Count
    edge_id_str: str


class Unrelated(TypedDict):
    found: bool
    removed: Count


class Forgotten(TypedDict):
    id: Count
    id_str: str
    found: bool


class Reinforced(TypedDict):
    id: Count
    id_str: str
    confidence: float


class Node(TypedDict):
    id: Count
    id_str: str
    content: str
    hop: Count


Edge = TypedDict(
    "Edge", {"from": Count, "from_str": str, "to": Count, "to_str": str, "relation": str}
)


class Trail(TypedDict):
    nodes: list[Node]
    edges: list[Edge]
    truncated: bool


class RunningEmbedder(TypedDict):
    model: str | None
    dimension: Count | None
    semantic: bool | None


class Provenance(TypedDict):
    recorded: bool
    model: str | None
    dimension: Count | None


class Extraction(TypedDict):
    configured: bool
    autograph_active: bool
    autograph_dropped: Count
    autograph_failed: Count


class Corpus(TypedDict):
    facts: Count
    edges: Count | None


class Status(TypedDict):
    embedder: RunningEmbedder
    provenance: Provenance
    extraction: Extraction
    memory: Corpus


class Page(TypedDict):
    memories: list[Listed]
    next_cursor: str | None


class OutgoingRelation(TypedDict):
    predicate: str
    target: str
    target_id: Count
    target_id_str: str


class IncomingRelation(TypedDict):
    predicate: str
    source: str
    source_id: Count
    source_id_str: str


class EntityView(TypedDict):
    found: bool
    id: Count
    id_str: str
    name: str
    attributes: Object
    relations: list[OutgoingRelation]
    relations_in: list[IncomingRelation]
    relations_truncated: bool
    relations_in_truncated: bool


class Receipt(TypedDict):
    request_id: str
    state: str
    reused: bool


class ExtractionResult(TypedDict):
    request_id: str
    state: str
    ids: list[Count]
    ids_str: list[str]
    skipped_over_cap: Count | None
    error: str | None
