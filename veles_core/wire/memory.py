"""The arguments of the memory tools: one model a tool, its fields the tool's slots."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from veles_core.limits import (
    DEFAULT_FUSED_HOPS,
    DEFAULT_GRAPH_BOOST,
    DEFAULT_LIST_LIMIT,
    DEFAULT_RECALL_LIMIT,
    DEFAULT_WHY_HOPS,
    MAX_EMBEDDABLE_TEXT_BYTES,
    MAX_IDEMPOTENCY_KEY_BYTES,
    MAX_LIST_LIMIT,
    MAX_RECALL_LIMIT,
    MAX_WHY_HOPS,
)
from veles_core.records import Op
from veles_core.wire.arguments import Arguments
from veles_core.wire.slots import (
    Boolean,
    Id,
    Items,
    JsonObject,
    Natural,
    Number,
    Scalar,
    Text,
    untold,
)


class Link(Arguments):
    target: Id = Field(description="The memory linked to: its id_str, as a string.")
    relation: Text = Field(
        description="Label read from the new fact to the target, e.g. caused_by, decided_in."
    )


class Remember(Arguments):
    fact: Text = Field(
        description=f"One self-contained statement, at most {MAX_EMBEDDABLE_TEXT_BYTES} bytes. "
        "The same text again is the same memory, updated in place."
    )
    links: Items[Link] = untold(
        (),
        "Typed edges from this fact to existing memories. Point a decision at its causes and "
        "evidence: why() follows outgoing links only.",
    )
    metadata: JsonObject | None = Field(
        None,
        description="Flat keys to filter by later, e.g. project, author, status. Today's date is "
        "added as _veles_date; set that key (YYYYMMDD integer) to date a fact in the past.",
    )
    ttl_seconds: Natural | None = Field(
        None, description="Seconds until the fact expires by itself; omit for a permanent fact."
    )


class Filtered(Arguments):
    filter: JsonObject | None = Field(
        None,
        description="Only facts whose metadata equals every given key, type included, e.g. "
        '{"project": "checkout"}. Applied before the search, so nothing that matches is missed.',
    )


class Ranked(Arguments):
    deprecated: ClassVar[Mapping[str, str]] = {"limit": "k"}

    query: Text = Field(description="What you want to know, in natural language.")
    k: Natural = untold(
        DEFAULT_RECALL_LIMIT,
        f"How many memories to return; default {DEFAULT_RECALL_LIMIT}, at most {MAX_RECALL_LIMIT}.",
    )


class Recall(Ranked, Filtered):
    pass


class Comparison(Arguments):
    field: Text = Field(description="A metadata key, e.g. _veles_date.")
    op: Op = Field(description="Comparison; ne also matches facts without the field.")
    value: Scalar = Field(
        description='Compared strictly by type: the number 5 never matches the string "5".'
    )


class RecallWhere(Ranked):
    filters: Items[Comparison] = Field(description="Comparisons that must all hold.")


class RecallFused(Ranked, Filtered):
    hops: Natural = untold(
        DEFAULT_FUSED_HOPS,
        f"Links followed from the best hit; default {DEFAULT_FUSED_HOPS}, at most {MAX_WHY_HOPS}.",
    )
    graph_boost: Number = untold(
        DEFAULT_GRAPH_BOOST,
        f"Weight added to a fact that the links reach; default {DEFAULT_GRAPH_BOOST}.",
    )
    pool: Natural | None = Field(
        None,
        description="Candidates re-ranked before the cut to k; default max(8k, 64), at most "
        f"{MAX_RECALL_LIMIT}.",
    )
    date_field: Text | None = Field(
        None,
        description="Metadata key of each fact's YYYYMMDD date, e.g. _veles_date; adds a timeline "
        "as dated_context and its latest date as now.",
    )


class Relate(Arguments):
    source: Id = Field(alias="from", description="The memory you will later ask why about.")
    target: Id = Field(alias="to", description="Its evidence, cause or source.")
    relation: Text = Field(
        description="Label read as: from relation to, e.g. caused_by, depends_on, supersedes."
    )


class Unrelate(Arguments):
    source: Id = Field(alias="from", description="Where the link points from, as given to relate.")
    target: Id = Field(alias="to", description="Where the link points to.")
    relation: Text = Field(description="The link's label.")


class Forget(Arguments):
    id: Id = Field(description="The memory to delete: its id_str, as a string.")


class Feedback(Arguments):
    id: Id = Field(description="The recalled memory: its id_str, as a string.")
    success: Boolean = Field(description="true: the fact helped; false: it was noise.")


class Why(Arguments):
    decision: Text = Field(description="The decision or fact to explain, in natural language.")
    max_hops: Natural = untold(
        DEFAULT_WHY_HOPS,
        f"Links followed from it; default {DEFAULT_WHY_HOPS}, at most {MAX_WHY_HOPS}.",
    )
    filter: JsonObject | None = Field(
        None, description='Only explain a fact with this metadata, e.g. {"project": "checkout"}.'
    )


class MemoryStatus(Arguments):
    pass


class ListMemories(Filtered):
    cursor: Id | None = Field(
        None, description="next_cursor of the previous page; omit to start the walk."
    )
    limit: Natural = untold(
        DEFAULT_LIST_LIMIT,
        f"Memories a page; default {DEFAULT_LIST_LIMIT}, at most {MAX_LIST_LIMIT}.",
    )
    include_internal: Boolean = untold(
        False, "Also list entity hubs and reserved _veles_ keys; default false."
    )


class Entity(Arguments):
    name: Text = Field(description="The entity's name; case and spacing don't matter.")


class RememberExtracted(Arguments):
    text: Text = Field(description="The passage to extract facts from, at most 1 MiB.")
    metadata: JsonObject | None = Field(None, description="Metadata given to every extracted fact.")
    extractor: Text | None = Field(
        None,
        description="outline (always there, no model) or the name of the configured extractor; "
        "omit for the server's default.",
    )
    idempotency_key: Text | None = Field(
        None,
        description="Key under which a retry finds its first job, at most "
        f"{MAX_IDEMPOTENCY_KEY_BYTES} bytes.",
    )


class ExtractionStatus(Arguments):
    request_id: Text = Field(description="The request_id of remember_extracted's receipt.")
