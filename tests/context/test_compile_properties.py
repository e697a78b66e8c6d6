"""What holds for every compilation, whatever the request and whatever the tokenizer."""

import base64
import os
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veles_core import ids
from veles_core.context.compile import compile_context
from veles_core.context.handles import parse_handle
from veles_core.context.item import examine
from veles_core.context.media import count_tokens
from veles_core.context.model import (
    ChunkPolicy,
    CompileRequest,
    Fragment,
    Media,
    Policy,
    PulledMemory,
)
from veles_core.context.pack import pack


class Bytes:
    """One token a byte."""

    def count(self, text):
        return len(text.encode())


class Words:
    """One token a word or sign; whitespace is free."""

    def count(self, text):
        return len(text.split())


class Blocks:
    """A token a started block of 16 characters: the whole costs less than its parts."""

    def count(self, text):
        return -(-len(text) // 16)


class Rising:
    """The longer the dearer: the whole costs far more than its parts."""

    def count(self, text):
        size = len(text)
        return size // 3 + size * size // 2000


class Joined:
    """Dear exactly where blocks are joined, with a cut of its own."""

    def count(self, text):
        return len(text) // 4 + 5 * text.count("\n\n")

    def cut(self, text, limit):
        end = 0
        while end < len(text) and self.count(text[: end + 1]) <= limit:
            end += 1
        return end


TOKENIZERS = [Bytes(), Words(), Blocks(), Rising(), Joined()]

SENTENCES = st.sampled_from(
    [
        "The canary is green and the rollout goes on. ",
        "Never deploy on Fridays. ",
        "The répertoire holds 12 files, 3 links and 7 sockets. ",
        "See https://example.com/runbook for more. ",
        "```py\nprint('x')\n```\n",
        "会議は明日です。",
        "Nothing else happened\n\n",
        "INFO poll queue\nINFO poll queue\nERROR lost lease\n",
        "🚀 launched\r\n\r\n",
        "\x00 and a NUL ",
        " ",
    ]
)
TEXTS = st.lists(SENTENCES, min_size=1, max_size=40).map("".join)
METADATA = st.fixed_dictionaries(
    {}, optional={"cache": st.booleans(), "verbatim": st.booleans(), "target": st.just("main")}
)
KINDS = st.sampled_from([None, "log", "code", "prose", "screenshot"])
PRIORITIES = st.sampled_from([0, 0, 0, 5, 255])
TEXT_FRAGMENTS = st.builds(
    Fragment, content=TEXTS, kind=KINDS, priority=PRIORITIES, metadata=METADATA
)
MEDIA = st.binary(min_size=1, max_size=60).map(
    lambda data: Media("image/png", base64.b64encode(data).decode())
)
MEDIA_FRAGMENTS = st.builds(
    Fragment, media=MEDIA, kind=KINDS, priority=PRIORITIES, metadata=METADATA
)
FRAGMENTS = st.lists(TEXT_FRAGMENTS | TEXT_FRAGMENTS | MEDIA_FRAGMENTS, max_size=8)
POLICIES = st.builds(
    Policy,
    chunk=st.builds(
        ChunkPolicy,
        boundary=st.sampled_from(["paragraph", "sentence", "fixed"]),
        max_chunk_bytes=st.sampled_from([0, 300, 2048]),
    ),
    near_dup_dedup=st.booleans(),
    normalize_log_timestamps=st.booleans(),
)
QUERIES = st.sampled_from(["", "canary rollout", "lost lease 7", "会議"])
BUDGETS = st.integers(1, 600) | st.just(100_000)
REQUESTS = st.builds(
    CompileRequest,
    query=QUERIES,
    fragments=FRAGMENTS.map(tuple),
    token_budget=BUDGETS,
    policy=POLICIES,
)
PULLED = st.lists(
    st.builds(
        PulledMemory,
        memory_id=st.integers(0, 2**64 - 1),
        content=TEXTS,
        confidence=st.floats(0, 1),
        score=st.floats(-1, 1),
    ),
    max_size=3,
)
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def emitted_media(request, context, tokenizer):
    """Tokens of the media that the decisions say is in the context."""
    return sum(
        count_tokens(base64.b64decode(fragment.media.bytes_b64), tokenizer)
        for fragment, decision in zip(request.fragments, context.decisions, strict=False)
        if fragment.media is not None and decision.action in ("preserve", "cache")
    )


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=lambda t: type(t).__name__)
@SLOW
@given(request=REQUESTS, pulled=PULLED)
def test_never_over_budget_by_the_tokenizer_in_use(tokenizer, request, pulled):
    context = compile_context(request, tokenizer, pulled).context
    taken = tokenizer.count(context.content) + emitted_media(request, context, tokenizer)
    assert taken <= request.token_budget
    assert context.insights.tokens_out == taken


@SLOW
@given(request=REQUESTS, pulled=PULLED, tokenizer=st.sampled_from(TOKENIZERS))
def test_what_is_answered_hangs_together(request, pulled, tokenizer):
    compilation = compile_context(request, tokenizer, pulled)
    context = compilation.context
    items = examine(request, pulled, tokenizer)
    assert len(context.decisions) == len(items)
    assert "".join(section.content for section in context.sections) == context.content
    assert [d.memory_id for d in context.decisions] == [item.memory_id for item in items]

    insights = context.insights
    assert insights.tokens_in == sum(item.tokens for item in items)
    assert insights.tokens_saved == max(0, insights.tokens_in - insights.tokens_out)
    assert sum(insights.tokens_saved_by_rule.values()) == insights.tokens_saved
    assert all(saved > 0 for saved in insights.tokens_saved_by_rule.values())


