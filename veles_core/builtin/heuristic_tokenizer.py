"""An upper bound of the tokens that cl100k_base and o200k_base make of a text.

Never below either, for any text, and close above both; ``docs/tokenizers.md`` has the
proof and the measurements. In short:

1. A text is cut into *pieces*, each end of which is an end of a chunk of both encodings.
2. A piece is cut into the chunks of each encoding, and each chunk is merged with that
   encoding's first merges only. Later merges can only lower the number, so this bounds it.
3. Where it is uncertain how an encoding cuts (around characters whose class another
   version of Unicode may see differently), and in long runs, each character counts the
   most tokens that can ever be charged to it, whatever stands around it.

The count of a text is the sum over its pieces. So counts add up at most line breaks:
``count(a + b)`` is ``count(a) + count(b)`` if ``a`` ends with a line feed and ``b`` starts,
after any spaces and tabs, with something else than whitespace, and not with a slash.
"""

import lzma
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from functools import cache, cached_property
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

DATA: Final = "heuristic_tokenizer.xz"
SEPARATOR: Final = "\xff"  # in no merge: the byte occurs nowhere in UTF-8
CODE_POINTS: Final = 0x110000
LONGEST: Final = 128  # characters of a piece that is merged (in the square of its length) and kept
_MOST_KEPT: Final = 1 << 17  # pieces; about 15 MB when all are there
_MANY_WORDS: Final = 256  # characters from which on a text is split at its blanks
_MANY_LINES: Final = 4096  # characters from which on equal lines are looked for
_ONE_DIGIT: Final = str.maketrans("123456789", "000000000")  # numbers cost by their length only
_TRIED: Final = 256  # prefixes that a cut tries one by one
_NO_MERGE: Final = 1 << 30

# Ranges of characters whose class is certain; what is in none of them, letters and digits
# apart, is uncertain.
_ASCII_BLANK: Final = r"\t\x0b\x0c "
BLANK: Final = _ASCII_BLANK + "\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_ASCII_SIGN: Final = r"\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f"  # not letter, mark, number or space
SIGN: Final = _ASCII_SIGN + "¡-©«-±´¶-¸»¿×÷‐-‧‰-⁞₠-⃀←-⏿─-❵➔-⯿🌀-🫿"
_CASED: Final = (range(0xC0, 0x250), range(0x370, 0x530), range(0x1E00, 0x1F00))
_LONG_S: Final = "ſ"  # counts as an s in contractions, so it is left uncertain
_CONTRACTION: Final = "'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE])"
_BLOB: Final = "(?![0-9a-fA-F]{64})[A-Za-z0-9+/]{64}"  # base64, most likely: hardly worth merging

FIND_BLOB: Final = re.compile(_BLOB)
# What a blob is made of becomes x, so that a text without one is told at the speed of memchr.
_RUNS: Final = bytes(120 if chr(code).isalnum() or code in b"+/" else 0 for code in range(128)) * 2
_LONG_RUN: Final = b"x" * 64
_NOT_ALONE: Final = ("  ", "\n ", " \n", "\t", "\r", "\x0b", "\x0c")  # spaces near a blank
_LINE_BREAK: Final = re.compile(r"\n(?=[^\s/])")  # where counts add up


class Tables(NamedTuple):
    """What the data file holds.

    ``merges`` maps, for each encoding, the bytes of a token (as Latin-1) to its rank among
    the first ones. ``charges`` has the most tokens charged to each code point.
    """

    merges: tuple[dict[str, int], dict[str, int]]
    charges: bytes


@cache
def tables() -> Tables:
    """The data file, read once."""
    raw = lzma.decompress(files(__package__).joinpath(DATA).read_bytes())
    split = int.from_bytes(raw[:4], "big")
    cl100k, o200k = (
        {token: rank for rank, token in enumerate(half.split(SEPARATOR))}
        for half in raw[4 : 4 + split].decode("latin-1").split(2 * SEPARATOR)
    )
    return Tables((cl100k, o200k), raw[4 + split :].ljust(CODE_POINTS, b"\x04"))


class Patterns(NamedTuple):
    """How texts are cut into pieces, and pieces into chunks."""

    plain: re.Pattern[str]  # ASCII without a blob → pieces
    pieces: re.Pattern[str]  # any text → pieces; of plain text the same ones
    uncertain: re.Pattern[str]  # found in a piece that is not cut further
    chunks: tuple[re.Pattern[str], re.Pattern[str]]  # another piece → chunks of each encoding


