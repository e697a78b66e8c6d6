"""What a derived index has to follow: facts and deletions since a change sequence."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from veles_core.ledger import state
from veles_core.ledger.connect import Database
from veles_core.ledger.ids import unsigned_array

if TYPE_CHECKING:
    from veles_core.protocols import Ids
    from veles_core.records import Matrix

BATCH: Final = 1000


@dataclass(frozen=True, slots=True)
class Changed:
    """Facts put since a position, in the order of their changes; all along one axis.

    ``expires`` is infinity for permanent facts; ``has_vector`` says for which of the
    facts ``vectors`` holds a row, in order.
    """

    sequences: npt.NDArray[np.int64]
    ids: "Ids"
    contents: list[str]
    expires: npt.NDArray[np.float64]
    has_vector: npt.NDArray[np.bool_]
    vectors: "Matrix"


def forgotten(db: Database, since: int) -> bool:
    """Whether deletions after ``since`` may no longer be on record."""
    return 0 < since < state.sequence(db) - state.HISTORY


def deleted(db: Database, since: int) -> "Ids":
    """Ids deleted after ``since``; some may have been put again."""
    return unsigned_array(db.scan("SELECT id FROM tombstones WHERE sequence > ?", (since,)))


def changed(db: Database, since: int) -> Iterator[Changed]:
    """Batches of the facts put after ``since``, ascending by change."""
    dimension = state.read(db).dimension
    rows = db.scan(
        "SELECT changed, id, content, expires_at, vector FROM facts"
        " LEFT JOIN vectors ON fact_id = id WHERE hub = 0 AND changed > ? ORDER BY changed",
        (since,),
    )
    while batch := list(islice(rows, BATCH)):
        sequences, ids, contents, expires, vectors = zip(*batch, strict=True)
        length = (dimension or 0) * 4
        has_vector = np.array([v is not None and len(v) == length for v in vectors], np.bool_)
        present = b"".join(v for v in vectors if v is not None and len(v) == length)
        yield Changed(
            np.array(sequences, np.int64),
            unsigned_array((id,) for id in ids),
            list(contents),
            np.array([np.inf if e is None else e for e in expires], np.float64),
            has_vector,
            np.frombuffer(present, "<f4").reshape(-1, dimension or 1),
        )
