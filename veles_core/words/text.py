"""Text to index terms, for any script.

A fact and a question go through the same steps: Unicode is folded (compatibility forms,
diacritics), one compiled pattern cuts the text into runs, and each run gives its terms
through a cache. There is no Python loop over characters.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import Final

from veles_core.words.stems import stem

_HAN: Final = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
# Scripts written without spaces between words, and Hangul, whose particles are glued on.
_SPACELESS: Final = (
    _HAN
    + "\u3031-\u3035\u3041-\u309f\u30a1-\u30ff\u31f0-\u31ff\U0001b000-\U0001b16f"  # kana
    + "\u3105-\u312f\u31a0-\u31bf\ua000-\ua48c"  # Bopomofo, Yi
    + "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    + "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"  # Thai, Lao
    + "\u1000-\u1049\u1050-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f"  # Myanmar
    + "\u1780-\u17d3\u17d7\u17dc\u17dd\u17e0-\u17e9"  # Khmer
    + "\u1950-\u19df\u1a20-\u1aad"  # Tai Le, New Tai Lue, Tai Tham
)
# Vowel signs are part of their word, but the pattern \w does not match marks.
_VOWEL_SIGNS: Final = (
    "\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u07fd\u0816-\u082d\u0859-\u085b"  # Syriac …
    "\u08d3-\u0963\u0966-\u0df3"  # the scripts of India and Sri Lanka
    "\u0f18-\u0f39\u0f3e-\u0f84\u0f86-\u0fbc"  # Tibetan, between its syllable marks
    "\u135d-\u135f\u1712-\u1734\u1752-\u1773\u1885-\u18a9\u1920-\u193b\u1a17-\u1a1b"
    "\u1b00-\u1b44\u1b80-\u1bf3\u1c00-\u1c37\u1cd0-\u1cfa\ua802-\ua827\ua880-\ua8c5"
    "\ua8e0-\ua8f1\ua900-\ua953\ua980-\ua9c0\uaa00-\uaa4d\uaa80-\uaaf6\uabc0-\uabed"
    "\U00010a00-\U00010a3f\U00011000-\U00011fff"
)
_EMOJI: Final = "\u2600-\u27bf\U0001f000-\U0001faff"

# Folded away: diacritics of alphabets (not vowel signs), joiners and other invisible marks.
_REMOVED: Final = (
    *range(0x0300, 0x0370), *range(0x0483, 0x048A), *range(0x0591, 0x05BE), 0x05BF, 0x05C1,
    0x05C2, 0x05C4, 0x05C5, 0x05C7, *range(0x0610, 0x061B), 0x0640, *range(0x064B, 0x0660),
    0x0670, *range(0x06D6, 0x06DD), *range(0x06DF, 0x06E5), 0x06E7, 0x06E8, *range(0x06EA, 0x06EE),
    *range(0x1AB0, 0x1B00), *range(0x1DC0, 0x1E00), *range(0x20D0, 0x20F1), *range(0xFE00, 0xFE10),
    *range(0xFE20, 0xFE30), 0x00AD, 0x200C, 0x200D, 0x200E, 0x200F, *range(0x2060, 0x2065), 0xFEFF,
)  # fmt: skip
_FOLDED: Final = dict.fromkeys(_REMOVED) | str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ħ": "h"}
    | {"Ħ": "H", "ı": "i", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th"}
    | dict.fromkeys("‘’‛ʼʹ′＇`´", "'")
    | dict.fromkeys("‐‑‒–−", "-")
)

_JOIN: Final = r"(?:::|[.'/:@&+\-]|(?<=[0-9]),(?=[0-9]{3}(?![0-9])))"
_NAME: Final = r"[A-Za-z](?:\+\+|\#)(?![A-Za-z0-9_])"  # C++, C#
_ASCII_RUN: Final = re.compile(rf"{_NAME}|[A-Za-z0-9]\w*(?:{_JOIN}\w+)*", re.ASCII)
_LETTER: Final = rf"(?:[^\W{_SPACELESS}]|[{_VOWEL_SIGNS}])"
_RUN: Final = re.compile(
    rf"[{_SPACELESS}]+|{_NAME}|(?!_){_LETTER}+(?:{_JOIN}{_LETTER}+)*|[{_EMOJI}]"
)
_IS_SPACELESS: Final = re.compile(rf"[{_SPACELESS}]")
_HAN_CHARACTER: Final = re.compile(rf"[{_HAN}]")
_JOINT: Final = re.compile(r"[.'/:@&+,_\-]+")
# Where an ASCII name falls into parts: joints, changes of case, letters against digits.
_ASCII_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SHORT_ENDING: Final = re.compile(r"'(?:s|t|d|m|re|ve|ll)$", re.IGNORECASE)


def fold(text: str) -> str:
    """Compatibility forms, diacritics, quotes and dashes folded; case is kept."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text).translate(_FOLDED)
    return unicodedata.normalize("NFC", plain)


def terms(text: str) -> list[str]:
    """The index terms of a text, in order, repeated as often as they occur.

    Words come stemmed, text without spaces as character pairs, identifiers whole and by
    part. Any text is fine; one without a letter, digit or emoji gives no term.
    """
    folded = fold(text)
    runs = (_ASCII_RUN if folded.isascii() else _RUN).findall(folded)
    return list(chain.from_iterable(map(_run_terms, runs)))


@lru_cache(maxsize=1 << 16)
def _run_terms(run: str) -> tuple[str, ...]:
    if run.isalpha() and run.islower() and run.isascii():
        return (stem(run),)
    if _IS_SPACELESS.match(run):
        if len(run) == 1:
            return (run,)
        pairs = [run[start : start + 2] for start in range(len(run) - 1)]
        return (*pairs, *_HAN_CHARACTER.findall(run))
    return _name_terms(run)


def _name_terms(run: str) -> tuple[str, ...]:
    """A name whole, its joints dropped, and each of its parts."""
    if run[1:] in ("++", "#"):
        return (run.casefold(),)
    short = _SHORT_ENDING.search(run)
    if short:
        run = run[: short.start()] + ("" if short[0] in ("'s", "'S") else short[0][1:])
    parts = _ASCII_PART.findall(run) if run.isascii() else _JOINT.split(run)
    parts = [stem(part.casefold()) for part in parts if part]
    whole = stem(_JOINT.sub("", run.replace(",", "") if run[0].isdigit() else run).casefold())
    if len(parts) < 2:
        return (whole,)
    return (whole, *(part for part in parts if len(part) > 1))
