"""Every limit of a compile request: refused with its field, its size, its limit."""

import base64
import math

import pytest

from veles_core.context.compile import compile_context, compile_transcript
from veles_core.context.model import (
    ChunkPolicy,
    CompileRequest,
    Fragment,
    Importance,
    Media,
    MemoryScope,
    ModelPrice,
    Policy,
    Pricing,
    SegmentationPolicy,
    TranscriptRequest,
)
from veles_core.context.validate import check_request
from veles_core.errors import ContextOverLimit, InvalidInput


class Bytes:
    def count(self, text):
        return len(text.encode())


def request(*fragments, budget=100, query="q", **options):
    return CompileRequest(query, fragments, budget, **options)


def refused(request, kind=InvalidInput):
    compile_it = compile_context if isinstance(request, CompileRequest) else compile_transcript
    with pytest.raises(InvalidInput) as caught:
        compile_it(request, Bytes())
    assert type(caught.value) is kind
    return caught.value


MEDIA = Media("image/png", base64.b64encode(b"x").decode())
MIB = 1 << 20


@pytest.mark.parametrize(
    "fragment",
    [
        Fragment(),
        Fragment(""),
        Fragment("x", media=MEDIA),
        Fragment("x", path="/x"),
        Fragment(path="/x", media=MEDIA),
        Fragment("x", path="/x", media=MEDIA),
    ],
)
def test_exactly_one_of_path_content_and_media(fragment):
    error = refused(request(Fragment("fine"), fragment))
    assert error.field == "fragments[1]"
    assert "exactly one" in error.message
    assert error.limit == 1


def test_whitespace_is_content():
    assert compile_context(request(Fragment("  ")), Bytes()).context.content == "  "


def test_a_path_is_valid_but_the_compiler_reads_no_files():
    check_request(request(Fragment(path="/etc/passwd")))
    assert refused(request(Fragment(path="/etc/passwd"))).field == "fragments[0].path"
    assert refused(TranscriptRequest("q", 9, path="/etc/passwd")).field == "path"


