"""The arguments of the context tools: one model a tool, its fields the tool's slots.

Models turn themselves into what the compiler is asked; whether that makes sense is the
compiler's business.
"""

from pydantic import Field

from veles_core.context import model
from veles_core.limits import (
    DEFAULT_CHUNK_BYTES,
    DEFAULT_CONFIDENCE_WEIGHT,
    DEFAULT_FUSED_HOPS,
    DEFAULT_GRAPH_BOOST,
    DEFAULT_RECALL_LIMIT,
    DEFAULT_RECENCY_WEIGHT,
    DEFAULT_SEGMENT_BYTES,
    MAX_FRAGMENTS,
    MAX_TOKEN_BUDGET,
)
from veles_core.wire.arguments import Arguments
from veles_core.wire.slots import (
    Boolean,
    Byte,
    Id,
    Items,
    JsonObject,
    Named,
    Natural,
    Number,
    Text,
    untold,
)

# What a compilation is made of


class Media(Arguments):
    mime: Text = Field(description="Media type, e.g. image/png.")
    bytes_b64: Text = Field(description="The bytes in canonical base64, at most 1 MiB decoded.")


class Fragment(Arguments):
    content: Text = Field(default="", description="The text itself, at most 1 MiB.")
    path: Text | None = Field(
        default=None,
        description="Absolute path of a UTF-8 file to read instead, below one of the directories "
        "that the server may read.",
    )
    media: Media | None = Field(default=None, description="An inline image instead of text.")
    id: Id | None = Field(
        default=None,
        description="Your own id for it, a decimal string; omit for one of its content.",
    )
    kind: Text | None = Field(
        default=None,
        description="code is never cut by a rule, log has its repeated lines collapsed, a later "
        "screenshot of the same metadata.target supersedes an earlier one; else omit.",
    )
    priority: Byte = untold(0, "Packed the earlier, the higher it is, 0 to 255; default 0.")
    metadata: JsonObject | None = Field(
        default=None,
        description="verbatim: true forbids shortening; cache: true puts it into the stable "
        "prefix that a provider's prompt cache can reuse.",
    )

    def asked(self) -> model.Fragment:
        media = self.media
        return model.Fragment(
            content=self.content,
            id=self.id,
            path=self.path,
            kind=self.kind,
            priority=self.priority,
            metadata=self.metadata or {},
            media=None if media is None else model.Media(media.mime, media.bytes_b64),
        )


class ChunkPolicy(Arguments):
    boundary: model.Boundary = Field(default="paragraph", description="Where a cut may be made.")
    max_chunk_bytes: Natural = Field(
        default=DEFAULT_CHUNK_BYTES,
        description="Most bytes of a piece; never under 256.",
    )
    overlap_bytes: Natural = Field(default=0, description="Bytes that neighbouring pieces share.")


class Importance(Arguments):
    confidence: Number = Field(
        default=DEFAULT_CONFIDENCE_WEIGHT,
        description="Weight of the confidence that feedback taught.",
    )
    recency: Number = Field(default=DEFAULT_RECENCY_WEIGHT, description="Weight of a recent date.")
    recency_field: Text | None = Field(
        default=None,
        description="Metadata key of the YYYYMMDD date, e.g. _veles_date.",
    )


class ModelPrice(Arguments):
    input_micros_per_million_tokens: Natural = Field(
        description="Price of a million input tokens in millionths of the currency unit."
    )


class Pricing(Arguments):
    version: Text = Field(description="Name of this price table, echoed in insights.")
    currency: Text = Field(description="Currency, e.g. USD.")
    models: Named[ModelPrice] = Field(description="Price by model name, as in target_model.")

    def asked(self) -> model.Pricing:
        prices = {
            name: model.ModelPrice(each.input_micros_per_million_tokens)
            for name, each in self.models.items()
        }
        return model.Pricing(self.version, self.currency, prices)


class Policy(Arguments):
    chunk: ChunkPolicy = Field(
        default=ChunkPolicy(),
        description="How a fragment that doesn't fit may be cut.",
    )
    disabled_rules: Items[Text] = Field(
        default=(),
        description="Rules to leave out, by the rule_id that decisions name.",
    )
    event_ttl_seconds: Natural | None = Field(
        default=None,
        description="Seconds until this call drops out of context_savings; omit for never.",
    )
    ids_as_strings: Boolean = Field(
        default=False,
        description="Answer every id as a decimal string. Set it if your client reads numbers as "
        "doubles: ids exceed 2^53.",
    )
    importance: Importance = Field(
        default=Importance(),
        description="What ranks the memories that memory_scope pulls, when packing.",
    )
    near_dup_dedup: Boolean = Field(
        default=True,
        description="Drop what differs from another fragment in case and spacing only.",
    )
    normalize_log_timestamps: Boolean = Field(
        default=False,
        description="Collapse log lines that differ in their leading time stamp only.",
    )
    pricing: Pricing | None = Field(
        default=None,
        description="Prices, to have the saving in money.",
    )
    record_events: Boolean = Field(default=True, description="Count this call in context_savings.")
    response_reserve_tokens: Natural = Field(
        default=0,
        description="Tokens of the budget to leave free for the model's response.",
    )
    slim_response: Boolean = Field(default=False, description="Leave out decisions and sections.")
    source_ttl_seconds: Natural | None = Field(
        default=None,
        description="Seconds for which handles can be retrieved; omit for always.",
    )
    store_sources: Boolean = Field(
        default=True,
        description="Keep the originals, so that handles can be retrieved.",
    )

    def asked(self) -> model.Policy:
        parts = dict(self)
        parts |= {
            "chunk": model.ChunkPolicy(**dict(self.chunk)),
            "importance": model.Importance(**dict(self.importance)),
            "pricing": self.pricing and self.pricing.asked(),
        }
        return model.Policy(**parts)


