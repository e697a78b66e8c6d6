"""Code fences: which stretches of a text stand between ``` or ~~~ lines."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

# Begins with a literal character, to the next of which the regex engine leaps.
_FENCE: Final = re.compile(r"\n[ \t]*+(`{3,}+|~{3,}+)([^\n]*+)")


class Fence(NamedTuple):
    """A fenced stretch ``[start, end)``, fence lines included; to the end if not closed."""

    start: int
    end: int
    closed: bool


def has_fence(text: str) -> bool:
    """Whether the text holds a code fence; backticks also count inside a line."""
    return "```" in text or ("~~~" in text and _FENCE.search(f"\n{text}") is not None)


def fences(text: str) -> Iterator[Fence]:
    """The fences of a text in order, as Markdown pairs them.

    A fence is closed by a line of at least as many of the same character and nothing
    else. One that no line closes is reported open, and what follows is looked at anew.
    """
    if "```" not in text and "~~~" not in text:
        return
    # With a line break before it, what is found starts where its line does in the text.
    padded = f"\n{text}"
    last = _last_closers(padded)
    opener: re.Match[str] | None = None
    for line in _FENCE.finditer(padded):
        mark, rest = line[1], line[2]
        if opener is not None:
            if mark[0] == opener[1][0] and len(mark) >= len(opener[1]) and not rest.strip():
                yield Fence(opener.start(), min(line.end(), len(text)), True)
                opener = None
        elif mark[0] == "`" and "`" in rest:
            continue  # inline code, not a fence
        elif last.after(mark, line.start()):
            opener = line
        else:
            yield Fence(line.start(), len(text), False)


class _LastClosers:
    """Where the last line stands that could close a fence of a given length."""

    def __init__(self) -> None:
        self._places: dict[str, dict[int, int]] = {"`": {}, "~": {}}
        self._steps: dict[str, tuple[list[int], list[int]]] = {}

    def add(self, mark: str, place: int) -> None:
        """Note a line that closes fences of up to ``len(mark)``; places ascend."""
        self._places[mark[0]][len(mark)] = place

    def seal(self) -> None:
        """All lines are noted: for each length the last place of that or a greater one."""
        for char, places in self._places.items():
            lengths = sorted(places)
            latest, furthest = [], -1
            for length in reversed(lengths):
                furthest = max(furthest, places[length])
                latest.append(furthest)
            self._steps[char] = (lengths, latest[::-1])

    def after(self, mark: str, place: int) -> bool:
        """Whether a line after ``place`` closes the fence that ``mark`` opens."""
        lengths, latest = self._steps[mark[0]]
        at = bisect_left(lengths, len(mark))
        return at < len(lengths) and latest[at] > place


def _last_closers(padded: str) -> _LastClosers:
    """What makes an unclosed fence cost one look-up instead of a search to the end."""
    last = _LastClosers()
    for line in _FENCE.finditer(padded):
        if not line[2].strip():
            last.add(line[1], line.start())
    last.seal()
    return last
