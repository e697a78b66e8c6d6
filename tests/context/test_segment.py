"""Cutting a transcript into turns and segments that partition its bytes exactly."""

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core import ids
from veles_core.context.compile import compile_transcript
from veles_core.context.model import Policy, SegmentationPolicy, TranscriptRequest
from veles_core.context.segment import segment
from veles_core.errors import ContextOverLimit, InvalidInput

EACH = SegmentationPolicy(min_segment_bytes=0)
MIB = 1 << 20


class Quarter:
    """A token for four characters: free to count, so that time is the compiler's own."""

    def count(self, text):
        return -(-len(text) // 4)


def cut(text, policy=EACH):
    """(role, kind, text) of each segment, after checking the partition."""
    fragments, found = segment(text, policy)
    check_partition(text, fragments, found)
    raw = text.encode()
    return [
        (each.role, each.kind, raw[each.byte_start : each.byte_end].decode())
        for each in found.segments
    ]


def check_partition(text, fragments, found):
    end = 0
    for index, (fragment, each) in enumerate(zip(fragments, found.segments, strict=True)):
        assert (each.index, each.byte_start) == (index, end)
        assert each.byte_end > each.byte_start
        assert each.fragment_id == ids.source_id(fragment.content.encode())
        end = each.byte_end
    assert end == len(text.encode())
    turns = [each.turn for each in found.segments]
    assert turns == sorted(turns)


PIECES = st.sampled_from(
    [
        "User: hi\n",
        "assistant: hello\r\n",
        "### User\n",
        "prose\n",
        "  indented: x\n",
        "\n",
        "\r\n",
        "```\n",
        "~~~~\n",
        "```py\n",
        "INFO poll\n" * 8,
        "INFO poll\n",
        "é🚀\n",
        "no line end",
        "\x00",
        '{"role":"user","content":"x"}\n',
    ]
)


@given(
    st.lists(PIECES, min_size=1, max_size=40).map("".join),
    st.sampled_from([0, 20, 256]),
    st.sampled_from(["auto", "plain"]),
)
def test_segments_partition_every_transcript(text, least, form):
    fragments, found = segment(text, SegmentationPolicy(form, least))
    check_partition(text, fragments, found)
    if found.format_detected == "plain":
        assert "".join(fragment.content for fragment in fragments) == text


def test_markers_at_line_starts_begin_turns():
    text = (
        "before\nSystem: s\nUSER: u\nhuman: h\n  User: indented\nAssistant:a\nAI: i\ntool: t\n"
        "### User\nx\n###  assistant: y\n### Users\nuser : z\nUser interface\n"
    )
    assert [(role, part.split("\n")[0]) for role, _, part in cut(text)] == [
        (None, "before"),
        ("System", "System: s"),
        ("User", "USER: u"),
        ("Human", "human: h"),
        ("Assistant", "Assistant:a"),
        ("AI", "AI: i"),
        ("Tool", "tool: t"),
        ("User", "### User"),
        ("Assistant", "###  assistant: y"),
    ]


def test_code_and_logs_are_segments_of_their_own():
    log = "2026-01-01 INFO x\n" * 9
    text = f"User: look\n```py\nUser: no turn\n```\nthen\nTool: {log}\nbye\n~~~\ny\n~~~"
    assert cut(text) == [
        ("User", "body", "User: look\n"),
        ("User", "code", "```py\nUser: no turn\n```\n"),
        ("User", "body", "then\n"),
        ("Tool", "log", f"Tool: {log}"),
        ("Tool", "body", "\nbye\n"),
        ("Tool", "code", "~~~\ny\n~~~"),
    ]


def test_an_unclosed_fence_ends_with_its_turn():
    assert cut("User: a\n```\nopen\nAssistant: b\n") == [
        ("User", "body", "User: a\n"),
        ("User", "code", "```\nopen\n"),
        ("Assistant", "body", "Assistant: b\n"),
    ]


def test_a_marker_inside_a_closed_fence_begins_no_turn():
    assert cut("User: a\n```\nAssistant: b\n```\nx\nUser: c") == [
        ("User", "body", "User: a\n"),
        ("User", "code", "```\nAssistant: b\n```\n"),
        ("User", "body", "x\n"),
        ("User", "body", "User: c"),
    ]


def test_crlf_is_kept_and_cuts_as_lf_does():
    assert cut("User: a\r\n```\r\nx\r\n```\r\nAssistant: b\r\n") == [
        ("User", "body", "User: a\r\n"),
        ("User", "code", "```\r\nx\r\n```\r\n"),
        ("Assistant", "body", "Assistant: b\r\n"),
    ]


def test_blank_lines_stay_out_of_code_so_that_a_file_shown_twice_is_the_same_bytes():
    assert cut("\n\nUser: a\n```\nx\n```\n\n```\nx\n```\nAI: b") == [
        (None, "body", "\n\n"),
        ("User", "body", "User: a\n"),
        ("User", "code", "```\nx\n```\n"),
        ("User", "body", "\n"),
        ("User", "code", "```\nx\n```\n"),
        ("AI", "body", "AI: b"),
    ]
    assert cut(" \n") == [(None, "body", " \n")]


def test_small_segments_merge_within_turn_and_kind():
    fence = "```\nx\n```\n"
    text = f"{fence * 5}User: a\n{fence * 3}b\n{fence}"
    fragments, found = segment(text, SegmentationPolicy(min_segment_bytes=25))
    check_partition(text, fragments, found)
    assert [(each.turn, each.kind, each.byte_end - each.byte_start) for each in found.segments] == [
        (0, "code", 30),
        (0, "code", 20),
        (1, "body", 8),
        (1, "code", 30),
        (1, "body", 2),
        (1, "code", 10),
    ]
    assert found.merged_segments == 5


def test_only_a_leading_system_turn_is_cached():
    def cached(text, **options):
        fragments, _ = segment(text, SegmentationPolicy(min_segment_bytes=0, **options))
        return [bool(fragment.metadata.get("cache")) for fragment in fragments]

    text = "\nSystem: a\n```\nb\n```\nUser: c\nSystem: d\n"
    assert cached(text) == [False, True, True, False, False]
    assert not any(cached(text, cache_system_turn=False))
    assert cached("User: c\nSystem: d\n") == [False, False]
    assert cached('{"role":"SYSTEM","content":"a"}\n{"role":"user","content":"b"}') == [True, False]


def line(role, content, **more):
    return json.dumps({"role": role, "content": content, **more})


def test_jsonl_is_one_segment_a_message_with_its_content():
    parts = [{"type": "text", "text": "one"}, {"type": "image"}, "two"]
    log = "INFO poll\n" * 9
    lines = [
        line("system", "You are é"),
        line("user", parts, id=7),
        "",
        line("tool", log),
        line("assistant", "```\nx\n```"),
        line("assistant", ""),
    ]
    text = "\n" + "\n".join(lines) + "\n\n"
    fragments, found = segment(text, SegmentationPolicy())
    check_partition(text, fragments, found)
    assert found.format_detected == "jsonl"
    assert [fragment.content for fragment in fragments] == [
        "You are é",
        "one\ntwo",
        log,
        "```\nx\n```",
        "",
    ]
    assert [(each.role, each.turn, each.kind) for each in found.segments] == [
        ("system", 0, "body"),
        ("user", 1, "body"),
        ("tool", 2, "log"),
        ("assistant", 3, "code"),
        ("assistant", 4, "body"),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "[]",
        '{"role":"user"}',
        '{"role":1,"content":"x"}',
        '{"role":"user","content":null}',
        '{"role":"user","content":[1]}',
        '{"role":"user","content":"\\ud800"}',
        "[" * 100_000,
        "User: x",
    ],
)
def test_one_line_that_is_no_message_makes_it_plain_or_an_error(bad):
    text = line("user", "x") + "\n" + bad
    assert segment(text, SegmentationPolicy())[1].format_detected == "plain"
    assert segment(line("user", "x"), SegmentationPolicy("plain"))[1].format_detected == "plain"
    with pytest.raises(InvalidInput, match="line 2 of the transcript") as refused:
        segment(text, SegmentationPolicy("jsonl"))
    assert refused.value.field == "transcript"


