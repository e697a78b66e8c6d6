"""A made-up project's memory: facts, links and questions, the same on every machine.

Facts are sentences of about 120 characters. Their words follow Zipf's law: the small words
of English, words of software work, and a long tail of names. Each entry depends on its
number alone, so that a smaller corpus is the beginning of a larger one.

Only the standard library is imported, since the measured peer's environment has no other.
"""

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Final

_SMALL: Final = (
    "the of to and in we a is for that it with on was as by be this from at not are or have has "
    "after when because which no been if so than then but all can into will only before they"
)
_WORK: Final = """
    service server client store index query cache queue worker job batch stream event log metric
    alert test build release branch merge review deploy rollback migration schema table column
    key value token session user account invoice payment order customer report export import
    parser lexer compiler runtime thread lock mutex channel buffer page block file disk network
    socket request response header timeout retry backoff limit quota budget cost latency
    throughput memory leak crash error failure outage incident fix patch workaround decision
    choice reason option plan draft version library package module plugin config setting flag
    default policy rule filter ranking score vector graph edge node hub fact document snapshot
    backup restore replica shard partition leader follower consensus clock date time zone region
    cluster container image registry secret certificate permission role audit consent privacy
    moved replaced removed added renamed measured doubled halved fixed broke failed passed chose
    rejected agreed asked wrote read kept dropped raised lowered enabled disabled documented slow
    fast small large new old safe wrong right missing double empty final first last weekly nightly
"""
_NAMES: Final = 20_000
_SYLLABLES: Final = [
    first + vowel for first in (*"bdfgklmnprstvz", "ch", "st", "tr") for vowel in "aeiou"
]
_WORDS_A_FACT: Final = 20
_PROJECTS: Final = 100  # each holds 1 % of the facts
_STATUSES: Final = ("open", "done", "blocked", "dropped")
_RELATIONS: Final = ("caused_by", "decided_in", "implements", "follows", "replaces")
_LINKS: Final = (0, 1, 1, 2)  # of an entry, by its number: one on average
_OPENINGS: Final = ("what do we know about", "why did we choose", "when was the", "who asked for")


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact; ``links`` are relations to earlier entries by number."""

    number: int
    text: str
    metadata: dict[str, Any]
    links: tuple[tuple[int, str], ...]


def entry(number: int) -> Entry:
    """The fact with this number."""
    dice = random.Random(number)
    words, weights = _vocabulary()
    drawn = dice.choices(words, cum_weights=weights, k=_WORDS_A_FACT)
    metadata = {
        "project": project(number),
        "status": dice.choice(_STATUSES),
        "date": 10_000 * dice.randint(2023, 2026) + 100 * dice.randint(1, 12) + dice.randint(1, 28),
        "ticket": number,
    }
    count = _LINKS[number % len(_LINKS)] if number else 0
    links = {dice.randrange(number): dice.choice(_RELATIONS) for _ in range(count)}
    return Entry(number, " ".join(drawn).capitalize() + ".", metadata, tuple(links.items()))


def entries(count: int, first: int = 0) -> Iterator[Entry]:
    """So many facts in the order of their numbers."""
    return map(entry, range(first, first + count))


def project(number: int) -> str:
    """The project of an entry; every hundredth entry has the same."""
    return f"p{number % _PROJECTS:02}"


def question(number: int) -> str:
    """A question that shares five longer words with the fact of this number."""
    dice = random.Random(-number - 1)
    words = sorted({word for word in entry(number).text[:-1].lower().split() if len(word) > 3})
    asked = dice.sample(words, min(5, len(words)))
    return f"{dice.choice(_OPENINGS)} {' '.join(asked)}"


def any_number(turn: int, size: int) -> int:
    """A number below ``size`` for each turn, spread over all of them."""
    return random.Random(f"turn {turn}").randrange(size)


def export_lines(wanted: Iterable[Entry], ids: "dict[int, int]") -> Iterator[str]:
    """Entries as the lines of an export: facts first, then their links.

    ``ids`` gives the id of each entry by its number.
    """
    links = []
    for each in wanted:
        fact = {"type": "fact", "id": str(ids[each.number]), "content": each.text}
        yield json.dumps(fact | {"metadata": each.metadata, "confidence": 0.5, "expires_at": None})
        links += [(ids[each.number], relation, ids[target]) for target, relation in each.links]
    for source, relation, target in links:
        ends = {"from": str(source), "relation": relation, "to": str(target)}
        yield json.dumps({"type": "edge", **ends})


@cache
def _vocabulary() -> tuple[list[str], list[float]]:
    """Words from the most frequent to the rarest, and their weights summed up."""
    known = [*_SMALL.split(), *_WORK.split()]
    dice = random.Random("vocabulary")
    names = ("".join(dice.choices(_SYLLABLES, k=dice.randint(2, 4))) for _ in range(2 * _NAMES))
    words = list(dict.fromkeys([*known, *names]))[: _NAMES + len(known)]
    return words, list(accumulate(1 / (rank + 2.7) for rank in range(len(words))))
