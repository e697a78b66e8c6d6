"""What is measured of a memory service, and the process that measures one.

``answer`` turns a process into a measured subject: it opens the service, asks it one
question, and then measures bursts of calls as its parent wishes, so that two services can
take turns. Only the standard library is imported here, since the peer's environment has
no other.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from benchmarks.corpus import Entry, any_number, entry, project, question

K: Final = 10
ROWS: Final = 100  # that a range of recall_where holds
REMEMBERED_FROM: Final = 10_000_000  # numbers of entries that a burst remembers and forgets
FULL_QUERIES: Final = 50

Filter = Mapping[str, Any]
Call = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Found:
    """One memory that was recalled."""

    id: int
    metadata: Mapping[str, Any]


class Subject(Protocol):
    """A service with the hash embedder, behind the calls that are measured."""

    def fill(self, entries: Sequence[Entry]) -> None:
        """Store entries with their links."""
        ...

    def remember(self, entry: Entry) -> int:
        """Store one entry without its links; its id."""
        ...

    def recall(self, query: str, k: int, filter: Filter | None = None) -> list[Found]:
        """The best memories, perhaps of those with these metadata."""
        ...

    def recall_where(self, query: str, k: int, field: str, low: int, high: int) -> list[Found]:
        """The best memories with ``low <= field < high``."""
        ...

    def recall_fused(self, query: str, k: int) -> object:
        """The best memories, and what they are linked to."""
        ...

    def why(self, query: str, hops: int) -> object:
        """The walk from the best memory."""
        ...

    def feedback(self, id: int, success: bool) -> object:
        """Reinforce a memory."""
        ...

    def forget(self, id: int) -> object:
        """Delete a memory."""
        ...

    def settle(self) -> None:
        """Wait until no work is left in the background."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


# Each prepares the call of one turn on a store of ``size`` facts; the call alone is timed.


def _remember(subject: Subject, _size: int, turn: int) -> Call:
    fresh = entry(REMEMBERED_FROM + turn)
    return lambda: subject.remember(fresh)


def _recall(subject: Subject, size: int, turn: int) -> Call:
    asked = question(any_number(turn, size))
    return lambda: subject.recall(asked, K)


def _recall_after_remember(subject: Subject, size: int, turn: int) -> Call:
    asked = question(any_number(turn, size))
    subject.remember(entry(REMEMBERED_FROM + turn))
    return lambda: subject.recall(asked, K)


def _filtered(subject: Subject, size: int, turn: int) -> Call:
    asked, wanted = question(any_number(turn, size)), {"project": project(turn)}
    return lambda: subject.recall(asked, K, wanted)


def _where(subject: Subject, size: int, turn: int) -> Call:
    low = any_number(turn, max(size - ROWS, 1))
    asked = question(any_number(turn, size))
    return lambda: subject.recall_where(asked, K, "ticket", low, low + ROWS)


def _fused(subject: Subject, size: int, turn: int) -> Call:
    asked = question(any_number(turn, size))
    return lambda: subject.recall_fused(asked, K)


def _why(subject: Subject, size: int, turn: int) -> Call:
    asked = question(any_number(turn, size))
    return lambda: subject.why(asked, 2)


def _feedback(subject: Subject, size: int, turn: int) -> Call:
    best = subject.recall(question(any_number(turn, size)), 1)[0].id
    return lambda: subject.feedback(best, turn % 2 == 0)


def _forget(subject: Subject, _size: int, turn: int) -> Call:
    id = subject.remember(entry(REMEMBERED_FROM + turn))
    return lambda: subject.forget(id)


MEASURES: Final[Mapping[str, Callable[[Subject, int, int], Call]]] = {
    "remember": _remember,
    "recall": _recall,
    "recall after remember": _recall_after_remember,
    "recall filtered": _filtered,
    "recall_where": _where,
    "recall_fused": _fused,
    "why": _why,
    "feedback": _feedback,
    "forget": _forget,
}
ADDING: Final = ("remember", "recall after remember")

Times = Sequence[tuple[float, float]]  # seconds of each call: on the wall, of all processors


def burst(subject: Subject, measure: str, size: int, first: int, count: int) -> Times:
    """The times of ``count`` calls, after one that isn't counted; leaves the store as it was."""
    times = []
    for turn in range(first, first + count + 1):
        call = MEASURES[measure](subject, size, turn)
        began, used = time.perf_counter(), time.process_time()
        call()
        times.append((time.perf_counter() - began, time.process_time() - used))
    if measure in ADDING:
        for turn in range(first, first + count + 1):
            # The same text is the same memory: this gives its id.
            subject.forget(subject.remember(entry(REMEMBERED_FROM + turn)))
    return times[1:]


def complete(subject: Subject, size: int) -> float:
    """The share of filtered recalls that gave as many memories as match, and only those."""
    full = 0
    for turn in range(FULL_QUERIES):
        wanted = project(turn)
        matching = len(range(turn % 100, size, 100))
        found = subject.recall(question(any_number(turn, size)), K, {"project": wanted})
        right = [each for each in found if each.metadata.get("project") == wanted]
        full += len(found) == len(right) == min(K, matching)
    return full / FULL_QUERIES


def answer(open_subject: Callable[[], Subject]) -> None:
    """Measure what the parent asks for, a JSON line each, until its end of the pipe closes.

    The first line says how long it took from here to the answer of a first recall, imports
    included.
    """
    began = time.perf_counter()
    subject = open_subject()
    subject.recall("what do we know about the cache", K)
    _say({"answered": time.perf_counter() - began})
    for line in sys.stdin:
        asked = json.loads(line)
        match asked.pop("do"):
            case "fill":
                made = list(map(entry, range(asked["first"], asked["until"])))
                began = time.perf_counter()
                subject.fill(made)
                _say({"seconds": time.perf_counter() - began})
            case "burst":
                _say({"times": burst(subject, **asked)})
            case "settle":
                began = time.perf_counter()
                subject.settle()
                _say({"seconds": time.perf_counter() - began})
            case "complete":
                _say({"share": complete(subject, **asked)})
            case "die":
                os._exit(0)  # as kill -9 would: nothing is closed
    subject.close()


def _say(words: Mapping[str, Any]) -> None:
    print(json.dumps(words), flush=True)
