"""Text to index terms, for any script.

A fact and a question go through the same steps: Unicode is folded (compatibility forms,
diacritics), one compiled pattern cuts the text into runs, and each run gives its terms
through a cache. There is no Python loop over characters.
"""

import re
import unicodedata
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple

from veles_core.words.stems import stem

# One character of these can be a word.
_SYLLABIC: Final = (
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"  # Han
    "\uac00-\ud7a3"  # Hangul
)
# Written without spaces between words, or, as Hangul, with particles glued to them.
_SPACELESS: Final = (
    f"{_SYLLABIC}\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff"  # the rest of Hangul
    "\u3031-\u3035\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\U0001aff0-\U0001b16f\u3105-\u312f\u31a0-\u31bf\ua000-\ua48c"  # kana, Bopomofo, Yi
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"  # Thai, Lao
    "\u1000-\u1049\u1050-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u17e0-\u17e9"  # Khmer
    "\u1950-\u19df\u1a20-\u1aad"  # Tai Le, New Tai Lue, Tai Tham
)
# Vowel signs are part of their word, but the pattern \w does not match marks.
_SIGNS: Final = (
    "\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0897-\u08ff"
    "\u0900-\u0963\u0966-\u0df3"  # India and Sri Lanka, without their full stops
    "\u0f18-\u0f39\u0f3e-\u0f84\u0f86-\u0fbc"  # Tibetan, without its syllable stops
    "\u135d-\u135f\u1712-\u1734\u1752-\u1773\u1885-\u18a9\u1920-\u193b\u1a17-\u1a1b"
    "\u1b00-\u1b44\u1b80-\u1bf3\u1c00-\u1c37\u1cd0-\u1cfa\ua802-\ua827\ua880-\ua8c5"
    "\ua8e0-\ua8f1\ua926-\ua953\ua980-\ua9c0\uaa29-\uaa4d\uaab0-\uaaf6\uabe3-\uabed"
    "\U00010a01-\U00010a3f\U00011000-\U00011fff"
)
_EMOJI: Final = "\u2600-\u27bf\U0001f000-\U0001faff"

# Folded away: the diacritics of alphabets, and what is there only for the eye.
_DIACRITICS: Final = (
    (0x0300, 0x036F), (0x0483, 0x0489), (0x0591, 0x05BD), (0x05BF, 0x05BF), (0x05C1, 0x05C2),
    (0x05C4, 0x05C5), (0x05C7, 0x05C7), (0x0610, 0x061A), (0x064B, 0x065F), (0x0670, 0x0670),
    (0x06D6, 0x06DC), (0x06DF, 0x06E4), (0x06E7, 0x06E8), (0x06EA, 0x06ED), (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF), (0x20D0, 0x20F0), (0xFE20, 0xFE2F),
)  # fmt: skip
_INVISIBLE: Final = (
    (0x00AD, 0x00AD), (0x0640, 0x0640), (0x200C, 0x200F), (0x202A, 0x202E), (0x2060, 0x2069),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xE0100, 0xE01EF),
)  # fmt: skip
_FOLDED: Final[dict[int, str | int | None]] = {
    **dict.fromkeys(
        code for low, high in _DIACRITICS + _INVISIBLE for code in range(low, high + 1)
    ),
    **str.maketrans("øØłŁđĐðÐħĦıيىكة", "oOlLdDdDhHiییکه"),
    **{ord("æ"): "ae", ord("Æ"): "AE", ord("œ"): "oe", ord("Œ"): "OE"},
    **{ord("ß"): "ss", ord("ẞ"): "SS", ord("þ"): "th", ord("Þ"): "TH"},
    **dict.fromkeys(map(ord, "‘’‛ʼʹ′"), "'"),
    **dict.fromkeys(map(ord, "‐‑‒–−"), "-"),
}

_JOIN: Final = r"(?:::|[.'/:@&+\-]|(?<=[0-9]),(?=[0-9]{3}(?![0-9])))"
_LANGUAGE: Final = r"[A-Za-z](?:\+\+|\#)(?![A-Za-z0-9_])"  # C++, C#
_LETTERS: Final = rf"(?:[^\W{_SPACELESS}]++[{_SIGNS}]*+)++"
_ASCII_RUN: Final = re.compile(rf"{_LANGUAGE}|[A-Za-z0-9]\w*+(?:{_JOIN}\w++)*+", re.ASCII)
_PAIR: Final = re.compile(r"(?=(..))", re.DOTALL)
_JOINT: Final = re.compile(r"[/':@&+_\-]+|(?<![0-9])\.|\.(?![0-9])")  # 3.11 stays one
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9.]+")
_CLITIC: Final = re.compile(r"'(?:(s)|t|d|m|re|ve|ll)$", re.IGNORECASE)

_CACHED_LENGTH: Final = 32  # characters; longer runs hardly come twice


class _Scripts(NamedTuple):
    """The patterns for text beyond ASCII: a run, and one character of two kinds."""

    run: re.Pattern[str]
    spaceless: re.Pattern[str]
    syllabic: re.Pattern[str]


@cache
def _scripts() -> _Scripts:
    """Compiled when the first such text comes: it takes longer than all other imports here."""
    run = rf"[{_SPACELESS}]++|{_LANGUAGE}|(?!_){_LETTERS}(?:{_JOIN}{_LETTERS})*+|[{_EMOJI}]"
    return _Scripts(re.compile(run), re.compile(f"[{_SPACELESS}]"), re.compile(f"[{_SYLLABIC}]"))


def terms(text: str) -> list[str]:
    """The index terms of a text, in order, repeated as often as they occur.

    Words come stemmed, text without spaces as pairs of characters (and Han and Hangul
    characters alone), names whole and by part. Any text is fine; one without a letter,
    digit or emoji gives no term.
    """
    folded = fold(text)
    runs = (_ASCII_RUN if folded.isascii() else _scripts().run).findall(folded)
    return list(
        chain.from_iterable(
            [_cached(run) if len(run) <= _CACHED_LENGTH else _terms(run) for run in runs]
        )
    )


def fold(text: str) -> str:
    """The text with compatibility forms, diacritics, quotes and dashes folded; case is kept."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text).translate(_FOLDED)
    return unicodedata.normalize("NFC", decomposed)


def _terms(run: str) -> tuple[str, ...]:
    if run.isascii() and run.isalpha() and run.islower():
        return (stem(run),)
    if not run.isascii() and _scripts().spaceless.match(run):
        pairs = _PAIR.findall(run)
        return (*pairs, *_scripts().syllabic.findall(run)) if pairs else (run,)
    return _name_terms(run)


_cached = lru_cache(maxsize=1 << 15)(_terms)


def _name_terms(run: str) -> tuple[str, ...]:
    """A name whole, without its joints, and by part: at joints, humps, and next to digits."""
    clitic = _CLITIC.search(run)
    if clitic:  # Ada's is Ada, don't is dont
        run = run[: clitic.start()] + ("" if clitic[1] else clitic[0][1:])
    run = run.replace(",", "")
    named = run[1:] not in ("++", "#") and any(map(str.isalpha, run))
    whole = _JOINT.sub("", run) if named else run  # 10:30 keeps its colon
    pieces = _JOINT.split(run)
    parts = pieces[:] if len(pieces) > 1 else []
    for piece in pieces:
        humps = _PART.findall(piece) if piece.isascii() else []
        if len(humps) > 1:
            parts += humps
    return (stem(whole.casefold()), *(stem(part.casefold()) for part in parts if part[1:]))
