"""Where a text may be cut: after a paragraph, else a sentence, a line, a word, a character.

A code fence is never cut, however long it is. Cuts are offsets in characters.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from veles_core.context.fences import fences
from veles_core.context.model import Boundary, ChunkPolicy
from veles_core.limits import MIN_CHUNK_BYTES

_BYTES_PER_TOKEN: Final = 3  # a chunk larger than the whole budget could never be packed

_PARAGRAPH: Final = re.compile(r".*\n[ \t\r]*\n", re.DOTALL)
_CLOSERS: Final = r"[\"')\]»”’]*"
_SENTENCE_END: Final = rf"(?:[.!?…]{_CLOSERS}\s|[。！？]{_CLOSERS})"
_SENTENCE: Final = re.compile(rf".*{_SENTENCE_END}", re.DOTALL)
_LINE: Final = re.compile(r".*\n", re.DOTALL)
_WORD: Final = re.compile(r".*\s", re.DOTALL)
_LEVELS: Final[dict[Boundary, tuple[re.Pattern[str], ...]]] = {
    "paragraph": (_PARAGRAPH, _SENTENCE, _LINE, _WORD),
    "sentence": (_SENTENCE, _LINE, _WORD),
    "fixed": (),
}

_EACH_SENTENCE: Final = re.compile(rf"(?:[.!?…]{_CLOSERS}(?:\s+|\Z)|[。！？]{_CLOSERS}\s*)")
_EACH_WORD: Final = re.compile(r"\S(?=\s)")


def ceiling(policy: ChunkPolicy, usable: int) -> int:
    """The most bytes of a chunk, fences aside."""
    return max(MIN_CHUNK_BYTES, min(policy.max_chunk_bytes, _BYTES_PER_TOKEN * usable))


class Chunk(NamedTuple):
    """``text[start:end]``; a fence is not divisible."""

    start: int
    end: int
    divisible: bool


def chunks(text: str, most: int, boundary: Boundary) -> Iterator[Chunk]:
    """The chunks of a text in order, each of at most ``most`` bytes; lazily."""
    at, end = 0, len(text)
    ahead = fences(text)
    fence = next(ahead, None)
    while at < end:
        start = at
        while fence is not None and fence.end <= at:
            fence = next(ahead, None)
        if fence is not None and fence.start <= at:
            at = fence.end
            yield Chunk(start, at, False)
        else:
            limit = end if fence is None else fence.start
            at = _cut(text, at, limit, most, boundary)
            yield Chunk(start, at, True)


def ends_inside(text: str, chunk: Chunk) -> list[int]:
    """Where a chunk may be cut finer: sentence ends, or word ends if it has none.

    A chunk that is one sentence is not cut.
    """
    if not chunk.divisible:
        return []
    ends = [match.end() for match in _EACH_SENTENCE.finditer(text, chunk.start, chunk.end)]
    return ends or [match.end() for match in _EACH_WORD.finditer(text, chunk.start, chunk.end)]


def _cut(text: str, at: int, limit: int, most: int, boundary: Boundary) -> int:
    window = text[at : min(limit, at + most)]
    if not window.isascii():
        window = window.encode()[:most].decode(errors="ignore")
    stop = at + len(window)
    if stop == limit:
        return limit
    for level in _LEVELS[boundary]:
        match = level.match(text, at, stop)
        if match is not None:
            return match.end()
    return stop
