"""What a vector index promises: exact orders, and a snapshot it comes back at."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from veles_core.protocols import VectorIndex

if TYPE_CHECKING:
    import numpy.typing as npt

    from veles_core.records import Matrix

    Ids = npt.NDArray[np.uint64]

DIMENSION: Final = 8
HIGH: Final = 1 << 63
LAST: Final = (1 << 64) - 1

IndexOpener = Callable[[Path], VectorIndex]


def some_ids(*numbers: int) -> "Ids":
    """These ids as an index takes them."""
    return np.array(numbers, np.uint64)


def rows(*vectors: Sequence[float]) -> "Matrix":
    """Unit vectors in these directions; missing components are 0."""
    full = np.zeros((len(vectors), DIMENSION), np.float32)
    for number, vector in enumerate(vectors):
        full[number, : len(vector)] = vector
    return np.asarray(full / np.linalg.norm(full, axis=1, keepdims=True), np.float32)


EAST = rows([1])[0]
NORTH = rows([0, 1])[0]


class VectorIndexContract:
    """Every promise of ``veles_core.protocols.VectorIndex``, for vectors of 8 dimensions.

    Subclass it and give ``open_index``.
    """

    @pytest.fixture
    def open_index(self) -> IndexOpener:
        """Opens the index that keeps its snapshot in a directory."""
        raise NotImplementedError("give an open_index fixture: a callable from Path to VectorIndex")

    @pytest.fixture
    def recall(self) -> float:
        """The share of the true nearest that a search of many vectors has to find."""
        return 1.0

    @pytest.fixture
    def index(self, open_index: IndexOpener, tmp_path: Path) -> Iterator[VectorIndex]:
        """A fresh index, closed at the end of the test."""
        index = open_index(tmp_path)
        yield index
        index.close()

    @pytest.fixture
    def filled(self, index: VectorIndex) -> VectorIndex:
        """Ids 1, 2, 3 and one above 2^63, at 0, 45, 90 and 180 degrees."""
        index.add(some_ids(1, 2, 3, HIGH), rows([1], [1, 1], [0, 1], [-1]))
        return index

    def test_a_fresh_index_is_empty(self, index: VectorIndex) -> None:
        assert len(index) == 0
        assert index.position == 0
        found, scores = index.search(EAST, 5)
        assert (len(found), len(scores)) == (0, 0)

    def test_search_gives_the_nearest_with_their_cosine(self, filled: VectorIndex) -> None:
        found, scores = filled.search(EAST, 9)
        assert found.dtype == np.uint64
        assert found.tolist() == [1, 2, 3, HIGH]
        assert scores.tolist() == pytest.approx([1, 0.5**0.5, 0, -1], abs=1e-6)
        assert filled.search(NORTH, 1)[0].tolist() == [3]
        assert filled.search(EAST, 0)[0].tolist() == []
        assert len(filled) == 4

    def test_ties_are_ordered_by_unsigned_id(self, index: VectorIndex) -> None:
        tied = [LAST, 5, HIGH, 3, HIGH - 1, 0]
        index.add(some_ids(*tied), rows(*[[0, 1]] * len(tied)))
        assert index.search(NORTH, 9)[0].tolist() == sorted(tied)
        assert index.search(NORTH, 2)[0].tolist() == [0, 3]

    def test_allowed_and_excluded_come_before_the_search(self, filled: VectorIndex) -> None:
        assert filled.search(EAST, 2, allowed=some_ids(3, HIGH))[0].tolist() == [3, HIGH]
        assert filled.search(EAST, 2, excluded=some_ids(1, 3))[0].tolist() == [2, HIGH]
        both = filled.search(EAST, 9, allowed=some_ids(1, 2, 99), excluded=some_ids(1, 98))
        assert both[0].tolist() == [2]
        assert filled.search(EAST, 9, allowed=some_ids())[0].tolist() == []
        assert filled.search(EAST, 9, excluded=some_ids())[0].tolist() == [1, 2, 3, HIGH]

    def test_adding_again_replaces(self, filled: VectorIndex) -> None:
        filled.add(some_ids(1, 9), rows([0, 1], [1]))
        assert len(filled) == 5
        assert filled.search(EAST, 1)[0].tolist() == [9]
        assert filled.search(NORTH, 2)[0].tolist() == [1, 3]

    def test_removing_is_final_and_needs_no_presence(self, filled: VectorIndex) -> None:
        filled.remove(some_ids(1, HIGH, 99))
        filled.remove(some_ids(1))
        assert len(filled) == 2
        assert filled.search(EAST, 9)[0].tolist() == [2, 3]
        filled.add(some_ids(1), rows([0, -1]))
        assert filled.search(EAST, 9)[0].tolist() == [2, 1, 3]

    def test_similarities_come_in_the_order_asked(self, filled: VectorIndex) -> None:
        found = filled.similarities(EAST, some_ids(HIGH, 99, 2, 1))
        assert np.isnan(found[1])
        assert found[[0, 2, 3]].tolist() == pytest.approx([-1, 0.5**0.5, 1], abs=1e-6)
        assert len(filled.similarities(EAST, some_ids())) == 0

    def test_many_vectors_are_found(self, index: VectorIndex, recall: float) -> None:
        random = np.random.default_rng(7)
        vectors = rows(*random.normal(size=(2_000, DIMENSION)).tolist())
        for start in range(0, 2_000, 500):
            part = slice(start, start + 500)
            index.add(np.arange(2_000, dtype=np.uint64)[part], vectors[part])
        index.remove(np.arange(0, 2_000, 3, dtype=np.uint64))
        alive = np.flatnonzero(np.arange(2_000) % 3)
        shares = []
        for query in vectors[:20]:
            best = alive[np.argsort(-(vectors[alive] @ query), kind="stable")[:10]]
            found, scores = index.search(query, 10)
            assert len(found) == 10
            assert scores.tolist() == sorted(scores.tolist(), reverse=True)
            assert scores == pytest.approx(vectors[found.astype(int)] @ query, abs=1e-5)
            shares.append(len({*found.tolist()} & {*best.tolist()}) / 10)
        assert np.mean(shares) >= recall
        assert len(index.search(vectors[0], 2_000)[0]) == len(alive)

    def test_many_identical_vectors_hide_nothing(self, index: VectorIndex) -> None:
        index.add(np.arange(500, dtype=np.uint64), rows(*[[1]] * 500))
        index.add(some_ids(1_000, 1_001), rows([0, 1], [0, 0, 1]))
        assert index.search(EAST, 5)[0].tolist() == [0, 1, 2, 3, 4]
        assert index.search(NORTH, 1)[0].tolist() == [1_000]

    def test_a_snapshot_is_what_it_comes_back_at(
        self, open_index: IndexOpener, tmp_path: Path
    ) -> None:
        index = open_index(tmp_path)
        index.add(some_ids(1, HIGH), rows([1], [0, 1]))
        index.advance(7)
        assert index.position == 7
        index.save()
        index.add(some_ids(3), rows([1, 1]))
        index.advance(8)
        index.close()
        index = open_index(tmp_path)
        assert (index.position, len(index)) == (7, 2)
        assert index.search(EAST, 9)[0].tolist() == [1, HIGH]
        index.remove(some_ids(1))
        index.advance(9)
        index.save()
        index.close()
        index = open_index(tmp_path)
        assert index.position == 9
        assert index.search(EAST, 9)[0].tolist() == [HIGH]
        index.close()

    @pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
    def test_a_damaged_snapshot_is_forgotten(
        self, open_index: IndexOpener, tmp_path: Path, kept: float
    ) -> None:
        index = open_index(tmp_path)
        index.add(np.arange(100, dtype=np.uint64), rows(*[[1, n] for n in range(100)]))
        index.advance(7)
        index.save()
        index.close()
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert files
        for path in files:
            data = path.read_bytes()
            path.write_bytes(data[: int(len(data) * kept)])
        index = open_index(tmp_path)
        assert (index.position, len(index)) == (0, 0)
        index.add(some_ids(5), rows([1]))
        assert index.search(EAST, 9)[0].tolist() == [5]
        index.close()

    def test_a_flipped_bit_is_noticed(self, open_index: IndexOpener, tmp_path: Path) -> None:
        index = open_index(tmp_path)
        index.add(np.arange(100, dtype=np.uint64), rows(*[[1, n] for n in range(100)]))
        index.advance(7)
        index.save()
        index.close()
        largest = max(tmp_path.rglob("*"), key=lambda path: path.stat().st_size * path.is_file())
        data = bytearray(largest.read_bytes())
        data[len(data) // 2] ^= 0x10
        largest.write_bytes(data)
        index = open_index(tmp_path)
        assert (index.position, len(index)) == (0, 0)
        index.close()

    def test_clear_forgets_the_snapshot_too(self, open_index: IndexOpener, tmp_path: Path) -> None:
        index = open_index(tmp_path)
        index.add(some_ids(1), rows([1]))
        index.advance(7)
        index.save()
        index.clear()
        assert (index.position, len(index)) == (0, 0)
        assert index.search(EAST, 9)[0].tolist() == []
        index.close()
        index = open_index(tmp_path)
        assert (index.position, len(index)) == (0, 0)
        index.close()
