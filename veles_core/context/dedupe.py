"""Duplicates: which fragments say what another one already says.

Exact duplicates have the same bytes (media: decoded). Near duplicates have the same text
after folding case, width and whitespace; one that must survive verbatim is kept. Of a
group the one survives that is packed first: cached, then critical, then by priority.
A cached fragment only ever yields to another cached one, so that nothing outside the
stable prefix can change it.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, NamedTuple

from veles_core.context.item import Item
from veles_core.context.score import fold

_WHITESPACE: Final = bytes(byte for byte in range(128) if chr(byte).isspace())
_LOWER: Final = bytes(range(256)).lower()


class Twin(NamedTuple):
    """The fragment that survives in place of a duplicate."""

    place: int
    exact: bool


def superseded_screenshots(items: Sequence[Item]) -> set[int]:
    """Indices of the screenshots for whose target a later one was taken."""
    latest: dict[str, int] = {}
    old: set[int] = set()
    for item in items:
        if item.mime is None or item.kind != "screenshot":
            continue
        target = item.metadata.get("target")
        if not isinstance(target, str):
            continue
        if target in latest:
            old.add(latest[target])
        latest[target] = item.place
    return old


def duplicates(items: Iterable[Item], near: bool) -> dict[int, Twin]:
    """The twin of each fragment that can be left out, by its index."""
    twins: dict[int, Twin] = {}
    texts = []
    for group in _groups(items, lambda item: (item.data, item.mime is None)):
        best = _survivor(group, twins, exact=True)
        if best.mime is None:
            texts.append(best)
    if near:
        # Without its whitespace a text is cheap to compare; what agrees is looked at again.
        for likely in _groups(texts, _without_whitespace):
            if len(likely) > 1:
                for group in _groups(likely, lambda item: " ".join(fold(item.text).split())):
                    _survivor(group, twins, exact=False)
    return twins


def _survivor(group: Sequence[Item], twins: dict[int, Twin], *, exact: bool) -> Item:
    """The item of a group that stays; the others that may go get their twin."""
    if len(group) == 1:
        return group[0]
    best = min(group, key=lambda item: (not item.cached, not item.critical, -item.priority))
    for item in group:
        if item is not best and (exact or not item.critical):
            twins[item.place] = Twin(best.place, exact)
    return best


def _groups(items: Iterable[Item], key: Callable[[Item], Hashable]) -> Iterable[list[Item]]:
    groups: dict[Hashable, list[Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups.values()


def _without_whitespace(item: Item) -> bytes:
    if item.text.isascii():
        return item.data.translate(_LOWER, _WHITESPACE)
    return "".join(fold(item.text).split()).encode()
