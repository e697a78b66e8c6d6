"""Every refusal of a compile request, before anything is counted.

Types are the wire's business; here are the limits, the combinations and the values that
a Python caller can get wrong as well. Nothing is changed: a request passes or is refused.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, Final, get_args

from veles_core.context.classify import RULES
from veles_core.context.model import (
    Boundary,
    ChunkPolicy,
    CompileRequest,
    Format,
    Fragment,
    Importance,
    Media,
    MemoryScope,
    Policy,
    Pricing,
    SegmentationPolicy,
    TranscriptRequest,
)
from veles_core.errors import ContextOverLimit, InvalidInput
from veles_core.limits import (
    MAX_FACT_BYTES,
    MAX_FRAGMENTS,
    MAX_METADATA_BYTES,
    MAX_QUERY_BYTES,
    MAX_TOKEN_BUDGET,
    MAX_TRANSCRIPT_BYTES,
    MAX_TTL_SECONDS,
)

MAX_PRIORITY: Final = 255
MAX_MIME: Final = 255  # characters
_RULE_IDS: Final = tuple(rule.id for rule in RULES)


def check_request(request: CompileRequest) -> None:
    """Refuse a compile request that breaks a limit. Raises InvalidInput or ContextOverLimit.

    Fragments may still be paths.
    """
    if len(request.fragments) > MAX_FRAGMENTS:
        raise ContextOverLimit(
            f"{len(request.fragments)} fragments are over the limit of {MAX_FRAGMENTS}: "
            "join small ones, or compile in several calls",
            field="fragments",
            limit=MAX_FRAGMENTS,
            actual=len(request.fragments),
        )
    _check_task(request)
    _check_scope(request.memory_scope)
    for index, fragment in enumerate(request.fragments):
        _check_fragment(fragment, f"fragments[{index}]")


def check_no_paths(request: CompileRequest) -> None:
    """Refuse a request with a path that has not become content."""
    for index, fragment in enumerate(request.fragments):
        if fragment.path is not None:
            field = f"fragments[{index}].path"
            raise InvalidInput(f"{field}: the compiler reads no files", field=field)


def check_transcript(request: TranscriptRequest) -> str:
    """Refuse a transcript request that breaks a limit; the transcript to compile."""
    check_one_transcript(request)
    _check_task(request)
    _check_segmentation(request.segmentation)
    transcript = request.transcript
    if transcript is None:
        raise InvalidInput("path: the compiler reads no files", field="path")
    _check_size(transcript, "transcript", MAX_TRANSCRIPT_BYTES, "compile it in parts")
    return transcript


def check_one_transcript(request: TranscriptRequest) -> None:
    """Refuse a request that doesn't hold exactly one of a transcript and a path."""
    if bool(request.transcript) == (request.path is not None):
        raise InvalidInput(
            "give exactly one of a non-empty transcript and a path", field="transcript"
        )


def check_one_payload(fragment: Fragment, field: str) -> None:
    """Refuse a fragment that doesn't hold exactly one of path, non-empty content and media."""
    given = (fragment.path is not None) + bool(fragment.content) + (fragment.media is not None)
    if given != 1:
        raise InvalidInput(
            f"{field} holds {given} of path, non-empty content and media: give exactly one",
            field=field,
            limit=1,
            actual=given,
        )


def usable_budget(request: CompileRequest | TranscriptRequest) -> int:
    """The tokens that the content may take: the clamped budget less the reserve.

    Raises InvalidInput if nothing is left of it.
    """
    reserve = request.policy.response_reserve_tokens
    usable = min(request.token_budget, MAX_TOKEN_BUDGET) - reserve
    if usable <= 0:
        raise InvalidInput(
            f"token_budget {request.token_budget} less response_reserve_tokens {reserve} "
            "leaves no room for context: raise the one or lower the other",
            field="token_budget",
            limit=MAX_TOKEN_BUDGET,
            actual=request.token_budget,
        )
    return usable


def _check_task(request: CompileRequest | TranscriptRequest) -> None:
    _check_size(request.query, "query", MAX_QUERY_BYTES, "shorten it")
    for name in ("project", "target_model"):
        _check_size(getattr(request, name) or "", name, MAX_METADATA_BYTES, "shorten it")
    _check_whole(request.token_budget, "token_budget")
    _check_policy(request.policy)
    usable_budget(request)


def _check_fragment(fragment: Fragment, field: str) -> None:
    check_one_payload(fragment, field)
    _check_whole(fragment.priority, f"{field}.priority", MAX_PRIORITY)
    if len(fragment.content) > MAX_FACT_BYTES or not fragment.content.isascii():
        _check_size(fragment.content, f"{field}.content", MAX_FACT_BYTES, "split it")
    if fragment.media is not None:
        _check_media(fragment.media, f"{field}.media")
    if fragment.metadata:
        _check_metadata(fragment.metadata, f"{field}.metadata")


