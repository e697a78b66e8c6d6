"""The graph beside the exact index: the same answers, where it is of use.

Without hnswlib no graph is built and every one of these promises holds all the same.
"""

import importlib.util
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from veles_core.builtin.exact_index import ExactIndex
from veles_core.hookspecs import Host
from veles_core.records import Fact, FactRecord, Predicate
from veles_core.testing import VectorIndexContract
from veles_core.testing.index import IndexOpener
from veles_core.testing.waiting import until
from veles_plugins import store_hnsw
from veles_plugins.store_hnsw import builder
from veles_plugins.store_hnsw.index import HnswIndex

if TYPE_CHECKING:
    from veles_core.records import Matrix

HAS_GRAPH = importlib.util.find_spec("hnswlib") is not None
DIMENSION = 24
PATIENCE = 120.0

Ids = np.ndarray[tuple[int], np.dtype[np.uint64]]


def unit(vectors: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> "Matrix":
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def clusters(count: int, seed: int = 0) -> "Matrix":
    """Vectors around a few dozen centres, as embeddings of real texts lie."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(9).normal(size=(40, DIMENSION))
    return unit(centres[random.integers(0, 40, count)] + random.normal(size=(count, DIMENSION)) / 2)


def numbers(start: int, end: int) -> Ids:
    return np.arange(start, end, dtype=np.uint64)


def settled(index: HnswIndex, query: "Matrix") -> None:
    """Search until nothing is being built any more."""

    def built() -> bool:
        index.search(query[0], 1)
        return not index.building

    until(built, PATIENCE)


@pytest.fixture
def open_index(tmp_path: Path) -> Iterator[Callable[[], HnswIndex]]:
    opened: list[HnswIndex] = []

    def open_one_more(threshold: int = 100) -> HnswIndex:
        opened.append(HnswIndex(tmp_path / "vectors", threshold))
        return opened[-1]

    yield open_one_more
    for index in opened:
        index.close()


def recall(index: HnswIndex, exact: ExactIndex, queries: "Matrix") -> float:
    shares = []
    for query in queries:
        true, scores = exact.search(query, 10)
        found, found_scores = index.search(query, 10)
        assert len(found) == len(true)
        assert found_scores.tolist() == sorted(found_scores.tolist(), reverse=True)
        assert found_scores.tolist() == exact.similarities(query, found).tolist()
        shares.append(np.count_nonzero(found_scores >= scores[-1]) / len(true))
    return float(np.mean(shares))


def test_large_memories_are_searched_through_a_graph(open_index: Callable[[], HnswIndex]) -> None:
    index, exact = open_index(), ExactIndex(None)
    for one in (index, exact):
        one.add(numbers(0, 3000), clusters(3000))
    settled(index, clusters(1))
    assert index.in_graph == (3000 if HAS_GRAPH else 0)
    assert recall(index, exact, clusters(100, seed=1)) >= 0.95


def test_what_changes_after_the_graph_is_seen_at_once(open_index: Callable[[], HnswIndex]) -> None:
    index, exact = open_index(), ExactIndex(None)
    vectors = clusters(3000)
    for one in (index, exact):
        one.add(numbers(0, 2500), vectors[:2500])
    settled(index, vectors)
    for one in (index, exact):
        one.add(numbers(2500, 3000), vectors[2500:])
        one.remove(numbers(100, 300))
        one.add(numbers(0, 50), vectors[1000:1050])  # replaced
    assert index.in_graph == (2500 - 200 - 50 if HAS_GRAPH else 0)
    assert recall(index, exact, clusters(100, seed=2)) >= 0.95
    for n in range(2500, 2520):
        assert index.search(vectors[n], 1)[0].tolist() == [n]
    for n in range(50):
        assert index.search(vectors[1000 + n], 2)[0].tolist() == [n, 1000 + n]
    found, _ = index.search(vectors[150], 50)
    assert not set(found.tolist()) & set(range(100, 300))


def test_what_waits_is_merged_and_what_is_dead_leaves(
    open_index: Callable[[], HnswIndex],
) -> None:
    index, exact = open_index(), ExactIndex(None)
    vectors = clusters(5000)
    for one in (index, exact):
        one.add(numbers(0, 2000), vectors[:2000])
    settled(index, vectors)
    for one in (index, exact):
        one.add(numbers(2000, 3500), vectors[2000:3500])
    settled(index, vectors)
    assert index.in_graph == (3500 if HAS_GRAPH else 0)
    for one in (index, exact):
        one.remove(numbers(0, 2000))
    settled(index, vectors)
    assert index.in_graph == (1500 if HAS_GRAPH else 0)
    assert recall(index, exact, clusters(50, seed=3)) >= 0.95


def test_filters_are_exact(open_index: Callable[[], HnswIndex]) -> None:
    index, exact = open_index(), ExactIndex(None)
    for one in (index, exact):
        one.add(numbers(0, 3000), clusters(3000))
    settled(index, clusters(1))
    few = numbers(0, 3000)[::100]
    for query in clusters(20, seed=4):
        for allowed in (few, numbers(0, 1500), numbers(5, 6)):
            expected = exact.search(query, 10, allowed)
            assert [a.tolist() for a in index.search(query, 10, allowed)] == [
                a.tolist() for a in expected
            ]
        hidden = np.sort(exact.search(query, 200)[0])
        found, _ = index.search(query, 10, None, hidden)
        assert found.tolist() == exact.search(query, 10, None, hidden)[0].tolist()
        assert len(index.search(query, 5000)[0]) == 3000


def test_fewer_than_asked_for_are_left(open_index: Callable[[int], HnswIndex]) -> None:
    """HNSW fails when fewer than k live elements can be reached."""
    index = open_index(10)
    vectors = clusters(30)
    index.add(numbers(0, 30), vectors)
    settled(index, vectors)
    assert index.in_graph == (30 if HAS_GRAPH else 0)
    index.remove(numbers(0, 25))
    found, scores = index.search(vectors[27], 10)
    assert found[0] == 27
    assert sorted(found.tolist()) == [25, 26, 27, 28, 29]
    assert scores.tolist() == sorted(scores.tolist(), reverse=True)
    found, _ = index.search(vectors[27], 10, numbers(25, 28))
    assert sorted(found.tolist()) == [25, 26, 27]


@pytest.mark.parametrize("spread", [0.0, 1e-4])
def test_many_that_are_alike_cut_nothing_off(
    open_index: Callable[[], HnswIndex], spread: float
) -> None:
    """Duplicates fill each other's links and disconnect a graph."""
    index, exact = open_index(), ExactIndex(None)
    vectors = clusters(5000).astype(np.float64)
    random = np.random.default_rng(5)
    vectors[:1000] = vectors[0] + spread * random.normal(size=(1000, DIMENSION))
    alike = unit(vectors)
    for one in (index, exact):
        one.add(numbers(0, 5000), alike)
    settled(index, alike)
    assert (index.in_graph > 0) == HAS_GRAPH
    assert recall(index, exact, alike[1000:5000:40]) >= 0.95
    found, scores = index.search(alike[3], 20)
    assert len(found) == 20
    assert set(found.tolist()) <= set(range(1000))
    assert scores.min() > 0.999
    if not spread:
        assert found.tolist() == list(range(20))


def test_the_graph_is_loaded_by_the_next(
    open_index: Callable[[], HnswIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, exact = open_index(), ExactIndex(None)
    for one in (first, exact):
        one.add(numbers(0, 2000), clusters(2000))
    settled(first, clusters(1))
    first.advance(7)
    first.save()
    first.close()
    monkeypatch.setattr(builder, "_extended", None)  # building would fail
    second = open_index()
    second.add(numbers(2000, 2100), clusters(100, seed=6))
    exact.add(numbers(2000, 2100), clusters(100, seed=6))
    settled(second, clusters(1))
    assert (second.position, len(second)) == (7, 2100)
    assert second.in_graph == (2000 if HAS_GRAPH else 0)
    assert recall(second, exact, clusters(50, seed=7)) >= 0.95


@pytest.mark.parametrize("kept", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("which", ["vectors.graph-*", "vectors.graph.snapshot", "vectors.graph*"])
def test_a_damaged_graph_is_built_anew(
    open_index: Callable[[], HnswIndex], tmp_path: Path, which: str, kept: float
) -> None:
    first, exact = open_index(), ExactIndex(None)
    for one in (first, exact):
        one.add(numbers(0, 500), clusters(500))
    settled(first, clusters(1))
    first.save()
    first.close()
    for file in tmp_path.glob(which):
        data = file.read_bytes()
        file.write_bytes(data[: int(len(data) * kept)])
    second = open_index()
    settled(second, clusters(1))
    assert second.in_graph == (500 if HAS_GRAPH else 0)
    assert recall(second, exact, clusters(20, seed=8)) >= 0.95


def test_a_graph_that_finds_too_little_is_not_used(
    open_index: Callable[[], HnswIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "RECALL", 1.01)
    index, exact = open_index(), ExactIndex(None)
    for one in (index, exact):
        one.add(numbers(0, 500), clusters(500))
    settled(index, clusters(1))
    assert index.in_graph == 0
    assert recall(index, exact, clusters(20, seed=9)) == 1.0
    settled(index, clusters(1))
    again = open_index()
    again.add(numbers(0, 500), clusters(500))
    monkeypatch.setattr(builder, "_extended", None)  # it is not even tried before twice the size
    settled(again, clusters(1))
    assert again.in_graph == 0


def test_closing_gives_up_what_is_being_built(open_index: Callable[[], HnswIndex]) -> None:
    index = open_index()
    index.add(numbers(0, 20_000), clusters(20_000))
    index.search(clusters(1)[0], 1)
    assert index.building
    started = time.monotonic()
    index.close()
    assert time.monotonic() - started < 5


def test_clearing_takes_the_graph_along(
    open_index: Callable[[], HnswIndex], tmp_path: Path
) -> None:
    index = open_index()
    index.add(numbers(0, 500), clusters(500))
    settled(index, clusters(1))
    index.save()
    index.clear()
    assert (len(index), index.in_graph, index.position) == (0, 0, 0)
    assert [file.name for file in tmp_path.iterdir() if file.suffix != ".lock"] == []


class TestHnswIndex(VectorIndexContract):
    @pytest.fixture
    def open_index(self) -> IndexOpener:
        return lambda directory: HnswIndex(directory / "vectors", 100)

    @pytest.fixture
    def recall(self) -> float:
        return 0.95


def test_the_store_keeps_filters_and_expiry_with_the_graph_forced_on(tmp_path: Path) -> None:
    (backend,) = store_hnsw.veles_stores()
    store = backend.open(store_hnsw.HnswSettings(VELESDB_MEMORY_HNSW_THRESHOLD=10), Host(tmp_path))
    vectors = clusters(30)
    store.put_facts([FactRecord(Fact(n, f"fact {n}", {"n": n}), vectors[n]) for n in range(30)])
    store.search(vectors[0], 1)
    if HAS_GRAPH:
        until(lambda: list(tmp_path.rglob("vectors.graph.snapshot")), PATIENCE)
    store.search(vectors[0], 1)
    store.delete_facts(range(25))
    assert sorted(hit.id for hit in store.search(vectors[27], 10)) == [25, 26, 27, 28, 29]
    filtered = store.search(vectors[27], 10, [Predicate("n", "ge", 27)])  # type: ignore[arg-type]
    assert sorted(hit.id for hit in filtered) == [27, 28, 29]
    assert filtered[0].id == 27
    store.close()