@SLOW
@given(request=REQUESTS, pulled=PULLED, tokenizer=st.sampled_from(TOKENIZERS))
def test_critical_content_that_is_not_wholly_there_is_high_risk(request, pulled, tokenizer):
    context = compile_context(request, tokenizer, pulled).context
    for item, decision in zip(examine(request, pulled, tokenizer), context.decisions, strict=True):
        if not item.critical or decision.rule_id == "retrieve.screenshot_superseded":
            continue
        if item.mime is None and item.text not in context.content:
            assert decision.risk == "high"
            assert context.risk == "high"
        if item.mime is not None and decision.action == "retrieve":
            assert decision.risk == "high"


@SLOW
@given(request=REQUESTS, pulled=PULLED, tokenizer=st.sampled_from(TOKENIZERS))
def test_every_handle_resolves_to_the_exact_bytes(request, pulled, tokenizer):
    compilation = compile_context(request, tokenizer, pulled)
    context, sources = compilation.context, {s.id: s for s in compilation.sources}
    assert len(sources) == len(compilation.sources) == len(context.sources)
    for item, decision in zip(examine(request, pulled, tokenizer), context.decisions, strict=True):
        source = sources[decision.content_hash]
        assert source.data == item.data
        assert source.mime == next(
            each.mime for each in examine(request, pulled, tokenizer) if each.data == item.data
        )
        assert ids.source_id(source.data) == source.id
        if decision.handle is not None:
            assert parse_handle(decision.handle) == source.id
    handles = [ref.handle for ref in context.sources]
    handles += [each.handle for each in context.retrieval_handles]
    assert {parse_handle(handle) for handle in handles} <= set(sources)


@SLOW
@given(request=REQUESTS, tokenizer=st.sampled_from(TOKENIZERS))
def test_pieces_are_verbatim_slices_from_the_head(request, tokenizer):
    items = examine(request, (), tokenizer)
    pieces, _ = pack(items, request.token_budget, request.policy.chunk, tokenizer)
    for item in items:
        piece = pieces.get(item.place)
        if piece is None or item.mime is not None:
            continue
        if item.log is None:
            assert item.text.startswith(piece.text)
            assert piece.whole == (piece.text == item.text)
        else:
            collapsed = item.log.text().split("\n")
            assert not Counter(piece.text.split("\n")) - Counter(collapsed)
            assert piece.whole == (piece.text == item.log.text())


@SLOW
@given(
    prefix=st.lists(
        st.builds(Fragment, content=TEXTS, priority=PRIORITIES, metadata=st.just({"cache": True})),
        min_size=1,
        max_size=4,
    ),
    others=st.lists(FRAGMENTS, min_size=2, max_size=2),
    queries=st.lists(QUERIES, min_size=2, max_size=2),
    pulled=PULLED,
    budget=BUDGETS,
    tokenizer=st.sampled_from(TOKENIZERS),
)
def test_the_cache_prefix_is_the_same_bytes_whatever_else_changes(
    prefix, others, queries, pulled, budget, tokenizer
):
    first, second = ([f for f in each if not f.metadata.get("cache")] for each in others)
    one = CompileRequest(queries[0], (*first, *prefix), budget)
    two = CompileRequest(queries[1], (*prefix, *second), budget)
    a = compile_context(one, tokenizer).context
    b = compile_context(two, tokenizer, pulled).context
    assert cache_of(a) == cache_of(b)
    assert b.content.startswith(cache_of(a))


def cache_of(context):
    return "".join(section.content for section in context.sections if section.kind == "cache")


@SLOW
@given(request=REQUESTS, pulled=PULLED, tokenizer=st.sampled_from(TOKENIZERS))
def test_the_same_request_gives_the_same_answer(request, pulled, tokenizer):
    assert compile_context(request, tokenizer, pulled) == compile_context(
        request, tokenizer, pulled
    )


ONE_COMPILATION = """
from veles_core.context.compile import compile_context, compile_transcript
from veles_core.context.model import *

class Bytes:
    def count(self, text):
        return len(text.encode())

fragments = tuple(
    Fragment(f"Fragment {n} says: never do {n % 5}. The {n % 3} canary is green.", kind=kind)
    for n in range(60)
    for kind in (None, "log")
)
pulled = [PulledMemory(n, f"memory of {n}", n / 9, n / 9) for n in range(9)]
policy = Policy(disabled_rules=("preserve.url", "preserve.exact_values"))
request = CompileRequest("canary never", fragments, 900, policy=policy)
print(compile_context(request, Bytes(), pulled))
transcript = "System: be brief\\nUser: hi\\n```\\ncode\\n```\\n" + "INFO poll\\n" * 9
print(compile_transcript(TranscriptRequest("code", 60, transcript), Bytes()))
"""


def test_another_process_with_another_hash_seed_gives_the_same_bytes():
    answers = {
        subprocess.run(
            [sys.executable, "-c", ONE_COMPILATION],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(answers) == 1
    assert b"Compilation(" in answers.pop()


def test_the_compiler_imports_nothing_heavy():
    script = (
        "import sys, veles_core.context.compile;"
        "print([n for n in ('pydantic', 'numpy', 'mcp', 'httpx') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
