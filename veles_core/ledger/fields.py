"""Typed rows of each metadata key, so that a predicate is one range of an index.

A row's value is ``scalars.sort_key`` of the JSON value. Rows of an old version of a fact
are deleted by computing them from its old metadata, which spares a second index.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from veles_core.ledger.connect import Database
from veles_core.records import Metadata
from veles_core.scalars import sort_key

_RESERVED: Final = "_veles_"
_DATE: Final = "_veles_date"  # the one reserved key that callers may compare


class Field(NamedTuple):
    """One row without its fact. Those of hubs lie apart: facts are asked for far more often."""

    field: str
    hub: bool
    value: bytes


def of(metadata: Metadata, hub: bool) -> frozenset[Field]:
    """The rows of a fact's or hub's metadata. Raises ValueError for what is not JSON."""
    return frozenset(
        Field(key, hub, sort_key(value))
        for key, value in metadata.items()
        if key == _DATE or not key.startswith(_RESERVED)
    )


def replace(
    db: Database, versions: Iterable[tuple[int, frozenset[Field], frozenset[Field]]]
) -> None:
    """Change the rows of facts, given as (stored form of the id, old rows, new rows)."""
    gone: list[tuple[str, bool, bytes, int]] = []
    fresh: list[tuple[str, bool, bytes, int]] = []
    for id, old, new in versions:
        gone += [(*field, id) for field in old - new]
        fresh += [(*field, id) for field in new - old]
    db.run_many(
        "DELETE FROM fields WHERE field = ? AND hub = ? AND value = ? AND fact_id = ?", gone
    )
    # In the order of the table, neighbours share a page.
    db.run_many("INSERT OR IGNORE INTO fields VALUES (?, ?, ?, ?)", sorted(fresh))
