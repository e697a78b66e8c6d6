"""Which row holds which id: the bookkeeping that both derived indexes stand on."""

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from veles_core.protocols import Ids

_FOLD_FLOOR: Final = 1024  # ids looked up through a dict before they are sorted in

RowNumbers = npt.NDArray[np.int64]


class Rows:
    """Rows are only ever appended; an id that is replaced or removed leaves a dead one.

    Look-ups go through a sorted array, and through a dict for what was appended lately,
    so that neither one id nor a hundred thousand cost a Python loop over all.
    """

    def __init__(
        self, ids: "Ids | None" = None, alive: npt.NDArray[np.bool_] | None = None
    ) -> None:
        self._ids = np.empty(0, np.uint64) if ids is None else np.array(ids, np.uint64)
        self._alive = (
            np.ones(len(self._ids), np.bool_) if alive is None else np.array(alive, np.bool_)
        )
        self._count = len(self._ids)
        self.live = int(np.count_nonzero(self._alive))
        self._fold()

    def __len__(self) -> int:
        return self._count

    @property
    def ids(self) -> "Ids":
        """The id of each row, dead ones included."""
        return self._ids[: self._count]

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """Whether each row still stands for its id."""
        return self._alive[: self._count]

    def append(self, ids: "Ids") -> None:
        """Give each id a row at the end, in order; earlier rows of it die."""
        self.remove(ids)
        needed = self._count + len(ids)
        if needed > len(self._ids):
            capacity = max(needed, 2 * len(self._ids), 64)
            self._ids = np.concatenate([self.ids, np.zeros(capacity - self._count, np.uint64)])
            self._alive = np.concatenate([self.alive, np.zeros(capacity - self._count, np.bool_)])
        self._ids[self._count : needed] = ids
        self._alive[self._count : needed] = True
        for row, id in enumerate(ids.tolist(), self._count):
            earlier = self._recent.get(id)
            if earlier is not None:  # twice in this batch
                self._alive[earlier] = False
                self.live -= 1
            self._recent[id] = row
        self._count = needed
        self.live += len(ids)
        if len(self._recent) > max(_FOLD_FLOOR, len(self._sorted) // 8):
            self._fold()

    def remove(self, ids: "Ids") -> None:
        """Let the rows of these ids die; absent ones are no error."""
        rows = self.find(ids)
        rows = np.unique(rows[rows >= 0])
        self._alive[rows] = False
        self.live -= len(rows)
        if self._recent:
            for id in ids.tolist():
                self._recent.pop(id, None)

    def find(self, ids: "Ids") -> RowNumbers:
        """The living row of each id; -1 for an absent one."""
        rows = np.full(len(ids), -1, np.int64)
        if len(self._sorted):
            slots = np.minimum(np.searchsorted(self._sorted, ids), len(self._sorted) - 1)
            candidates = self._order[slots]
            found = (self._sorted[slots] == ids) & self._alive[candidates]
            rows[found] = candidates[found]
        if self._recent:
            for place in np.flatnonzero(rows < 0).tolist():
                rows[place] = self._recent.get(int(ids[place]), -1)
        return rows

    def present(self, ids: "Ids") -> RowNumbers:
        """The living rows of those ids that have one, in the order of the ids."""
        rows = self.find(ids)
        return rows[rows >= 0]

    def sorted(self) -> RowNumbers:
        """All living rows by ascending id."""
        living = np.flatnonzero(self.alive)
        return living[np.argsort(self._ids[living], kind="stable")]

    def _fold(self) -> None:
        self._order = self.sorted()
        self._sorted = self._ids[self._order]
        self._recent: dict[int, int] = {}
