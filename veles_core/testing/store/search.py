"""What a store promises of vector search: exactly min(k, matching), stable, filtered first."""

import math

import numpy as np
import pytest

from veles_core.hookspecs import Host
from veles_core.protocols import Store
from veles_core.records import EmbeddingIdentity, Fact, FactRecord, Predicate
from veles_core.testing.peer import StoreOpener
from veles_core.testing.store.fixtures import (
    EAST,
    HIGH,
    LAST,
    NORTH,
    StoreFixtures,
    hub,
    ids,
    record,
    vector,
)


class SearchContract(StoreFixtures):
    """The nearest facts are found, all of them, in one order."""

    def test_hits_are_the_nearest_with_their_cosine(self, store: Store) -> None:
        random = np.random.default_rng(11)
        vectors = np.stack([vector(*random.normal(size=8)) for _ in range(200)])
        store.put_facts([record(n, at=at) for n, at in enumerate(vectors)])
        for query in vectors[:5] + vectors[5:10] / 2:
            query = query / np.linalg.norm(query)
            cosines = vectors @ query
            expected = np.lexsort((np.arange(200), -cosines))[:10]
            hits = store.search(query, 10)
            assert ids(hits) == expected.tolist()
            assert [hit.score for hit in hits] == pytest.approx(cosines[expected], abs=1e-5)

    def test_k_is_met_if_there_are_as_many(self, store: Store) -> None:
        assert store.search(EAST, 5) == []
        store.put_facts([record(1, at=EAST), record(2, at=vector(-1)), record(3, at=NORTH)])
        assert store.search(EAST, 0) == []
        assert ids(store.search(EAST, 2)) == [1, 3]
        hits = store.search(EAST, 50)
        assert ids(hits) == [1, 3, 2]
        assert [hit.score for hit in hits] == pytest.approx([1, 0, -1], abs=1e-6)

    def test_equal_scores_are_ordered_by_unsigned_id(self, store: Store) -> None:
        tied = [LAST, 5, HIGH, 3, HIGH - 1, 0]
        store.put_facts([record(n, at=NORTH) for n in tied])
        store.put_facts([record(9, at=EAST)])
        assert ids(store.search(NORTH, 9)) == [0, 3, 5, HIGH - 1, HIGH, LAST, 9]
        assert ids(store.search(NORTH, 2)) == [0, 3]
        assert ids(store.search(EAST, 4)) == [9, 0, 3, 5]
        assert store.search(NORTH, 4) == store.search(NORTH, 4)

    def test_many_identical_vectors_hide_nothing(self, store: Store) -> None:
        random = np.random.default_rng(5)
        others = [record(1000 + n, at=vector(*random.normal(size=8))) for n in range(50)]
        store.put_facts([*(record(n, at=EAST) for n in range(300)), *others])
        assert ids(store.search(EAST, 20)) == list(range(20))
        for other in others[:10]:
            assert other.vector is not None
            assert ids(store.search(other.vector, 1)) == [other.fact.id]

    def test_predicates_come_before_the_search(self, store: Store) -> None:
        store.put_facts(
            [
                record(n, at=vector(1, n / 1000), metadata={"site": "south" if n >= 397 else "n"})
                for n in range(400)
            ]
        )
        south = [Predicate("site", "eq", "south")]
        assert ids(store.search(EAST, 5, south)) == [397, 398, 399]
        assert ids(store.search(EAST, 1, south)) == [397]
        assert store.search(EAST, 5, [Predicate("site", "eq", "west")]) == []
        assert ids(store.search(EAST, 3, [Predicate("site", "ne", "south")])) == [0, 1, 2]

    def test_hubs_and_the_deleted_are_never_found(self, store: Store) -> None:
        store.put_facts([record(n) for n in range(6)] + [hub(7, "seven")])
        store.delete_facts([0, 2, 4])
        assert ids(store.search(EAST, 9)) == [1, 3, 5]
        assert ids(store.search(EAST, 2)) == [1, 3]

    def test_a_replaced_vector_moves_the_fact(self, store: Store) -> None:
        store.put_facts([record(1, at=EAST), record(2, at=vector(1, 1))])
        store.put_facts([record(1, at=NORTH)])
        assert ids(store.search(EAST, 2)) == [2, 1]
        assert store.similarities(EAST, [1]) == pytest.approx([0], abs=1e-6)

    def test_similarities_are_cosines_in_the_order_asked(self, store: Store) -> None:
        store.put_facts(
            [record(1, at=EAST), record(HIGH, at=vector(-1)), record(3, at=vector(1, 1))]
        )
        found = store.similarities(EAST, [3, 1, HIGH])
        assert found == pytest.approx([0.5**0.5, 1, -1], abs=1e-6)
        store.put_facts([FactRecord(Fact(4, "bare"), None)])
        # Another process may delete a fact between two calls: the lengths still agree.
        absent, bare, there = store.similarities(EAST, [99, 4, 1])
        assert math.isnan(absent)
        assert math.isnan(bare)
        assert there == pytest.approx(1, abs=1e-6)

    def test_the_dimension_may_be_unknown_at_first(
        self, open_store: StoreOpener, host: Host
    ) -> None:
        unknown = Host(host.data_dir, host.clock, host.epoch, EmbeddingIdentity("remote", None))
        store = open_store(unknown)
        assert store.search(EAST, 3) == []
        store.put_facts([record(1), record(2, at=NORTH)])
        assert ids(store.search(NORTH, 3)) == [2, 1]
        store.close()
        store = open_store(unknown)
        assert ids(store.search(NORTH, 3)) == [2, 1]
        store.close()

    def test_a_fact_without_a_vector_is_kept_and_reported(self, store: Store) -> None:
        store.put_facts([record(1), FactRecord(Fact(2, "bare", {"a": 1}), None)])
        assert ids(store.scan_facts(None, 9)) == [1, 2]
        assert ids(store.scan_facts(None, 9, [Predicate("a", "eq", 1)])) == [2]
        assert [found.vector is None for found in store.get_records([1, 2])] == [False, True]
        assert store.count().facts == 2
        missing = [problem for problem in store.check() if problem.code == "vector-missing"]
        assert [problem.ids for problem in missing] == [(2,)]
        store.put_facts([record(2, at=NORTH)])
        assert store.check() == []
        assert ids(store.search(NORTH, 1)) == [2]
