"""tiktoken behind the tokenizer's protocol."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import tiktoken

from veles_plugins.tokenize_tiktoken.ranks import ENCODINGS, load_ranks

# tiktoken panics on a million blanks in a row, so longer runs are counted in parts. The
# longest token of blanks has 128 of them.
_LONGEST_RUN: Final = 128 * 7_500
_LONG_RUN: Final = re.compile(rf"\s{{{_LONGEST_RUN}}}")

_NEAR: Final = 64  # characters beyond a guess that a cut tries
_LOOKED_BACK: Final = 4096
_BOUNDARY: Final = re.compile(r"\n(?=[^\s/])|[a-z](?= [a-z])")  # a chunk ends in either encoding


class TiktokenTokenizer:
    """Exact counts in one encoding. The text of a special token is plain text."""

    def __init__(self, encoding: str, cache_dir: Path | None = None) -> None:
        self._encoding = tiktoken.Encoding(
            encoding,
            pat_str=ENCODINGS[encoding].pattern,
            mergeable_ranks=load_ranks(encoding, cache_dir),
            special_tokens={},
        )

    def count(self, text: str) -> int:
        """The number of tokens of ``text``."""
        return sum(len(self._encoding.encode_ordinary(part)) for part in _parts(text))

    def cut(self, text: str, limit: int) -> int:
        """The largest prefix length in characters whose count is at most ``limit``.

        In a chunk of over 4,096 characters a slightly longer prefix may fit.
        """
        if limit <= 0:
            return 0
        size = max(4096, 8 * limit)
        while size < len(text) and self.count(text[:size]) <= limit + _NEAR:
            size *= 2
        tokens = [t for part in _parts(text[:size]) for t in self._encoding.encode_ordinary(part)]
        if len(tokens) <= limit:
            return len(text)
        # A prefix that ends inside a chunk may have other tokens than the text has there,
        # so that the guess is only near.
        guess = self._encoding.decode_bytes(tokens[:limit]).decode("utf-8", "ignore")
        return self._fitting(text, limit, len(guess))

    def _fitting(self, text: str, limit: int, guess: int) -> int:
        start = _boundary(text, max(0, guess - _NEAR))
        room = limit - self.count(text[:start])

        def fits(end: int) -> bool:
            return self.count(text[start:end]) <= room

        high = min(len(text), guess + _NEAR)
        while high < len(text) and fits(high):
            high = min(len(text), high + _NEAR)
        if guess - start < _LOOKED_BACK:
            return next(end for end in range(high, -1, -1) if fits(end))
        low, high = start, high + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low


def _parts(text: str) -> Iterator[str]:
    start = 0
    if len(text) > _LONGEST_RUN:
        for run in _LONG_RUN.finditer(text):
            yield text[start : run.end()]
            start = run.end()
    yield text[start:]


def _boundary(text: str, end: int) -> int:
    """The last place up to ``end`` where a chunk surely starts, or 0 if none is near."""
    found = 0
    for match in _BOUNDARY.finditer(text, max(0, end - _LOOKED_BACK), end):
        found = match.end()
    return found
