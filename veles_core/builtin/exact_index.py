"""The exact vector index: one matrix, every vector looked at, the same answer every time."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from veles_core.errors import StoreError
from veles_core.store import snapshots
from veles_core.store.rows import RowNumbers, Rows

if TYPE_CHECKING:
    from veles_core.protocols import Ids
    from veles_core.records import Matrix, Vector

KIND: Final = "vectors 1"  # raise the number when the arrays change
DECIMALS: Final = 6  # of a similarity; what is closer than that is a tie
BLOCK_ROWS: Final = 1024
COLUMN_ROWS: Final = 4096  # rows that lie by columns together


@dataclass(frozen=True, slots=True)
class Standing:
    """Living vectors by ascending id, as they were; later changes don't touch them."""

    ids: "Ids"
    _rows: RowNumbers
    _base: "Matrix"
    _tail: "Matrix"

    @property
    def dimension(self) -> int:
        """Their length."""
        return int(self._base.shape[1])

    def vectors(self, places: RowNumbers | slice) -> "Matrix":
        """The vectors of some of ``ids``, given by their places."""
        return _gather(self._base, self._tail, self._rows[places])


class ExactIndex:
    """A VectorIndex over a float32 matrix: a memory-mapped snapshot and a tail in memory.

    A fast float32 pass finds candidates with a margin that covers its own rounding; these
    are scored again in float64. For that pass a copy of the matrix lies by columns, which
    makes the product three times as fast (20,000 × 384: 1.4 ms, by rows 4.2). The answer
    depends on the vectors alone, not on where they lie, what else is stored, or how many
    rows are multiplied at once.
    """

    def __init__(self, path: Path | None) -> None:
        """Open the snapshot at ``path`` (a suffix is added); None: start empty, save nothing."""
        self._path = path and path.with_suffix(snapshots.SUFFIX)
        self._base: Matrix
        self._tail: Matrix
        self._reset()
        snapshot = self._path and snapshots.read(self._path, KIND)
        if snapshot:
            self._base = snapshot.arrays["vectors"]
            self._tail = np.empty((0, self._base.shape[1]), np.float32)
            self._rows = Rows(snapshot.arrays["ids"])
            self._position = snapshot.position

    def _reset(self) -> None:
        self._position = 0
        self._columns: list[Matrix] = []
        self._rows = Rows()
        self._base = np.empty((0, 0), np.float32)
        self._tail = np.empty((0, 0), np.float32)

    @property
    def position(self) -> int:
        """The change sequence up to which the index is current."""
        return self._position

    def advance(self, position: int) -> None:
        """Record that everything up to ``position`` has been applied."""
        self._position = position

    def add(self, ids: "Ids", vectors: "Matrix") -> None:
        """Insert, or replace by id, unit vectors."""
        if not len(ids):
            return
        dimension = vectors.shape[1]
        if len(self._rows):
            self._check(dimension)
        elif self._base.shape[1] != dimension:
            self._base = np.empty((0, dimension), np.float32)
            self._tail = np.empty((0, dimension), np.float32)
        first = len(self._rows) - len(self._base)
        self._rows.append(ids)
        used = len(self._rows) - len(self._base)
        if used > len(self._tail):
            grown = np.empty((max(used, 2 * len(self._tail), 64), dimension), np.float32)
            grown[:first] = self._tail[:first]
            self._tail = grown
        self._tail[first:used] = vectors

    def remove(self, ids: "Ids") -> None:
        """Remove by id; absent ones are no error."""
        self._rows.remove(ids)

    def search(
        self, vector: "Vector", k: int, allowed: "Ids | None" = None, excluded: "Ids | None" = None
    ) -> tuple["Ids", "Vector"]:
        """The ``k`` nearest ids and their cosine similarities, best first, ties by id."""
        if k <= 0 or not self._rows.live:
            return np.empty(0, np.uint64), np.empty(0, np.float32)
        self._check(len(vector))
        rows = self._eligible(allowed, excluded)
        scores = self._rough(vector, rows)
        if len(rows) > k:
            # Rounding moves a dot product of unit vectors by at most d · 2^-24.
            margin = 2.2 * len(vector) * 2.0**-24 + 2 * 10.0**-DECIMALS
            bound = np.partition(scores, len(rows) - k)[len(rows) - k] - margin
            rows = rows[scores >= bound]
        found, exact = self._rows.ids[rows], self._exact(vector, rows)
        best = np.lexsort((found, -exact))[:k]
        return found[best], exact[best].astype(np.float32)

    def similarities(self, vector: "Vector", ids: "Ids") -> "Vector":
        """Cosine similarity to each of these ids; NaN for an absent one."""
        rows = self._rows.find(ids)
        result = np.full(len(ids), np.nan, np.float32)
        there = rows >= 0
        if there.any():
            self._check(len(vector))
            result[there] = self._exact(vector, rows[there])
        return result

    def standing(self) -> Standing:
        """What it holds now, for another thread to read: rows are never overwritten."""
        rows = self._rows.sorted()
        return Standing(self._rows.ids[rows], rows, self._base, self._tail)

    def __len__(self) -> int:
        """How many vectors it holds."""
        return self._rows.live

    def save(self) -> None:
        """Write a snapshot that a later open starts from: the living rows by id."""
        if self._path is None:
            return
        standing = self.standing()
        blocks = (
            standing.vectors(slice(start, start + BLOCK_ROWS))
            for start in range(0, max(len(standing.ids), 1), BLOCK_ROWS)
        )
        snapshots.write(self._path, KIND, self._position, {"ids": standing.ids, "vectors": blocks})

    def clear(self) -> None:
        """Forget everything, snapshot included; position 0."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._reset()

    def close(self) -> None:
        """Release memory and the mapped file."""
        self._reset()

    def _check(self, dimension: int) -> None:
        if self._base.shape[1] != dimension:
            raise StoreError(
                f"a vector has {dimension} dimensions, the memory's have {self._base.shape[1]}",
                limit=self._base.shape[1],
                actual=dimension,
            )

    def _eligible(self, allowed: "Ids | None", excluded: "Ids | None") -> RowNumbers:
        """The rows to look at, ascending."""
        if allowed is not None:
            if excluded is not None and len(excluded):
                allowed = np.setdiff1d(allowed, excluded, assume_unique=True)
            return np.sort(self._rows.present(allowed))
        alive = self._rows.alive
        if excluded is not None and len(excluded):
            alive = alive.copy()
            alive[self._rows.present(excluded)] = False
        elif self._rows.live == len(alive):
            return np.arange(len(alive))
        return np.flatnonzero(alive)

    def _rough(self, vector: "Vector", rows: RowNumbers) -> "Vector":
        """Float32 dot products of some rows: all at once if they are many."""
        if 4 * len(rows) < len(self._rows):
            return self._gather(rows) @ vector
        scores = np.empty(len(self._rows), np.float32)
        start = 0
        for block in self._by_columns():
            np.dot(block, vector, out=scores[start : start + len(block)])
            start += len(block)
        split = max(start, len(self._base))
        np.dot(self._base[start:], vector, out=scores[start:split])
        first = split - len(self._base)
        np.dot(self._tail[first : first + len(scores) - split], vector, out=scores[split:])
        return scores if len(rows) == len(scores) else scores[rows]

    def _by_columns(self) -> "list[Matrix]":
        """Blocks of columns that cover all rows but the newest few. Rows never change."""
        covered = sum(map(len, self._columns))
        if len(self._rows) - covered >= COLUMN_ROWS // 8:
            if covered % COLUMN_ROWS:  # the last one can take more
                covered -= len(self._columns.pop())
            for start in range(covered, len(self._rows), COLUMN_ROWS):
                rows = np.arange(start, min(start + COLUMN_ROWS, len(self._rows)))
                self._columns.append(np.asfortranarray(self._gather(rows)))
        return self._columns

    def _exact(
        self, vector: "Vector", rows: RowNumbers
    ) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """Rounded float64 dot products, each row summed on its own."""
        query = vector.astype(np.float64)
        scores = np.empty(len(rows), np.float64)
        for start in range(0, len(rows), BLOCK_ROWS):
            block = self._gather(rows[start : start + BLOCK_ROWS]).astype(np.float64)
            scores[start : start + BLOCK_ROWS] = (block * query).sum(axis=1)
        return np.round(scores, DECIMALS) + 0.0  # no negative zero

    def _gather(self, rows: RowNumbers) -> "Matrix":
        return _gather(self._base, self._tail, rows)


def _gather(base: "Matrix", tail: "Matrix", rows: RowNumbers) -> "Matrix":
    """Rows of two matrices that lie one after the other."""
    split = len(base)
    if not len(rows) or rows.max() < split:
        return base[rows]
    if rows.min() >= split:
        return tail[rows - split]
    mixed = np.empty((len(rows), base.shape[1]), np.float32)
    lower = rows < split
    mixed[lower] = base[rows[lower]]
    mixed[~lower] = tail[rows[~lower] - split]
    return mixed
