"""Where a text may be cut, and what stands between fences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core.context.chunk import Chunk, ceiling, chunks, ends_inside
from veles_core.context.fences import fences, has_fence
from veles_core.context.model import ChunkPolicy

TEXTS = st.lists(
    st.sampled_from(
        [
            "One more sentence. ",
            "word ",
            "\n",
            "\r\n\r\n",
            "```\n",
            "~~~~\n",
            "x" * 90,
            "é🚀",
            "。",
            "!",
        ]
    ),
    max_size=80,
).map("".join)


@given(
    text=TEXTS,
    most=st.integers(64, 400),
    boundary=st.sampled_from(["paragraph", "sentence", "fixed"]),
)
def test_chunks_partition_the_text_within_the_ceiling(text, most, boundary):
    found = list(chunks(text, most, boundary))
    assert "".join(text[chunk.start : chunk.end] for chunk in found) == text
    for chunk in found:
        piece = text[chunk.start : chunk.end]
        assert piece
        assert not chunk.divisible or len(piece.encode()) <= most
        ends = ends_inside(text, chunk)
        assert ends == sorted(ends)
        assert all(chunk.start < end <= chunk.end for end in ends)


@given(text=TEXTS)
def test_a_closed_fence_is_never_cut(text):
    cuts = {chunk.end for chunk in chunks(text, 64, "fixed")}
    covered = 0
    for fence in fences(text):
        if fence.start >= covered:
            assert not cuts & set(range(fence.start + 1, fence.end))
            covered = fence.end


@pytest.mark.parametrize(
    ("boundary", "text", "first"),
    [
        ("paragraph", "One. Two.\n\nThree. Four. Five. Six.", "One. Two.\n\n"),
        ("paragraph", "One. Two.\r\n\r\nThree. Four. Five.", "One. Two.\r\n\r\n"),
        ("sentence", "One. Two.\n\nThree. Four. Five. Six.", "One. Two.\n\nThree. Four. "),
        ("fixed", "One. Two.\n\nThree. Four. Five. Six.", "One. Two.\n\nThree. Four. F"),
        ("paragraph", "One. Two, three, four, five, six", "One. "),
        ("paragraph", "one two three four five six seven", "one two three four five "),
        ("paragraph", "one\ntwo three four five six seven", "one\n"),
        ("paragraph", "x" * 60, "x" * 25),
        ("paragraph", "é" * 60, "é" * 12),
        ("paragraph", "会議です。明日です。" * 2, "会議です。"),
    ],
)
def test_paragraph_then_sentence_then_line_then_word_then_character(boundary, text, first):
    chunk = next(chunks(text, 25, boundary))
    assert text[: chunk.end] == first


def test_the_ceiling_follows_policy_and_budget():
    assert ceiling(ChunkPolicy(max_chunk_bytes=2048), 10_000) == 2048
    assert ceiling(ChunkPolicy(max_chunk_bytes=2048), 300) == 900
    assert ceiling(ChunkPolicy(max_chunk_bytes=2048), 10) == 256
    assert ceiling(ChunkPolicy(max_chunk_bytes=0), 10_000) == 256


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```\nx\n```\n", [(0, 10, True)]),
        ("a\n~~~py\nx\n~~~", [(2, 13, True)]),
        ("  ```\n~~~\n```\n", [(0, 14, True)]),
        ("````\n```\n````\n", [(0, 14, True)]),
        ("```\nx\n``` no\n```", [(0, 16, True)]),
        ("```\nopen", [(0, 8, False)]),
        ("```\n~~~\nx\n~~~\n", [(0, 14, False), (4, 14, True)]),
        ("a ``` b\n", []),
        ("```inline``` x\n", []),
        ("```\r\nx\r\n```\r\n", [(0, 13, True)]),
        ("", []),
    ],
)
def test_fences_pair_as_markdown_pairs_them(text, found):
    assert [tuple(fence) for fence in fences(text)] == found


def test_backticks_count_as_code_even_inside_a_line():
    assert has_fence("a ```b``` c")
    assert has_fence("x\n~~~\ny")
    assert not has_fence("a ~~~ c")


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("One. Two!  Three? Four", [5, 11, 18]),
        ("One whole sentence here.", [24]),
        ("no sentence at all", [2, 11, 14]),
        ("会議です。明日です。", [5, 10]),
        ("", []),
    ],
)
def test_a_chunk_is_cut_finer_at_sentences_and_only_without_any_at_words(text, ends):
    assert ends_inside(text, Chunk(0, len(text), True)) == ends
    assert ends_inside(text, Chunk(0, len(text), False)) == []
