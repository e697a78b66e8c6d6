"""The exact index: equal to comparing everything, and independent of how it came to be."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veles_core.builtin import exact_index
from veles_core.builtin.exact_index import ExactIndex
from veles_core.errors import StoreError

if TYPE_CHECKING:
    import numpy.typing as npt

    from veles_core.records import Matrix, Vector

DIMENSION = 16
COUNT = 400


@pytest.fixture(autouse=True, scope="module")
def small_blocks() -> Iterator[None]:
    """A few hundred vectors make several blocks of columns, and some rows are left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_index, "COLUMN_ROWS", 48)
        yield


def unit(count: int, seed: int = 0) -> "Matrix":
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSION))
    vectors[::7] = vectors[0]  # some are equal
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


VECTORS = unit(COUNT)
IDS = np.random.default_rng(1).permutation(COUNT).astype(np.uint64) << np.uint64(54)
QUERIES = unit(5, seed=2)


def truth(query: "Vector", k: int, eligible: "npt.NDArray[np.bool_]") -> list[tuple[int, float]]:
    """The k best by rounded exact score, then id; IDS and VECTORS as they are."""
    scores = np.round(VECTORS.astype(np.float64) @ query.astype(np.float64), 6)
    ranked = sorted((-score, id) for score, id in zip(scores[eligible], IDS[eligible], strict=True))
    return [(int(id), pytest.approx(-score, abs=1e-6)) for score, id in ranked[:k]]


def found(index: ExactIndex, *args: object) -> list[tuple[int, float]]:
    ids, scores = index.search(*args)  # type: ignore[arg-type]
    return list(zip(ids.tolist(), scores.tolist(), strict=True))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_search_equals_comparing_everything(data: st.DataObject) -> None:
    index = ExactIndex(None)
    cuts = sorted(data.draw(st.lists(st.integers(0, COUNT), max_size=3)))
    for start, end in zip([0, *cuts], [*cuts, COUNT], strict=True):
        index.add(IDS[start:end], VECTORS[start:end])
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=COUNT, max_size=COUNT)))
    index.remove(IDS[gone])
    k = data.draw(st.sampled_from([1, 3, 64, COUNT, 2 * COUNT]))
    query = QUERIES[data.draw(st.integers(0, 4))]
    share = data.draw(st.sampled_from([0.0, 0.02, 0.5, 1.0]))
    chosen = np.random.default_rng(3).random(COUNT) < share
    some = np.sort(IDS[chosen])
    assert found(index, query, k) == truth(query, k, ~gone)
    assert found(index, query, k, some) == truth(query, k, ~gone & chosen)
    assert found(index, query, k, None, some) == truth(query, k, ~gone & ~chosen)


def test_the_answer_depends_on_nothing_but_the_vectors(tmp_path: Path) -> None:
    at_once = ExactIndex(None)
    at_once.add(IDS, VECTORS)
    one_by_one = ExactIndex(tmp_path / "vectors")
    for place in np.random.default_rng(4).permutation(COUNT):
        one_by_one.add(IDS[place : place + 1], VECTORS[place : place + 1])
    one_by_one.save()
    mapped = ExactIndex(tmp_path / "vectors")
    mapped.add(IDS[:50], VECTORS[:50])
    mapped.remove(np.array([99], np.uint64))
    for query in QUERIES:
        for k in (1, 10, 100):
            expected = found(at_once, query, k)
            assert found(one_by_one, query, k) == expected
            assert found(mapped, query, k) == expected
            assert found(at_once, query, k, np.sort(IDS)) == expected


def test_near_ties_at_the_cut_are_decided_exactly() -> None:
    """Float32 can't tell these apart; the order is that of the exact scores, then ids."""
    random = np.random.default_rng(5)
    base = random.normal(size=384)
    vectors = np.repeat(base[None], 3000, axis=0)
    vectors[:, 0] += random.normal(size=3000) * 1e-5
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    index = ExactIndex(None)
    index.add(np.arange(3000, dtype=np.uint64), vectors)
    exact = np.round(vectors.astype(np.float64) @ vectors[7].astype(np.float64), 6)
    expected = sorted(range(3000), key=lambda n: (-exact[n], n))[:10]
    assert index.search(vectors[7], 10)[0].tolist() == expected


def test_vectors_of_another_length_are_refused() -> None:
    index = ExactIndex(None)
    index.add(IDS, VECTORS)
    for call in (
        lambda: index.search(np.ones(3, np.float32), 1),
        lambda: index.similarities(np.ones(3, np.float32), IDS),
        lambda: index.add(IDS[:1], np.ones((1, 3), np.float32)),
    ):
        with pytest.raises(StoreError, match="3 dimensions, the memory's have 16"):
            call()
    assert len(index) == COUNT


def test_a_snapshot_holds_the_living_by_id(tmp_path: Path) -> None:
    index = ExactIndex(tmp_path / "vectors")
    index.add(IDS, VECTORS)
    index.remove(IDS[:100])
    index.advance(9)
    index.save()
    opened = ExactIndex(tmp_path / "vectors")
    assert (opened.position, len(opened)) == (9, COUNT - 100)
    assert opened.standing().ids.tolist() == sorted(IDS[100:].tolist())


def test_what_stands_is_not_touched_by_what_follows() -> None:
    index = ExactIndex(None)
    index.add(IDS[:100], VECTORS[:100])
    standing = index.standing()
    before = standing.vectors(slice(None)).copy()
    index.remove(IDS[:50])
    index.add(IDS[:50], VECTORS[100:150])
    index.add(IDS[100:], VECTORS[100:])
    assert np.array_equal(standing.vectors(slice(None)), before)
    assert standing.ids.tolist() == sorted(IDS[:100].tolist())
