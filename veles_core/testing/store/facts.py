"""What a store promises of facts: put, get, delete, scan, count."""

import math
from typing import Any

import numpy as np

from veles_core.protocols import Store
from veles_core.records import Edge, Fact, FactRecord
from veles_core.testing.store.fixtures import (
    EAST,
    HIGH,
    LAST,
    NORTH,
    StoreFixtures,
    everything,
    hub,
    ids,
    record,
    vector,
)

CONTENTS = [
    "plain",
    "two\nlines\r\nand a tab\t.",
    "nul \x00 inside",
    "composed caf\u00e9, decomposed cafe\u0301",
    "separators \u2028 \u2029 \u0085 and \ufeff",
    "emoji 👩‍👩‍👧 مرحبا שלום 会议室",
    "'; DROP TABLE facts; --",
    "x" * 2048,
]

METADATA: list[dict[str, Any]] = [
    {},
    {"text": "a", "yes": True, "no": False, "nothing": None, "int": 1, "float": 1.5},
    {"whole float": 1.0, "negative zero": -0.0, "tiny": 5e-324, "large": 1.7e308},
    {"2^53+1": 2**53 + 1, "2^63": 2**63, "-2^63-1": -(2**63) - 1, "2^64": 2**64},
    {"list": [1, "1", [True, None, {}]], "object": {"a": {"b": []}}, "[]": [], "{}": {}},
    {"": "empty key", "a.b": 1, "a b": 2, "$ne": 3, "chroma:document": 4, "k\u0301\x00": 5},
    {"empty": "", "nul": "\x00", "surrogate pair": "😀", "long": "y" * 60_000},
    {"_veles_date": 20250615},
]