@pytest.mark.parametrize(
    ("bad", "field", "limit", "actual"),
    [
        (request(*[Fragment("x")] * 1025), "fragments", 1024, 1025),
        (request(Fragment("x" * (MIB + 1))), "fragments[0].content", MIB, MIB + 1),
        (request(Fragment("é" * (MIB // 2 + 1))), "fragments[0].content", MIB, MIB + 2),
        (
            request(Fragment(media=Media("image/png", "A" * (4 * MIB // 3 + 16)))),
            "fragments[0].media.bytes_b64",
            MIB,
            None,
        ),
        (
            request(Fragment("x", metadata={"k": "v" * 65_536})),
            "fragments[0].metadata",
            65_536,
            65_544,
        ),
        (request(query="x" * (MIB + 1)), "query", MIB, MIB + 1),
        (request(project="x" * 65_537), "project", 65_536, 65_537),
        (TranscriptRequest("q", 9, "x" * (8 * MIB + 1)), "transcript", 8 * MIB, 8 * MIB + 1),
        (TranscriptRequest("q", 9, "AI:\n" * 40_000), "transcript", 32_768, None),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else None,
)
def test_sizes_over_a_limit(bad, field, limit, actual):
    error = refused(bad, ContextOverLimit)
    assert (error.field, error.limit) == (field, limit)
    assert actual is None or error.actual == actual
    assert str(limit) in error.message


def test_sizes_at_the_limit_pass():
    fragments = [Fragment(f"{n}") for n in range(1023)]
    fragments.append(Fragment("x" * MIB, metadata={"k": "v" * (65_536 - 8)}))
    assert len(compile_context(request(*fragments), Bytes()).context.decisions) == 1024


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (request(Fragment("x", priority=256)), "fragments[0].priority"),
        (request(Fragment("x", priority=-1)), "fragments[0].priority"),
        (request(Fragment("x", priority=True)), "fragments[0].priority"),
        (request(Fragment("x", priority=1.5)), "fragments[0].priority"),
        (request(Fragment("x", id="abc")), "fragments[0].id"),
        (request(Fragment("x", id=str(2**64))), "fragments[0].id"),
        (request(Fragment("\ud800")), "fragments[0].content"),
        (request(Fragment(media=Media("image/png", "!"))), "fragments[0].media.bytes_b64"),
        (request(Fragment(media=Media("", "YQ=="))), "fragments[0].media.mime"),
        (request(Fragment(media=Media("image/png\nx", "YQ=="))), "fragments[0].media.mime"),
        (request(Fragment(media=Media("x" * 256, "YQ=="))), "fragments[0].media.mime"),
        (request(Fragment("x", metadata={"k": math.nan})), "fragments[0].metadata"),
        (request(Fragment("x", metadata={"k": object()})), "fragments[0].metadata"),
        (request(Fragment("x", metadata={"k": "\ud800"})), "fragments[0].metadata"),
        (request(query="\ud800"), "query"),
        (request(project="\udfff"), "project"),
        (request(budget=0), "token_budget"),
        (request(budget=-1), "token_budget"),
        (request(budget=True), "token_budget"),
        (request(policy=Policy(response_reserve_tokens=100)), "token_budget"),
        (request(policy=Policy(response_reserve_tokens=-1)), "policy.response_reserve_tokens"),
        (request(policy=Policy(source_ttl_seconds=-1)), "policy.source_ttl_seconds"),
        (request(policy=Policy(event_ttl_seconds=10**12)), "policy.event_ttl_seconds"),
        (request(policy=Policy(chunk=ChunkPolicy("page"))), "policy.chunk.boundary"),
        (
            request(policy=Policy(chunk=ChunkPolicy(max_chunk_bytes=-1))),
            "policy.chunk.max_chunk_bytes",
        ),
        (request(policy=Policy(chunk=ChunkPolicy(overlap_bytes=-1))), "policy.chunk.overlap_bytes"),
        (
            request(policy=Policy(importance=Importance(confidence=math.inf))),
            "policy.importance.confidence",
        ),
        (
            request(policy=Policy(importance=Importance(recency=math.nan))),
            "policy.importance.recency",
        ),
        (request(memory_scope=MemoryScope(k=-1)), "memory_scope.k"),
        (request(memory_scope=MemoryScope(hops=-1)), "memory_scope.hops"),
        (request(memory_scope=MemoryScope(graph_boost=math.nan)), "memory_scope.graph_boost"),
        (
            request(policy=Policy(pricing=Pricing("1", "EUR", {"m": ModelPrice(-1)}))),
            "policy.pricing.models['m'].input_micros_per_million_tokens",
        ),
        (TranscriptRequest("q", 9), "transcript"),
        (TranscriptRequest("q", 9, ""), "transcript"),
        (TranscriptRequest("q", 9, "x", path="/x"), "transcript"),
        (TranscriptRequest("q", 9, "\ud800"), "transcript"),
        (TranscriptRequest("q", 0, "x"), "token_budget"),
        (
            TranscriptRequest("q", 9, "x", segmentation=SegmentationPolicy("xml")),
            "segmentation.format",
        ),
        (
            TranscriptRequest("q", 9, "x", segmentation=SegmentationPolicy(min_segment_bytes=-1)),
            "segmentation.min_segment_bytes",
        ),
    ],
)
def test_malformed_values_name_their_field(bad, field):
    assert refused(bad).field == field


def test_an_unknown_rule_is_named_together_with_the_known_ones():
    error = refused(request(policy=Policy(disabled_rules=("preserve.url", "preserve.uri"))))
    assert error.field == "policy.disabled_rules"
    assert "'preserve.uri'" in error.message
    assert "preserve.default" in error.message


def test_the_budget_is_clamped_not_refused():
    policy = Policy(response_reserve_tokens=9_999_999)
    found = compile_context(request(Fragment("ab"), budget=10**12, policy=policy), Bytes())
    assert found.context.content == ""
    found = compile_context(request(Fragment("a"), budget=10**12, policy=policy), Bytes())
    assert found.context.content == "a"
