"""Relevance: the share of the query's distinct terms that a fragment holds."""

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from veles_core.context.model import Importance, PulledMemory

DATE: Final = "_veles_date"  # the recency field of a policy that names none
HALF_LIFE_DAYS: Final = 30  # a memory this much older than the newest counts half as recent

_FEW_TERMS: Final = 64  # up to here a search a term is faster than a set of all words
_NOT_WORD: Final = re.compile(r"[\W_]+")
_ASCII_WORDS: Final = bytes(
    ord(chr(byte).lower()) if byte < 128 and chr(byte).isalnum() else 32 for byte in range(256)
)


def fold(text: str) -> str:
    """The text in which case, width and composition don't count."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold()


def spaced_words(text: str) -> str:
    """The folded alphanumeric runs of a text, each between two spaces."""
    if text.isascii():
        return f" {text.encode().translate(_ASCII_WORDS).decode()} "
    return f" {_NOT_WORD.sub(' ', fold(text))} "


class Query:
    """A query's distinct terms, to be looked for in many texts."""

    def __init__(self, query: str) -> None:
        self.terms = frozenset(spaced_words(query).split())
        self._spaced = tuple(f" {term} " for term in self.terms)

    def share(self, text: str) -> float:
        """The share of the terms found in the text; 0.0 for a query without terms."""
        if not self.terms:
            return 0.0
        words = spaced_words(text)
        if len(self.terms) > _FEW_TERMS:
            found = len(self.terms.intersection(words.split()))
        else:
            found = sum(map(words.__contains__, self._spaced))
        return found / len(self.terms)


def recencies(memories: Sequence[PulledMemory], importance: Importance) -> list[float]:
    """How recent each memory is among these: 1.0 for the newest, 0.0 without a date.

    There is no clock here, so the newest memory stands for today.
    """
    key = importance.recency_field or DATE
    days = [_day(memory.metadata.get(key)) for memory in memories]
    newest = max((day for day in days if day is not None), default=0)
    return [
        0.0 if day is None else HALF_LIFE_DAYS / (HALF_LIFE_DAYS + newest - day) for day in days
    ]


def memory_weight(
    memory: PulledMemory, share: float, recency: float, importance: Importance
) -> float:
    """What a pulled memory is packed by: relevance or similarity, blended with importance."""
    score = memory.score if 0.0 <= memory.score <= 1.0 else 0.0
    return (
        max(share, score) + importance.confidence * memory.confidence + importance.recency * recency
    )


def _day(value: Any) -> int | None:
    """The ordinal of a YYYYMMDD integer, None if it is no calendar date."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    try:
        return date(value // 10_000, value // 100 % 100, value % 100).toordinal()
    except ValueError:
        return None
