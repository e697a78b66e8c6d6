"""Typed rows of each metadata key, so that a predicate is one range of an index.

A row's value is ``scalars.sort_key`` of the JSON value. Rows of an old version of a fact
are deleted by computing them from its old metadata, which spares a second index.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from veles_core.ledger.connect import Database
from veles_core.ledger.ids import unsigned_array
from veles_core.records import ABOUT, Metadata, Predicate
from veles_core.scalars import sort_key, type_range

if TYPE_CHECKING:
    from veles_core.protocols import Ids

Field = tuple[str, bytes]

_RESERVED: Final = "_veles_"
_DATE: Final = "_veles_date"  # the one reserved key that callers may compare


def of(metadata: Metadata) -> frozenset[Field]:
    """The rows of a fact's metadata. Raises ValueError for what is not JSON."""
    return frozenset(
        (key, sort_key(value))
        for key, value in metadata.items()
        if key == _DATE or not key.startswith(_RESERVED)
    )


def replace(
    db: Database, versions: Iterable[tuple[int, frozenset[Field], frozenset[Field]]]
) -> None:
    """Change the rows of facts, given as (stored form of the id, old rows, new rows)."""
    gone: list[tuple[str, bytes, int]] = []
    fresh: list[tuple[str, bytes, int]] = []
    for id, old, new in versions:
        gone += [(*field, id) for field in old - new]
        fresh += [(*field, id) for field in new - old]
    db.run_many("DELETE FROM fields WHERE field = ? AND value = ? AND fact_id = ?", gone)
    # In the order of the table, neighbours share a page.
    db.run_many("INSERT OR IGNORE INTO fields VALUES (?, ?, ?)", sorted(fresh))


def matching(db: Database, predicate: Predicate, now: float) -> "Ids":
    """The ids for which the predicate's comparison holds, ascending; for ``ne``, of ``eq``.

    Hubs and expired facts whose own fields match are among them; they are for the caller
    to leave out. Hubs that a fact is about count only while they are visible.
    """
    where, bounds = _range(predicate)
    found = unsigned_array(db.scan(f"SELECT fact_id FROM fields WHERE field = ? AND {where}",
                                   (predicate.field, *bounds)))  # fmt: skip
    if predicate.through_hubs:
        through = unsigned_array(
            db.scan(
                "SELECT edges.source FROM fields CROSS JOIN facts ON facts.id = fact_id"
                f" CROSS JOIN edges ON edges.target = fact_id WHERE field = ? AND {where}"
                " AND hub = 1 AND (expires_at IS NULL OR expires_at > ?) AND relation = ?",
                (predicate.field, *bounds, now, ABOUT),
            )
        )
        found = np.concatenate([found, through])
    return np.unique(found)


def _range(predicate: Predicate) -> tuple[str, Iterable[bytes]]:
    """The condition on ``value`` and its bounds: equality, or a range within the JSON type."""
    key = sort_key(predicate.value)
    low, high = type_range(key)
    match predicate.op:
        case "eq" | "ne":
            return "value = ?", (key,)
        case "lt":
            return "value >= ? AND value < ?", (low, key)
        case "le":
            return "value >= ? AND value <= ?", (low, key)
        case "gt":
            return "value > ? AND value < ?", (key, high)
        case "ge":
            return "value >= ? AND value < ?", (key, high)
