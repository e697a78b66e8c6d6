"""Dates as the integers YYYYMMDD that facts carry, and the timeline rendered from them."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from veles_core.memory.answers import Memory


def is_date(value: Any) -> bool:
    """Whether a value is an integer YYYYMMDD that names a real calendar date."""
    return to_date(value) is not None


def to_date(value: Any) -> date | None:
    """The calendar date that an integer YYYYMMDD names; None if it names none."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= 99991231:
        return None
    try:
        return date(value // 10_000, value // 100 % 100, value % 100)
    except ValueError:
        return None


def timeline(memories: Iterable[Memory], date_field: str) -> tuple[str, str] | None:
    """The dated rendering of memories and the most recent date among them.

    One line a memory, oldest first, ties by id, undated ones last; None if none is dated.
    """
    dated = sorted(
        ((to_date(memory.metadata.get(date_field)), memory) for memory in memories),
        key=lambda pair: (pair[0] is None, pair[0] or date.min, pair[1].id),
    )
    days = [day for day, _ in dated if day]
    if not days:
        return None
    lines = [
        f"- [{day.isoformat()}] {_one_line(memory.content)}"
        if day
        else f"- {_one_line(memory.content)}"
        for day, memory in dated
    ]
    return "\n".join(lines), max(days).isoformat()


def _one_line(content: str) -> str:
    return " ".join(content.splitlines())