class FactsContract(StoreFixtures):
    """Facts come back as they went in, in the orders promised."""

    def test_content_comes_back_code_point_for_code_point(self, store: Store) -> None:
        store.put_facts([record(n, content) for n, content in enumerate(CONTENTS)])
        found = store.get_facts(range(len(CONTENTS)))
        assert [fact.content for fact in found] == CONTENTS
        assert store.scan_facts(None, 99) == found

    def test_metadata_comes_back_with_its_json_types(self, store: Store) -> None:
        store.put_facts([record(n, metadata=metadata) for n, metadata in enumerate(METADATA)])
        found = store.get_facts(range(len(METADATA)))
        assert len(found) == len(METADATA)
        for fact, metadata in zip(found, METADATA, strict=True):
            # repr tells 1 from 1.0 and from True, which == does not.
            assert sorted(map(repr, fact.metadata.items())) == sorted(map(repr, metadata.items()))
        assert store.scan_facts(None, 99) == found

    def test_all_parts_of_a_fact_come_back(self, store: Store) -> None:
        facts = [
            Fact(1, "one", {"a": 1}, confidence=0.123456, expires_at=4_000_000_000.123456),
            Fact(2, "two", confidence=0.0),
            Fact(3, "Entity: three", {"size": 3}, confidence=1.0, kind="entity"),
        ]
        store.put_facts([FactRecord(fact, None if fact.id == 3 else EAST) for fact in facts])
        assert store.get_facts([1, 2, 3]) == facts

    def test_vectors_come_back_bit_for_bit(self, store: Store) -> None:
        vectors = [vector(*np.random.default_rng(n).normal(size=8)) for n in range(20)]
        store.put_facts([record(n, at=at) for n, at in enumerate(vectors)])
        for found, expected in zip(store.get_records(range(20)), vectors, strict=True):
            assert found.vector is not None
            assert found.vector.dtype == np.float32
            assert found.vector.tobytes() == expected.tobytes()

    def test_records_are_facts_with_vectors_and_hubs_have_none(self, store: Store) -> None:
        store.put_facts([record(7, "seven", metadata={"a": 1}), hub(8, "eight")])
        records = store.get_records([8, 7])
        assert [found.fact for found in records] == store.get_facts([8, 7])
        assert records[0].vector is None
        assert records[1].vector is not None

    def test_get_keeps_the_order_asked_and_leaves_out_the_absent(self, store: Store) -> None:
        store.put_facts([record(n) for n in (1, 2, 3)])
        assert ids(store.get_facts([3, 99, 1, LAST, 2])) == [3, 1, 2]
        assert [found.fact.id for found in store.get_records([2, 0, 3])] == [2, 3]

    def test_ids_are_unsigned_64_bit(self, store: Store) -> None:
        edge = [0, 1, 2**53 + 1, HIGH - 1, HIGH, HIGH + 1, LAST - 1, LAST]
        store.put_facts([record(n) for n in reversed(edge)])
        assert ids(store.scan_facts(None, 100)) == edge
        assert ids(store.get_facts(edge)) == edge
        assert ids(store.scan_facts(HIGH - 1, 100)) == edge[4:]
        assert ids(store.scan_facts(LAST, 100)) == []
        assert store.delete_facts([HIGH, LAST, 0]) == 3
        assert ids(store.scan_facts(None, 100)) == [1, 2**53 + 1, HIGH - 1, HIGH + 1, LAST - 1]

    def test_pages_ascend_and_end(self, store: Store) -> None:
        store.put_facts([record(n) for n in range(10, 17)])
        assert ids(store.scan_facts(None, 3)) == [10, 11, 12]
        assert ids(store.scan_facts(12, 3)) == [13, 14, 15]
        assert ids(store.scan_facts(15, 3)) == [16]
        assert ids(store.scan_facts(16, 3)) == []
        assert ids(store.scan_facts(11, 2)) == [12, 13]
        assert store.scan_facts(None, 0) == []

    def test_putting_again_replaces_by_id_and_keeps_edges(self, store: Store) -> None:
        store.put_facts([record(1, "old", metadata={"a": 1}, confidence=0.9), record(2)])
        store.put_edges([Edge(5, 1, "see", 2)])
        replacement = record(1, "new", NORTH, metadata={"b": 2}, confidence=0.4)
        store.put_facts([replacement])
        assert store.get_facts([1]) == [replacement.fact]
        assert ids(store.search(NORTH, 1)) == [1]
        assert store.count().facts == 2
        assert store.edges_from([1], 9) == [Edge(5, 1, "see", 2)]

    def test_the_last_of_one_id_in_a_batch_stays(self, store: Store) -> None:
        store.put_facts([record(1, "first"), record(2), record(1, "second", NORTH)])
        assert [fact.content for fact in store.get_facts([1, 2])] == ["second", "fact 2"]
        assert store.count().facts == 2
        assert ids(store.search(NORTH, 1)) == [1]

    def test_confidence_is_set_on_visible_facts_only(self, store: Store) -> None:
        store.put_facts([record(1, "one", metadata={"a": 1})])
        assert store.set_confidence(1, 0.65) is True
        assert store.set_confidence(2, 0.65) is False
        (fact,) = store.get_facts([1])
        assert fact == Fact(1, "one", {"a": 1}, 0.65)
        assert store.get_facts([2]) == []

    def test_delete_removes_the_fact_and_counts_the_visible(self, store: Store) -> None:
        store.put_facts([record(1), record(2), hub(3, "three")])
        assert store.delete_facts([1, 99, 3]) == 2
        assert store.delete_facts([1]) == 0
        assert store.get_facts([1, 2, 3]) == store.get_facts([2])
        assert ids(store.scan_facts(None, 9, internal=True)) == [2]
        assert ids(store.search(EAST, 9)) == [2]
        assert store.count().facts == 1

    def test_deleted_then_put_again_starts_anew(self, store: Store) -> None:
        store.put_facts([record(1), record(2)])
        store.put_edges([Edge(5, 1, "see", 2), Edge(6, 2, "see", 1)])
        store.delete_facts([1])
        store.put_facts([record(1)])
        assert store.edges_from([1, 2], 9) == []
        assert store.edges_to([1, 2], 9) == []

    def test_hubs_are_fetched_by_id_and_scanned_only_if_asked(self, store: Store) -> None:
        store.put_facts([record(1), hub(2, "two", role="hub"), record(3)])
        assert ids(store.get_facts([1, 2, 3])) == [1, 2, 3]
        assert ids(store.scan_facts(None, 9)) == [1, 3]
        assert ids(store.scan_facts(None, 9, internal=True)) == [1, 2, 3]
        assert ids(store.scan_facts(None, 2, internal=True)) == [1, 2]
        assert store.count().facts == 2

    def test_empty_batches_are_nothing(self, store: Store) -> None:
        store.put_facts([])
        store.put_edges([])
        store.put_documents("n", [])
        assert store.get_facts([]) == []
        assert store.get_records([]) == []
        assert store.delete_facts([]) == 0
        assert store.similarities(EAST, []) == []
        assert store.edges_from([], 9) == []
        assert store.edges_to([], 9) == []
        assert store.delete_edges([]) == 0
        assert store.get_documents("n", []) == {}
        assert store.delete_documents("n", []) == 0
        assert store.count().facts == 0

    def test_huge_batches_pass(self, store: Store, huge: int) -> None:
        angles = np.linspace(0, math.pi / 2, huge)
        batch = [
            record(n, at=vector(math.cos(a), math.sin(a))) for n, a in enumerate(angles.tolist())
        ]
        store.put_facts(batch)
        store.put_edges([Edge(n, n, "next", n + 1) for n in range(huge - 1)])
        assert store.count().facts == huge
        wanted = [*range(huge), *range(HIGH, HIGH + 7 * huge)]
        for found in (ids(everything(store)), ids(store.get_facts(wanted))):
            assert len(found) == huge
            # Not the lists: under CI pytest prints their difference whole, for minutes.
            assert [pair for pair in enumerate(found) if pair[0] != pair[1]][:9] == []
        assert len(store.edges_from(wanted, 1)) == huge - 1
        assert len(store.similarities(EAST, range(huge))) == huge
        assert store.delete_facts(wanted) == huge
        assert store.count().facts == 0
        assert len(store.edges_from(range(huge), 1)) == 0
