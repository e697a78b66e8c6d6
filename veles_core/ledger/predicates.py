"""Predicates resolved to sets of ids, each by one range of the field rows."""

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from veles_core.ledger.connect import Database
from veles_core.ledger.ids import unsigned_array
from veles_core.records import ABOUT, Predicate
from veles_core.scalars import sort_key, type_range

if TYPE_CHECKING:
    from veles_core.protocols import Ids


class Range(NamedTuple):
    """The values that fulfil a comparison, as keys from ``low`` up to below ``high``."""

    low: bytes
    high: bytes


def matching(db: Database, predicates: Iterable[Predicate], now: float) -> "Ids | None":
    """The facts that fulfil all predicates but those of ``ne``, ascending; None: there are none.

    Expired facts may be among them. Hubs that a fact is about count while they are visible.
    """
    wanted = sorted((p for p in predicates if p.op != "ne"), key=lambda p: p.field)
    sets = [_of_field(db, field, list(group), now) for field, group in groupby(wanted, _field)]
    return _common(sets) if sets else None


def equal(db: Database, predicates: Iterable[Predicate], now: float) -> "Ids":
    """The facts that fail a predicate of ``ne``: their value is equal, ascending."""
    equal = [_single(db, p, now) for p in predicates if p.op == "ne"]
    return np.unique(np.concatenate(equal)) if equal else np.empty(0, np.uint64)


def range_of(predicate: Predicate) -> Range:
    """The range of keys for which a comparison holds (for ``ne``, does not hold)."""
    key = sort_key(predicate.value)
    low, high = type_range(key)
    after = key + b"\0"  # nothing sorts between a key and this
    match predicate.op:
        case "eq" | "ne":
            return Range(key, after)
        case "lt":
            return Range(low, key)
        case "le":
            return Range(low, after)
        case "gt":
            return Range(after, high)
        case "ge":
            return Range(key, high)


def _field(predicate: Predicate) -> str:
    return predicate.field


def _of_field(db: Database, field: str, predicates: Sequence[Predicate], now: float) -> "Ids":
    """A fact has one value of a field, so all its own comparisons are one range."""
    if any(len(_through_hubs(db, p, now)) for p in predicates):
        return _common([_single(db, p, now) for p in predicates])
    ranges = [range_of(p) for p in predicates]
    return _own(db, field, Range(max(r.low for r in ranges), min(r.high for r in ranges)))


def _single(db: Database, predicate: Predicate, now: float) -> "Ids":
    own = _own(db, predicate.field, range_of(predicate))
    through = _through_hubs(db, predicate, now)
    return np.union1d(own, through) if len(through) else own


def _own(db: Database, field: str, values: Range) -> "Ids":
    found = unsigned_array(
        db.scan(
            "SELECT fact_id FROM fields WHERE field = ? AND hub = 0 AND value >= ? AND value < ?",
            (field, *values),
        )
    )
    found.sort()
    return found


def _through_hubs(db: Database, predicate: Predicate, now: float) -> "Ids":
    """Facts about a visible hub for whose metadata the comparison holds."""
    if not predicate.through_hubs:
        return np.empty(0, np.uint64)
    found = unsigned_array(
        db.scan(
            "SELECT edges.source FROM fields CROSS JOIN facts ON facts.id = fact_id"
            " CROSS JOIN edges ON edges.target = fact_id"
            " WHERE field = ? AND fields.hub = 1 AND value >= ? AND value < ?"
            " AND (expires_at IS NULL OR expires_at > ?) AND relation = ?",
            (predicate.field, *range_of(predicate), now, ABOUT),
        )
    )
    return np.unique(found)


def _common(sets: "Sequence[Ids]") -> "Ids":
    return reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), sets)
