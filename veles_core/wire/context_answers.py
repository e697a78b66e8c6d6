"""The answers of the context tools: the JSON a client sees, one shape a tool.

Ids of a compilation are numbers, or decimal strings if the request's
``policy.ids_as_strings`` asked for them.
"""

from typing import Annotated, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from veles_core.context.model import Action, Format, Risk, SectionKind, SegmentKind

Count = Annotated[int, Field(ge=0)]
AnyId = Annotated[int | str, WithJsonSchema({"type": ["integer", "string"], "minimum": 0})]


class Section(TypedDict):
    kind: SectionKind
    content: str
    fragment_ids: list[AnyId]


class Decision(TypedDict):
    fragment_id: AnyId
    memory_id: AnyId | None
    action: Action
    rule_id: str
    reason: str
    relevance: float
    risk: Risk
    content_hash: AnyId
    handle: NotRequired[str | None]


class Source(TypedDict):
    fragment_id: AnyId
    handle: str
    memory_id: NotRequired[AnyId | None]


class Handle(TypedDict):
    handle: str
    fragment_id: AnyId
    estimated_tokens: Count


class ContextWarning(TypedDict):
    fragment_id: AnyId
    action: Action
    relevance: float
    reason: str


class Insights(TypedDict):
    tokens_in: Count
    tokens_out: Count
    tokens_saved: Count
    tokens_saved_by_rule: dict[str, Count]
    estimated_cost_saved_micros: Count | None
    currency: str | None
    pricing_version: str | None


class Compiled(TypedDict):
    content: str
    sections: list[Section]
    decisions: list[Decision]
    sources: list[Source]
    retrieval_handles: list[Handle]
    insights: Insights
    risk: Risk
    warnings: list[ContextWarning]


class Segment(TypedDict):
    index: Count
    turn: Count
    role: str | None
    kind: SegmentKind
    byte_start: Count
    byte_end: Count
    fragment_id: AnyId


class Segmentation(TypedDict):
    format_detected: Format
    segments: list[Segment]
    merged_segments: Count


class CompiledTranscript(TypedDict):
    context: Compiled
    segmentation: Segmentation


class Media(TypedDict):
    mime: str
    bytes_b64: str


class Retrieved(TypedDict):
    handle: str
    content: str
    media: NotRequired[Media | None]


class Savings(TypedDict):
    events: Count
    tokens_in: Count
    tokens_out: Count
    tokens_saved: Count
    cost_saved_micros_by_currency: dict[str, Count]
    truncated: bool


class Suggestion(TypedDict):
    window: Count | None
    suggested_budget: Count | None
    source: str