class TranscriptPolicy(Policy):
    normalize_log_timestamps: Boolean = Field(
        default=True,
        description="Collapse log lines that differ in their leading time stamp only.",
    )


class MemoryScope(Arguments):
    project: Text | None = Field(
        default=None,
        description="Only memories of this project; default the request's own project.",
    )
    k: Natural | None = Field(
        default=None, description=f"Memories to pull; default {DEFAULT_RECALL_LIMIT}."
    )
    hops: Natural | None = Field(
        default=None,
        description=f"Links followed from the best one; default {DEFAULT_FUSED_HOPS}.",
    )
    graph_boost: Number | None = Field(
        default=None,
        description=f"Weight added to what the links reach; default {DEFAULT_GRAPH_BOOST}.",
    )


class Segmentation(Arguments):
    format: model.Format = untold(
        "auto",
        "plain: turns begin with markers such as User: or ### Assistant. jsonl: one object with "
        "role and content a line. auto (default) tells which.",
    )
    min_segment_bytes: Natural = Field(
        default=DEFAULT_SEGMENT_BYTES,
        description="Smaller segments of one turn and kind are joined with the next.",
    )
    cache_system_turn: Boolean = Field(
        default=True,
        description="Put a leading system turn into the stable prefix.",
    )


class Compilation(Arguments):
    query: Text = Field(
        description="What the agent is working on: the words that make a fragment relevant."
    )
    token_budget: Natural = Field(
        description=f"Most tokens of the assembled content, at most {MAX_TOKEN_BUDGET}. "
        "suggest_budget knows the windows of models."
    )
    project: Text | None = Field(
        default=None,
        description="Facet for context_savings and for the memories that are pulled.",
    )
    target_model: Text | None = Field(
        default=None,
        description="Model that will read the content; selects its row in policy.pricing.",
    )


# The tools


class CompileContext(Compilation):
    fragments: Items[Fragment] = Field(
        description=f"What may go into the prompt, at most {MAX_FRAGMENTS} pieces. Each has "
        "exactly one of content, path and media."
    )
    memory_scope: MemoryScope | None = Field(
        default=None,
        description="Pull relevant stored memories in too; {} takes the defaults.",
    )
    policy: Policy = untold(Policy(), "How to compile; omit for the defaults.")

    def asked(self) -> model.CompileRequest:
        scope = self.memory_scope
        return model.CompileRequest(
            query=self.query,
            fragments=tuple(fragment.asked() for fragment in self.fragments),
            token_budget=self.token_budget,
            project=self.project,
            target_model=self.target_model,
            memory_scope=model.MemoryScope(**dict(scope)) if scope else None,
            policy=self.policy.asked(),
        )


class CompileTranscript(Compilation):
    transcript: Text | None = Field(
        default=None,
        description="The transcript itself; or give path. At most 8 MiB.",
    )
    path: Text | None = Field(
        default=None,
        description="Absolute path of its file, below one of the directories that the server may "
        "read.",
    )
    policy: TranscriptPolicy = untold(TranscriptPolicy(), "How to compile; omit for the defaults.")
    segmentation: Segmentation = untold(Segmentation(), "How to cut the transcript into segments.")

    def asked(self) -> model.TranscriptRequest:
        return model.TranscriptRequest(
            query=self.query,
            token_budget=self.token_budget,
            transcript=self.transcript,
            path=self.path,
            project=self.project,
            target_model=self.target_model,
            policy=self.policy.asked(),
            segmentation=model.SegmentationPolicy(**dict(self.segmentation)),
        )


class ExplainCompilation(Arguments):
    request: CompileContext = Field(description="The request of compile_context, unchanged.")
    fragment_id: Id = Field(
        description="The fragment_id of a decision or handle of that compilation, as a string."
    )
    fragment_index: Natural | None = Field(
        default=None,
        description="Position in request.fragments from 0, instead of fragment_id: tells apart "
        "fragments of equal content.",
    )


class RetrieveContextSource(Arguments):
    handle: Text = Field(description="A ctx://source/… handle of a compiled context, unchanged.")


class ContextSavings(Arguments):
    project: Text | None = Field(
        default=None,
        description="Only what was compiled for this project.",
    )


class SuggestBudget(Arguments):
    target_model: Text = Field(description="The model's name, with or without provider and date.")
    reserve_tokens: Natural = untold(0, "Tokens to leave free for the response; default 0.")