def test_forced_jsonl_needs_a_message():
    with pytest.raises(InvalidInput, match="no JSONL message"):
        segment(" \n", SegmentationPolicy("jsonl"))


def test_a_message_that_no_source_could_hold_is_refused():
    with pytest.raises(ContextOverLimit, match="line 1 of the transcript"):
        segment(line("user", "x" * (MIB + 1)), SegmentationPolicy())


def test_a_transcript_is_compiled_with_its_audit_trail():
    log = "".join(f"2026-01-01T00:00:0{n}Z INFO poll\n" for n in range(9))
    text = f"System: Be brief.\nUser: why is the poll slow\nTool: done\n{log}"
    request = TranscriptRequest("poll slow", 1000, text, segmentation=EACH)
    done = compile_transcript(request, Quarter())
    context, segments = done.compilation.context, done.segmentation.segments
    assert [d.fragment_id for d in context.decisions] == [each.fragment_id for each in segments]
    assert context.sections[0].content == "System: Be brief.\n"
    assert "2026-01-01T00:00:00Z INFO poll (x9)" in context.content
    exact = TranscriptRequest(
        "poll", 1000, text, segmentation=EACH, policy=Policy(normalize_log_timestamps=False)
    )
    assert "(x" not in compile_transcript(exact, Quarter()).compilation.context.content


