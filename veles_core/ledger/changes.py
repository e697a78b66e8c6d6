"""What a derived index has to follow: facts and deletions since a change sequence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from veles_core.ledger import state
from veles_core.ledger.connect import Database
from veles_core.ledger.ids import unsigned_array

if TYPE_CHECKING:
    from veles_core.protocols import Ids
    from veles_core.records import Matrix

HISTORY: Final = 1 << 16  # changes for which deletions are remembered


@dataclass(frozen=True, slots=True)
class Changed:
    """Facts that were put, in the order of their changes; all along one axis.

    ``expires`` is infinity for permanent facts; ``has_vector`` says for which of the
    facts ``vectors`` holds a row, in order.
    """

    sequences: npt.NDArray[np.int64]
    ids: "Ids"
    contents: list[str]
    expires: npt.NDArray[np.float64]
    has_vector: npt.NDArray[np.bool_]
    vectors: "Matrix"


def bury(db: Database, ids: Sequence[int]) -> None:
    """Record the deletion of facts, each as a change; takes the stored form of their ids."""
    if ids:
        first = state.advance(db, len(ids))
        db.run_many(
            "INSERT INTO tombstones(sequence, id) VALUES (?, ?)", enumerate(ids, start=first)
        )
        dropped = db.rows(
            "DELETE FROM tombstones WHERE sequence <= ? RETURNING sequence", (first - HISTORY,)
        )
        if dropped:
            db.run("UPDATE state SET forgotten = ?", max(dropped))


def forgotten(db: Database, since: int) -> bool:
    """Whether deletions after ``since`` are no longer on record, so that none can be followed."""
    return 0 < since < state.read(db).forgotten


def deleted(db: Database, since: int) -> "Ids":
    """Ids deleted after ``since``; some may have been put again."""
    return unsigned_array(db.scan("SELECT id FROM tombstones WHERE sequence > ?", (since,)))


def put(db: Database, since: int, until: int, limit: int) -> Changed | None:
    """The first ``limit`` facts put after ``since`` and up to ``until``; None if there are none."""
    rows = db.rows(
        "SELECT changed, id, content, expires_at, vector FROM facts"
        " LEFT JOIN vectors USING (changed)"
        " WHERE hub = 0 AND changed > ? AND changed <= ? ORDER BY changed LIMIT ?",
        (since, until, limit),
    )
    if not rows:
        return None
    dimension = state.read(db).dimension or 1
    sequences, ids, contents, expires, vectors = zip(*rows, strict=True)
    # A vector of a wrong length is as good as none; check() reports it.
    usable = [vector is not None and len(vector) == 4 * dimension for vector in vectors]
    found = b"".join(vector for vector, good in zip(vectors, usable, strict=True) if good)
    return Changed(
        np.array(sequences, np.int64),
        unsigned_array((id,) for id in ids),
        list(contents),
        np.array([np.inf if moment is None else moment for moment in expires], np.float64),
        np.array(usable, np.bool_),
        np.frombuffer(found, "<f4").reshape(-1, dimension),
    )