def cased_letters() -> tuple[str, str]:
    """The members of the classes of upper-case and of lower-case letters."""
    cased = [chr(code) for codes in _CASED for code in codes if chr(code) != _LONG_S]
    upper, lower = ([c for c in cased if unicodedata.category(c) == k] for k in ("Lu", "Ll"))
    return "A-Z" + "".join(upper), "a-z" + "".join(lower)


@cache
def patterns() -> Patterns:
    """The patterns, compiled once."""
    upper, lower = cased_letters()
    space = rf"{BLANK}\r\n"
    uncertain = f"(?:[^{upper}{lower}0-9{space}{SIGN}]|{_BLOB})"
    # From something uncertain to the next space, and the line breaks and slashes there.
    loose = rf"{uncertain}[^{space}]*+(?:[{space}]*[\r\n]/[^{space}]*+)*+"
    loose += rf"(?:[{space}]*[\r\n](?:[{space}]+\Z|)|)"
    cl100k = (
        rf"{_CONTRACTION}|[{BLANK}{SIGN}]?[{upper}{lower}]+|[0-9]{{1,3}}"
        rf"| ?[{SIGN}]+[\r\n]*|[{space}]+"
    )
    o200k = (
        rf"[{BLANK}{SIGN}]?(?:[{upper}]*[{lower}]+|[{upper}]+)(?:{_CONTRACTION})?|[0-9]{{1,3}}"
        rf"| ?[{SIGN}]+[\r\n/]*|[{space}]*[\r\n]|[{space}]+"
    )
    return Patterns(
        re.compile(_pieces("A-Za-z", _ASCII_BLANK, _ASCII_SIGN)),
        re.compile(_pieces(upper + lower, BLANK, SIGN, loose)),
        re.compile(uncertain),
        (re.compile(cl100k), re.compile(o200k)),
    )


def _pieces(letters: str, blanks: str, signs: str, loose: str = "") -> str:
    """The pattern that cuts a text into pieces: word, digits, signs, spaces, loose."""
    letter, sign, space = f"[{letters}]", f"[{signs}]", rf"[{blanks}\r\n]"
    word = f"{letter}++(?:'{letter}++(?:'{letter}++)*+|)"
    blob, tail, lone = "", "", ""
    if loose:
        blob, tail, lone = f"(?!{_BLOB})", f"(?:'?{loose}|)", f"|[{blanks}]?{loose}"
    # A line break after signs takes slashes along in o200k_base, but not in cl100k_base,
    # where they belong to what follows them.
    slashes = rf"/[\r\n/]*+(?:(?<=/){sign}++[\r\n/]*+)*+(?:(?<![\r\n])(?:{word}|){tail}|)"
    return (
        rf"[{blanks}{signs}]?{blob}{word}{tail}"
        rf"|[0-9]{{1,3}}+{tail}{lone}"
        rf"| ?{sign}++(?:[\r\n]++(?:{slashes}|)|{tail})"
        rf"|{space}+\Z|{space}*[\r\n]|{space}+(?={space})|{space}"
    )


