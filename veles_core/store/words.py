"""The word index: BM25 over the facts' terms, derived from the ledger like the vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from veles_core.store import snapshots
from veles_core.store.rows import Rows
from veles_core.words import Postings, terms

if TYPE_CHECKING:
    from veles_core.protocols import Ids

KIND: Final = "words 1"  # raise the number when the arrays change

Scores = npt.NDArray[np.float32]
Times = npt.NDArray[np.float64]


class _Scored(NamedTuple):
    """Scores of a query, which hold until the first of the scored facts expires."""

    query: str
    since: float
    until: float
    scores: Scores


class WordIndex:
    """Scores facts by the words they share with a query. Used by one thread at a time.

    Like a VectorIndex it knows how far it has followed the ledger and comes back from a
    snapshot, empty at 0 if that is damaged.
    """

    def __init__(self, path: Path | None) -> None:
        """Open the snapshot at ``path`` (a suffix is added), or nothing."""
        self._path = path and path.with_suffix(snapshots.SUFFIX)
        self._last: _Scored | None = None
        self._expires: Times  # of each row, infinity if permanent
        self._reset()
        snapshot = self._path and snapshots.read(self._path, KIND)
        if not snapshot:
            return
        arrays = dict(snapshot.arrays)
        rows = Rows(arrays.pop("ids"), arrays.pop("alive"))
        expires = np.array(arrays.pop("expires"))
        self._postings = Postings.from_arrays(arrays)
        self.rows, self._expires, self.position = rows, expires, snapshot.position

    def _reset(self) -> None:
        self.position = 0
        self.rows = Rows()
        self._expires = np.empty(0, np.float64)
        self._postings = Postings()
        self._last = None

    def advance(self, position: int) -> None:
        """Record that every change up to ``position`` has been applied."""
        self.position = position

    def add(self, ids: "Ids", contents: Sequence[str], expires: Times) -> None:
        """Insert, or replace by id, facts with the times they expire at."""
        first = len(self.rows)
        self.rows.append(ids)
        if len(self.rows) > len(self._expires):
            spare = np.zeros(max(len(self.rows), 64), np.float64)
            self._expires = np.concatenate([self._expires, spare])
        self._expires[first : len(self.rows)] = expires
        self._postings.add_many(range(first, len(self.rows)), map(terms, contents))
        self._last = None

    def remove(self, ids: "Ids") -> None:
        """Remove by id; absent ones are no error."""
        self.rows.remove(ids)
        self._last = None

    def search(
        self,
        query: str,
        k: int,
        now: float,
        allowed: "Ids | None" = None,
        excluded: "Ids | None" = None,
    ) -> tuple["Ids", Scores]:
        """Up to ``k`` ids that share a term with ``query`` and their BM25, best first, ties by id.

        ``allowed`` and ``excluded`` are sorted; what has expired by ``now`` is not found.
        """
        scores = self._scores(query, now)
        if allowed is None:
            rows = np.flatnonzero(scores)
            if excluded is not None:
                rows = np.setdiff1d(rows, self.rows.present(excluded), assume_unique=True)
        else:
            rows = self.rows.present(allowed)
            rows = rows[scores[rows] > 0]
        if len(rows) > k > 0:
            bound = np.partition(scores[rows], len(rows) - k)[len(rows) - k]
            rows = rows[scores[rows] >= bound]
        ids, best = self.rows.ids[rows], scores[rows]
        order = np.lexsort((ids, -best))[: max(k, 0)]
        return ids[order], best[order]

    def scores_of(self, query: str, ids: "Ids", now: float) -> Scores:
        """BM25 of each of these ids; 0 for one that is absent or shares no term."""
        scores = np.append(self._scores(query, now), np.float32(0))
        return scores[self.rows.find(ids)]  # an absent one's row is -1: the last

    def _scores(self, query: str, now: float) -> Scores:
        """BM25 of each row; 0 if it shares no term, is dead or has expired.

        The last query's scores are kept: a recall asks for them twice.
        """
        last = self._last
        if last is not None and last.query == query and last.since <= now < last.until:
            return last.scores
        expires = self._expires[: len(self.rows)]
        alive = self.rows.alive & (expires > now)
        scores = self._postings.scores(terms(query), alive, len(self.rows))
        until = float(expires.min(where=alive, initial=np.inf))
        self._last = _Scored(query, now, until, scores)
        return scores

    def entries(self) -> tuple[npt.NDArray[Any], ...]:
        """All postings of living rows, sorted, and ids with expiry: equal for equal facts."""
        arrays = self._postings.arrays()
        keys = np.repeat(arrays["keys"], np.diff(arrays["starts"]))
        living = self.rows.alive[arrays["rows"]]
        ids = self.rows.ids[arrays["rows"]][living]
        keys, impacts = keys[living], arrays["impacts"][living]
        order = np.lexsort((ids, keys))
        rows = self.rows.sorted()
        expires = self._expires[: len(self.rows)][rows]
        return keys[order], ids[order], impacts[order], self.rows.ids[rows], expires

    def save(self) -> None:
        """Write a snapshot that a later open starts from."""
        if self._path is None:
            return
        snapshots.write(
            self._path,
            KIND,
            self.position,
            {
                "ids": self.rows.ids,
                "alive": self.rows.alive,
                "expires": self._expires[: len(self.rows)],
                **self._postings.arrays(),
            },
        )

    def clear(self) -> None:
        """Forget everything, the snapshot included."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._reset()
