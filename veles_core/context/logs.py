"""Logs: repeated lines become one line with a count, and what is too long is cut by rank.

A kept line is the first occurrence's exact bytes; a line that occurred more than once is
followed by `` (xN)``. Blank lines are kept once, without a count.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import Final, NamedTuple

_TIME: Final = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"

#: A time stamp as ISO-8601, log4j or syslog write it, perhaps in brackets.
STAMP: Final = (
    r"\[?(?:"
    rf"\d{{4}}[-/]\d{{2}}[-/]\d{{2}}(?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d{{1,9}})?)?)?"
    r"(?:[ ]?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
    rf"|\d{{1,2}}[ ]{_MONTH}[ ]\d{{4}}[ ]{_TIME}"
    rf"|{_MONTH}[ ]{{1,2}}\d{{1,2}}[ ](?:\d{{4}}[ ])?{_TIME}"
    rf"|{_TIME}"
    r")\]?(?!\w)"
)
_STAMPED: Final = re.compile(rf"(?m)^[ \t]*+{STAMP}(?:[ \t]*+\[(?:0x)?[0-9a-fA-F]{{1,16}}\])*+")

_SEVERE: Final = re.compile(
    r"\b(?:fatal|error|err|warn|warning|critical|crit|severe|panic|emerg|emergency|alert"
    r"|exception|traceback|fail|failed|failure)\b",
    re.IGNORECASE,
)


class Log(NamedTuple):
    """The distinct lines of a log in order of first occurrence.

    ``lines`` is how each is shown, ``counts`` how often it occurred.
    """

    lines: tuple[str, ...]
    counts: tuple[int, ...]

    def text(self, kept: Iterable[int] | None = None) -> str:
        """The collapsed log, or only its lines with the ascending indices ``kept``."""
        return "\n".join(self.lines if kept is None else map(self.lines.__getitem__, kept))

    def ranked(self) -> list[int]:
        """Indices in the order in which lines are kept when not all can be.

        Errors and warnings take turns with the most repeated of the others, then come
        those that occurred once; each kind by count, then by place.
        """
        severe, repeated, single = [], [], []
        for index in sorted(range(len(self.lines)), key=lambda i: -self.counts[i]):
            if _SEVERE.search(self.lines[index]):
                severe.append(index)
            elif self.counts[index] > 1:
                repeated.append(index)
            else:
                single.append(index)
        pairs = chain.from_iterable(zip_longest(severe, repeated))
        return [index for index in pairs if index is not None] + single


def collapse(text: str, normalize: bool) -> Log | None:
    """The collapsed log, or None if no line but blank ones occurs twice.

    ``normalize`` makes lines equal that differ only in their leading time stamp and the
    ``[hex]`` counters right after it.
    """
    lines = text.split("\n")
    if not normalize:
        counts = Counter(lines)
        if not _repeats(counts):
            return None
        return _log(counts, counts)
    keys = _STAMPED.sub("", text).split("\n")
    counts = Counter(keys)
    if not _repeats(counts):
        return None
    first = dict(zip(reversed(keys), reversed(lines), strict=True))
    return _log((first[key] for key in counts), counts)


def _log(lines: Iterable[str], counts: Counter[str]) -> Log:
    return Log(tuple(map(_with_count, lines, counts.values())), tuple(counts.values()))


def _repeats(counts: Counter[str]) -> bool:
    return any(count > 1 and line.strip() for line, count in counts.items())


def _with_count(line: str, count: int) -> str:
    if count == 1 or not line.strip():
        return line
    if line.endswith("\r"):
        return f"{line[:-1]} (x{count})\r"
    return f"{line} (x{count})"


# Which lines of a transcript are log lines

_LEVEL: Final = (
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|CRIT|SEVERE|PANIC)"
)
_LINE: Final = (
    r"[ \t]{0,16}+(?:"
    rf"{STAMP}"
    rf"|(?:[^\s]{{1,60}}+[ \t]{{1,8}}+){{0,3}}?[\[<(]?{_LEVEL}[\]>)]?(?=[\s:|,]|\Z)"
    r"|(?:error|warning|info|debug|[EWIDF])(?:\[\w{1,16}\])?:[ \t]"
    r"|\[[ ]{0,8}\d{1,10}\.\d{1,9}\]"
    r")[^\n]*+"
)
_RUN: Final = re.compile(rf"\n{_LINE}(?:\n{_LINE}){{7,}}+")


def log_runs(padded: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of at least eight consecutive log-like lines in ``text[start:end]``.

    ``padded`` is that text with a line break before it; the stretch consists of lines.
    """
    for match in _RUN.finditer(padded, start, end):
        yield match.start(), min(match.end(), end)
