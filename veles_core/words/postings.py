"""An inverted index over integer rows, scored with BM25.

Nothing here depends on when something was added: a posting's impact comes from its own
fact alone (the length pivot is a constant, not the corpus average), and document
frequencies are counted over the rows that are alive when the question is asked. The same
facts therefore give bit-identical scores in every process and after every merge.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from veles_core.words.small import significant

FORMAT: Final = 1  # of the arrays; raise it whenever terms, impacts or the layout change

K1: Final = 0.9  # how soon repeating a word stops to matter
B: Final = 0.4  # how much a long fact has to pay for its length
PIVOT: Final = 24.0  # terms of a fact of ordinary length (120 characters)

_Rows = npt.NDArray[np.int32]
_Impacts = npt.NDArray[np.float32]


@lru_cache(maxsize=1 << 15)
def _key(term: str) -> int:
    """64 bits for a term, stable across processes.

    Two terms that share a key are one term to the index. With a million different terms
    the chance that any two do is 3 in 10^8, and all it costs is a little rank.
    """
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest())


class Postings:
    """Which rows hold which terms, and how much each counts there.

    A sorted, possibly memory-mapped base that is never changed, and a tail in memory for
    what was added since. Not safe for concurrent use; its owner locks.
    """

    def __init__(self) -> None:
        self._keys: npt.NDArray[np.uint64] = np.empty(0, np.uint64)  # sorted
        self._starts: npt.NDArray[np.int64] = np.zeros(1, np.int64)  # of each key's postings
        self._rows: _Rows = np.empty(0, np.int32)  # ascending within a key
        self._impacts: _Impacts = np.empty(0, np.float32)
        self._size = 0  # rows seen, those without a term included
        self._tail: dict[int, tuple[array[int], array[float]]] = {}

    def add(self, row: int, terms: Sequence[str]) -> None:
        """Index one row; rows must ascend."""
        if row < self._size:
            raise ValueError(f"row {row} does not ascend: {self._size} rows are indexed")
        self._size = row + 1
        counts: dict[str, int] = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        norm = K1 * (1.0 - B + B * len(terms) / PIVOT)
        for term, count in counts.items():
            key = _key(term)
            entry = self._tail.get(key)
            if entry is None:
                entry = self._tail[key] = (array("i"), array("f"))
            entry[0].append(row)
            entry[1].append(count * (K1 + 1.0) / (count + norm))

    def add_many(self, rows: Iterable[int], terms: Iterable[Sequence[str]]) -> None:
        """Index several rows, ascending."""
        for row, row_terms in zip(rows, terms, strict=True):
            self.add(row, row_terms)

    def scores(
        self, query_terms: Sequence[str], alive: npt.NDArray[np.bool_] | None, rows: int
    ) -> npt.NDArray[np.float32]:
        """BM25 of each row below ``rows``; 0 without a shared term or if not ``alive``.

        ``alive`` has shape (rows,); None means all are. Shape (rows,).
        """
        weighted = self._weighted(query_terms, alive, rows)
        if not weighted:
            return np.zeros(rows, np.float32)
        sums = np.bincount(
            np.concatenate([found for _, found, _ in weighted]),
            np.concatenate([weight * impacts for weight, _, impacts in weighted]),
            rows,
        )[:rows].astype(np.float32)
        if alive is not None:
            sums[~alive] = 0.0
        return sums

    def score_rows(
        self,
        query_terms: Sequence[str],
        rows: npt.NDArray[np.int64],
        alive: npt.NDArray[np.bool_] | None,
    ) -> npt.NDArray[np.float32]:
        """What ``scores`` gives for just these rows, in the order asked."""
        sums = np.zeros(len(rows), np.float64)
        total = self._size if alive is None else len(alive)
        for weight, found, impacts in self._weighted(query_terms, alive, total):
            if len(found):
                slots = np.minimum(np.searchsorted(found, rows), len(found) - 1)
                sums += np.where(found[slots] == rows, weight * impacts[slots], 0.0)
        if alive is not None:
            sums[~alive[rows]] = 0.0
        return sums.astype(np.float32)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Everything as arrays, for a snapshot. Merges the tail into the base."""
        self._merge()
        return {
            "keys": self._keys,
            "starts": self._starts,
            "rows": self._rows,
            "impacts": self._impacts,
            "header": np.array([FORMAT, self._size], np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "Postings":
        """Go on from a snapshot; its arrays are only read and may be memory maps.

        Raises ValueError if they are of another format or don't fit together.
        """
        try:
            header = [int(number) for number in arrays["header"]]
            keys, starts, rows, impacts = (
                arrays[name] for name in ("keys", "starts", "rows", "impacts")
            )
        except KeyError as missing:
            raise ValueError(f"postings without {missing}") from None
        if header[:1] != [FORMAT] or len(header) != 2:
            raise ValueError(f"postings of format {header[:1]}, this is {FORMAT}")
        types = [array.dtype.name for array in (keys, starts, rows, impacts)]
        if types != ["uint64", "int64", "int32", "float32"]:
            raise ValueError(f"postings of types {types}")
        if (
            len(starts) != len(keys) + 1
            or starts[0] != 0
            or not (starts[-1] == len(rows) == len(impacts))
        ):
            raise ValueError("postings whose arrays don't fit together")
        postings = cls()
        postings._keys, postings._starts = keys, starts
        postings._rows, postings._impacts = rows, impacts
        postings._size = header[1]
        return postings

    def __len__(self) -> int:
        """How many rows it has seen: one more than the highest."""
        return self._size

    def _find(self, key: int) -> tuple[_Rows, _Impacts]:
        """A key's rows, ascending, and their impacts."""
        slot = int(np.searchsorted(self._keys, np.uint64(key)))
        rows, impacts = self._rows[:0], self._impacts[:0]
        if slot < len(self._keys) and int(self._keys[slot]) == key:
            part = slice(int(self._starts[slot]), int(self._starts[slot + 1]))
            rows, impacts = self._rows[part], self._impacts[part]
        if key in self._tail:
            tail_rows, tail_impacts = self._tail[key]
            rows = np.concatenate([rows, np.frombuffer(tail_rows, np.int32)])
            impacts = np.concatenate([impacts, np.frombuffer(tail_impacts, np.float32)])
        return rows, impacts

    def _weighted(
        self, query_terms: Sequence[str], alive: npt.NDArray[np.bool_] | None, total: int
    ) -> list[tuple[np.float32, _Rows, _Impacts]]:
        """Inverse document frequency, rows and impacts of each term that counts, once each."""
        count = total if alive is None else int(np.count_nonzero(alive))
        weighted = []
        for key in dict.fromkeys(map(_key, significant(query_terms))):
            rows, impacts = self._find(key)
            if len(rows) and rows[-1] >= total:
                end = int(np.searchsorted(rows, total))
                rows, impacts = rows[:end], impacts[:end]
            frequency = len(rows) if alive is None else int(np.count_nonzero(alive[rows]))
            if frequency:
                weight = np.log1p((count - frequency + 0.5) / (frequency + 0.5))
                weighted.append((np.float32(weight), rows, impacts))
        return weighted

    def _merge(self) -> None:
        if not self._tail:
            return
        tail_keys = np.array(sorted(self._tail), np.uint64)
        keys = np.union1d(self._keys, tail_keys)
        lengths = np.zeros(len(keys), np.int64)
        lengths[np.searchsorted(keys, self._keys)] = np.diff(self._starts)
        base_lengths = lengths.copy()
        tail_slots = np.searchsorted(keys, tail_keys)
        tail_lists = [self._tail[int(key)] for key in tail_keys]
        lengths[tail_slots] += [len(rows) for rows, _ in tail_lists]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        rows = np.empty(starts[-1], np.int32)
        impacts = np.empty(starts[-1], np.float32)
        # Where each base posting goes: its old place, moved by what its key's start moved.
        offsets = starts[:-1] - np.concatenate(
            [np.zeros(1, np.int64), np.cumsum(base_lengths)[:-1]]
        )
        places = np.arange(len(self._rows)) + np.repeat(offsets, base_lengths)
        rows[places], impacts[places] = self._rows, self._impacts
        for slot, (tail_rows, tail_impacts) in zip(tail_slots, tail_lists, strict=True):
            part = slice(starts[slot] + base_lengths[slot], starts[slot + 1])
            rows[part], impacts[part] = tail_rows, tail_impacts
        self._keys, self._starts, self._rows, self._impacts = keys, starts, rows, impacts
        self._tail = {}