HOSTILE = {
    "newlines": "\n",
    "crlf": "\r\n",
    "nul": "\0",
    "nul lines": "\0\n",
    "one line": "x",
    "spaces": " ",
    "words": "word ",
    "fences": "```\n",
    "fence pairs": "```\nx\n```\n",
    "unclosed fences": "```py\n",
    "mixed fences": "```\n~~~\n````x\n",
    "almost logs": "INFO x\n" * 7 + "prose\n",
    "logs": "INFO x\n",
    "hashes": "### \n",
    "quotes": "'",
    "brackets": "[1][",
    "open json": "{",
    "digits": "2026-01-01 ",
    "two bytes": "é",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_transcript_takes_linear_time(unit):
    def seconds(size):
        text = unit * (size // len(unit.encode()))
        started = process_time()
        done = compile_transcript(TranscriptRequest("x 2026", 4000, text), Quarter())
        taken = process_time() - started
        assert done.segmentation.segments[-1].byte_end == len(text.encode())
        return taken

    # Quadratic time would be 16 times; a busy machine slows single runs, so each has three.
    small, large = (min(seconds(size) for _ in range(3)) for size in (MIB // 16, MIB // 4))
    assert large < 0.1 + 8 * small


@pytest.mark.parametrize("lengths", [range(2000, 3, -1), range(3, 2000)], ids=["falling", "rising"])
def test_fences_of_all_lengths_take_linear_time(lengths):
    text = "".join(f"{'`' * length}x\n" for length in lengths) + "```x\n" * 20_000
    started = process_time()
    segment(text, SegmentationPolicy())
    assert process_time() - started < 2.0


def test_the_largest_transcript_is_cut_into_storable_sources():
    text = ("é" * 1000 + "\n") * (8 * MIB // 2001)
    fragments, found = segment(text, SegmentationPolicy())
    check_partition(text, fragments, found)
    assert all(len(fragment.content.encode()) <= MIB for fragment in fragments)
    assert all(fragment.content.endswith("\n") for fragment in fragments)
    assert len(fragments) == 8
