"""Negative constraints: which texts tell their reader not to do something.

A text is searched for the cue words of the table ``prohibitions``, and only where one
stands do patterns look at its neighbourhood: the time is linear in the text, and small
where there is no cue.
"""

import functools
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from veles_core.context.prohibitions import PROHIBITIONS

_REACH: Final = 100  # how far before a cue a clause is looked at, in characters
_BETWEEN: Final = "\n.\n"


class _Compiled(NamedTuple):
    last: tuple[str, ...]
    before: re.Pattern[str] | None
    after: re.Pattern[str]


def forbidding(texts: Sequence[str]) -> list[bool]:
    """Which of the folded texts hold a negative constraint.

    All are searched in one go, with a full stop between them that no pattern crosses.
    """
    joined = _BETWEEN.join(texts)
    if not joined.isascii():
        for apostrophe in "’‘ʼ´`":
            joined = joined.replace(apostrophe, "'")
    starts = list(accumulate((len(text) + len(_BETWEEN) for text in texts), initial=0))
    found = [False] * len(texts)
    for scanner in _scanners():
        for cue in scanner.finditer(joined):
            index = bisect_right(starts, cue.start()) - 1
            found[index] = found[index] or _holds(cue[0], joined, cue.start())
    return found


def _holds(cue: str, folded: str, at: int) -> bool:
    """Whether one of the cue's rows matches where it stands."""
    start = max(0, at - _REACH)
    previous = folded[start:at].rstrip()
    return any(
        (not last or previous.endswith(last))
        and after.match(folded, at) is not None
        and (before is None or before.search(folded, start, at) is not None)
        for last, before, after in _compiled(cue)
    )


@functools.cache
def _scanners() -> tuple[re.Pattern[str], ...]:
    """One pattern for the cues of each first letter: the regex engine leaps from one
    literal letter to the next, so that this takes a third of the time of searching for
    each cue alone.
    """
    rests: dict[str, list[str]] = {}
    for cue in PROHIBITIONS:
        rests.setdefault(cue[0], []).append(re.escape(cue[1:]))
    return tuple(re.compile(f"{letter}(?:{'|'.join(rest)})") for letter, rest in rests.items())


@functools.cache
def _compiled(cue: str) -> tuple[_Compiled, ...]:
    """The rows of a cue, compiled when it is first seen: all of them would slow the start."""
    return tuple(
        _Compiled(
            row.last,
            re.compile(rf"(?:{_spaced(row.before)})\Z") if row.before else None,
            re.compile(_spaced(row.after)),
        )
        for row in PROHIBITIONS[cue]
    )


def _spaced(pattern: str) -> str:
    """The pattern with each blank as any whitespace; looking behind has a fixed width."""
    return re.sub(
        r"\(\?<![^)]*\)| ",
        lambda found: r"\s+" if found[0] == " " else found[0].replace(" ", r"\s"),
        pattern,
    )