def _check_media(media: Media, field: str) -> None:
    mime = media.mime
    if not 0 < len(mime) <= MAX_MIME or not (mime.isascii() and mime.isprintable()):
        raise InvalidInput(
            f"{field}.mime {mime!r:.60} is no media type: it is 1 to {MAX_MIME} printable ASCII "
            "characters such as image/png",
            field=f"{field}.mime",
            limit=MAX_MIME,
            actual=len(mime),
        )
    size = len(media.bytes_b64) // 4 * 3  # give or take the padding
    if size > MAX_FACT_BYTES + 2:
        raise _over_limit(f"{field}.bytes_b64", size, MAX_FACT_BYTES, "scale it down")


def _check_metadata(metadata: Mapping[str, Any], field: str) -> None:
    try:
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(f"{field} is not a plain JSON object", field=field) from None
    if size > MAX_METADATA_BYTES:
        raise _over_limit(field, size, MAX_METADATA_BYTES, "move content into content")


def _check_policy(policy: Policy) -> None:
    unknown = sorted(set(policy.disabled_rules) - set(_RULE_IDS))
    if unknown:
        raise InvalidInput(
            f"policy.disabled_rules names an unknown rule {unknown[0][:60]!r}; the rules are "
            + ", ".join(_RULE_IDS),
            field="policy.disabled_rules",
            actual=unknown[0][:60],
        )
    _check_whole(policy.response_reserve_tokens, "policy.response_reserve_tokens")
    for name in ("event_ttl_seconds", "source_ttl_seconds"):
        seconds = getattr(policy, name)
        if seconds is not None:
            _check_whole(seconds, f"policy.{name}", MAX_TTL_SECONDS)
    _check_chunk(policy.chunk)
    _check_importance(policy.importance)
    if policy.pricing is not None:
        _check_pricing(policy.pricing)


def _check_chunk(chunk: ChunkPolicy) -> None:
    _check_choice(chunk.boundary, get_args(Boundary), "policy.chunk.boundary")
    _check_whole(chunk.max_chunk_bytes, "policy.chunk.max_chunk_bytes")
    _check_whole(chunk.overlap_bytes, "policy.chunk.overlap_bytes")


def _check_importance(importance: Importance) -> None:
    _check_finite(importance.confidence, "policy.importance.confidence")
    _check_finite(importance.recency, "policy.importance.recency")


def _check_pricing(pricing: Pricing) -> None:
    for model, price in pricing.models.items():
        field = f"policy.pricing.models[{model[:60]!r}].input_micros_per_million_tokens"
        _check_whole(price.input_micros_per_million_tokens, field)
    for name in ("version", "currency"):
        _check_size(getattr(pricing, name), f"policy.pricing.{name}", 256, "shorten it")


def _check_scope(scope: MemoryScope | None) -> None:
    if scope is None:
        return
    for name in ("k", "hops"):
        if getattr(scope, name) is not None:
            _check_whole(getattr(scope, name), f"memory_scope.{name}")
    if scope.graph_boost is not None:
        _check_finite(scope.graph_boost, "memory_scope.graph_boost")


def _check_segmentation(segmentation: SegmentationPolicy) -> None:
    _check_choice(segmentation.format, get_args(Format), "segmentation.format")
    _check_whole(segmentation.min_segment_bytes, "segmentation.min_segment_bytes")


def _check_whole(value: int, field: str, limit: int | None = None) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{field} must be an integer, not {value!r:.60}", field=field)
    if value < 0 or (limit is not None and value > limit):
        span = "0 or more" if limit is None else f"from 0 to {limit}"
        raise InvalidInput(
            f"{field} {value} is out of range: it must be {span}",
            field=field,
            limit=0 if limit is None or value < 0 else limit,
            actual=value,
        )


def _check_finite(value: float, field: str) -> None:
    if not math.isfinite(value):
        raise InvalidInput(f"{field} must be a finite number, not {value}", field=field)


def _check_choice(value: str, choices: tuple[str, ...], field: str) -> None:
    if value not in choices:
        raise InvalidInput(
            f"{field} {value!r:.60} is unknown: it is one of {', '.join(choices)}",
            field=field,
            actual=f"{value!s:.60}",
        )


def _check_size(text: str, field: str, limit: int, way_out: str) -> None:
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInput(
            f"{field} holds half of a surrogate pair, which is no character", field=field
        ) from None
    if size > limit:
        raise _over_limit(field, size, limit, way_out)


def _over_limit(field: str, size: int, limit: int, way_out: str) -> ContextOverLimit:
    return ContextOverLimit(
        f"{field} is {size} bytes, over the limit of {limit}: {way_out}",
        field=field,
        limit=limit,
        actual=size,
    )