class HeuristicTokenizer:
    """Never below cl100k_base or o200k_base; see the module's docstring. Thread-safe."""

    @cached_property
    def _words(self) -> "_Words":
        return _Words()  # with the first text: reading the tables takes a while

    def count(self, text: str) -> int:
        """An upper bound of the tokens of ``text`` in either encoding."""
        if len(text) < _MANY_LINES:
            return self._total(text)
        *lines, last = _LINE_BREAK.split(text.translate(_ONE_DIGIT))
        distinct = Counter(lines).items()  # a log says the same again and again
        return sum(times * self._total(line + "\n") for line, times in distinct) + self._total(last)

    def _total(self, text: str) -> int:
        words, plain = self._words, _is_plain(text)
        if plain and len(text) >= _MANY_WORDS and not any(map(text.__contains__, _NOT_ALONE)):
            first, *rest = text.split(" ")  # twice as fast as the pattern
            return words.costs.total(_pieces_of(first, plain)) + words.total(rest)
        return words.costs.total(_pieces_of(text, plain))

    def cut(self, text: str, limit: int) -> int:
        """The largest prefix length in characters whose count is at most ``limit``."""
        size = max(4096, 8 * limit)
        while size < len(text):
            end = self._cut(text[:size], limit)
            if end < size // 2:  # far enough from where the window ends
                return end
            size *= 2
        return self._cut(text, limit)

    def _cut(self, text: str, limit: int) -> int:
        pieces = _pieces_of(text, _is_plain(text))
        ends = [0, *accumulate(map(len, pieces))]
        costs = [0, *accumulate(map(self._words.costs.__getitem__, pieces))]
        first = bisect_right(costs, limit)  # among the ends, the first that is over
        if first == len(ends):
            return len(text)
        # Spaces that end a prefix are cut in another way than spaces before a word, so
        # the search spans them and starts where none stands before.
        at, high = max(0, first - 1), ends[first]
        while at and text[ends[at] - 1].isspace():
            at -= 1
        while high < len(text) and text[high].isspace():
            high += 1
        low = start = ends[at]
        room = limit - costs[at]
        if high - start > _TRIED:
            while high - low > 1:
                middle = (low + high) // 2
                fits = self.count(text[start:middle]) <= room
                low, high = (middle, high) if fits else (low, middle)
            if low - start > LONGEST:  # charged by the character: what is longer costs more
                return low
            high = start + _TRIED
        ends_fitting = (e for e in range(high, low, -1) if self.count(text[start:e]) <= room)
        return next(ends_fitting, low)


def _is_plain(text: str) -> bool:
    """Whether a text is ASCII without a blob."""
    return text.isascii() and not (
        _LONG_RUN in text.encode().translate(_RUNS) and FIND_BLOB.search(text)
    )


def _pieces_of(text: str, plain: bool) -> list[str]:
    return (patterns().plain if plain else patterns().pieces).findall(text)


class _Kept(dict[str, int]):
    """Costs by text, worked out when first asked for; those of short texts are kept."""

    def total(self, texts: Iterable[str]) -> int:
        """What all these cost."""
        return sum(map(self.__getitem__, texts))

    def __missing__(self, text: str) -> int:
        cost = self._cost(text)
        if len(text) <= LONGEST:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[text] = cost
        return cost

    def _cost(self, text: str) -> int:
        raise NotImplementedError


class _Words(_Kept):
    """What a blank and the word after it cost together, as long as no other space is near.

    A word is what stands between two blanks, signs and line breaks included. Each blank then
    begins a piece, whose end depends on nothing beyond the next blank.
    """

    def __init__(self) -> None:
        super().__init__()
        self.costs = _Costs()

    def _cost(self, text: str) -> int:
        return self.costs.total(_pieces_of(f" {text}", plain=True))


class _Costs(_Kept):
    """What each piece costs."""

    def __init__(self) -> None:
        super().__init__()
        self._merges, self._charges = tables()
        self._patterns = patterns()

    def _cost(self, text: str) -> int:
        if len(text) > LONGEST or self._patterns.uncertain.search(text):
            return self._charged(text)
        cl100k, o200k = (
            sum(self._bound(chunk, merges) for chunk in pattern.findall(text))
            for pattern, merges in zip(self._patterns.chunks, self._merges, strict=True)
        )
        return max(cl100k, o200k)

    def _bound(self, chunk: str, merges: dict[str, int]) -> int:
        raw = chunk if chunk.isascii() else chunk.encode().decode("latin-1")
        if raw in merges or raw.isdigit():  # both have every number of up to three digits
            return 1
        return min(self._charged(chunk), merged(raw, merges))

    def _charged(self, text: str) -> int:
        if text.isascii():
            return len(text)
        return sum(map(self._charges.__getitem__, map(ord, text)))


def merged(raw: str, merges: dict[str, int]) -> int:
    """How many parts are left of ``raw`` once no merge applies; the lowest rank goes first."""
    parts = list(raw)
    rank = merges.get
    ranks = [rank(left + right, _NO_MERGE) for left, right in pairwise(parts)]
    while ranks:
        lowest = min(ranks)
        if lowest == _NO_MERGE:
            break
        at = ranks.index(lowest)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
        del ranks[at]
        if at:
            ranks[at - 1] = rank(parts[at - 1] + parts[at], _NO_MERGE)
        if at < len(ranks):
            ranks[at] = rank(parts[at] + parts[at + 1], _NO_MERGE)
    return len(parts)
