"""What a store promises of expiry: exact at read time, reclaimed whenever."""

from veles_core.protocols import Store
from veles_core.records import ABOUT, Document, Edge, Predicate
from veles_core.testing.clock import NOON, SettableClock
from veles_core.testing.store.fixtures import EAST, StoreFixtures, hub, ids, record

SOON = NOON + 60.123456
BEFORE = SOON - 1e-5


def fill(store: Store) -> None:
    """Facts 1 and 3 and document b are permanent, the others end at SOON."""
    store.put_facts(
        [
            record(1, metadata={"n": 1}),
            record(2, metadata={"n": 1}, expires_at=SOON),
            record(3, metadata={"n": 1}),
            hub(4, "four", n=1),
        ]
    )
    store.put_edges([Edge(1, 1, "a", 2), Edge(2, 2, "b", 3), Edge(3, 3, "c", 1)])
    store.put_documents("n", [Document("a", b"a", SOON), Document("b", b"b")])
    store.put_documents("m", [Document("a", b"a", SOON)])


class LifetimeContract(StoreFixtures):
    """An expired thing is in no answer from its instant on, reclaimed or not."""

    def test_an_expired_fact_is_in_no_answer(
        self, store: Store, clock: SettableClock, counts_edges: bool
    ) -> None:
        fill(store)
        any_n = [Predicate("n", "eq", 1)]
        for now, visible, edges in ((BEFORE, [1, 2, 3], [1, 2, 3]), (SOON, [1, 3], [3])):
            clock.set(now)
            assert ids(store.get_facts([1, 2, 3])) == visible
            assert [found.fact.id for found in store.get_records([1, 2, 3])] == visible
            assert ids(store.scan_facts(None, 9)) == visible
            assert ids(store.scan_facts(None, 9, any_n)) == visible
            assert ids(store.scan_facts(None, 9, [Predicate("n", "ne", 2)])) == visible
            assert ids(store.scan_facts(None, 9, internal=True)) == [*visible, 4]
            assert ids(store.search(EAST, 9)) == visible
            assert ids(store.search(EAST, 9, any_n)) == visible
            assert ids(store.search(EAST, 2)) == visible[:2]
            assert ids(store.edges_from([1, 2, 3], 9)) == edges
            assert ids(store.edges_to([2, 3, 1], 9)) == edges
            counts = store.count()
            assert counts.facts == len(visible)
            assert counts.edges == (len(edges) if counts_edges else None)
        assert store.set_confidence(2, 0.9) is False
        assert store.delete_edges([1, 2]) == 0
        assert store.delete_facts([2]) == 0

    def test_an_expired_document_is_in_no_answer(self, store: Store, clock: SettableClock) -> None:
        fill(store)
        clock.set(BEFORE)
        assert [*store.get_documents("n", ["a", "b"])] == ["a", "b"]
        assert [d.key for d in store.scan_documents("n", None, 1)] == ["a"]
        assert store.namespaces() == ["m", "n"]
        clock.set(SOON)
        assert [*store.get_documents("n", ["a", "b"])] == ["b"]
        assert [d.key for d in store.scan_documents("n", None, 1)] == ["b"]
        assert store.namespaces() == ["n"]
        assert store.delete_documents("n", ["a"]) == 0

    def test_an_expired_hub_is_no_hub(self, store: Store, clock: SettableClock) -> None:
        store.put_facts([record(1), record(2, kind="entity", metadata={"a": 1}, expires_at=SOON)])
        store.put_edges([Edge(1, 1, ABOUT, 2)])
        through = [Predicate("a", "eq", 1, through_hubs=True)]
        clock.set(BEFORE)
        assert ids(store.scan_facts(None, 9, through)) == [1]
        clock.set(SOON)
        assert store.scan_facts(None, 9, through) == []
        assert store.get_facts([2]) == []

    def test_putting_an_expired_fact_starts_it_anew(
        self, store: Store, clock: SettableClock
    ) -> None:
        fill(store)
        clock.set(SOON)
        store.put_facts([record(2, "again")])
        assert [fact.content for fact in store.get_facts([2])] == ["again"]
        assert ids(store.scan_facts(None, 9)) == [1, 2, 3]
        assert ids(store.edges_from([1, 2, 3], 9)) == [3]
        assert ids(store.edges_to([1, 2, 3], 9)) == [3]
        store.put_edges([Edge(1, 1, "a", 2)])
        assert ids(store.edges_from([1], 9)) == [1]

    def test_putting_a_visible_fact_moves_its_expiry(
        self, store: Store, clock: SettableClock
    ) -> None:
        fill(store)
        store.put_facts([record(2), record(3, expires_at=SOON)])
        store.put_documents("n", [Document("a", b"a")])
        clock.set(SOON)
        assert ids(store.scan_facts(None, 9)) == [1, 2]
        assert ids(store.edges_from([1, 2, 3], 9)) == [1]
        assert [*store.get_documents("n", ["a"])] == ["a"]

    def test_an_expired_document_may_be_put_again(self, store: Store, clock: SettableClock) -> None:
        fill(store)
        clock.set(SOON)
        store.put_documents("n", [Document("a", b"again")])
        assert store.get_documents("n", ["a"]) == {"a": Document("a", b"again")}

    def test_what_is_put_already_expired_is_never_seen(self, store: Store) -> None:
        store.put_facts([record(1, expires_at=NOON), record(2)])
        store.put_documents("n", [Document("a", b"a", NOON)])
        assert ids(store.scan_facts(None, 9)) == [2]
        assert ids(store.search(EAST, 9)) == [2]
        assert store.namespaces() == []

    def test_reclaim_frees_what_expired_and_nothing_else(
        self, store: Store, clock: SettableClock, counts_edges: bool
    ) -> None:
        store.put_facts([record(n, expires_at=SOON if n < 5 else None) for n in range(8)])
        store.put_edges([Edge(7, 7, "see", 6)])
        store.put_documents("n", [Document(f"{n}", b"", SOON if n < 2 else None) for n in range(3)])
        assert store.reclaim(10) == 0
        clock.set(SOON)
        freed: list[int] = []
        while not freed or freed[-1]:
            freed.append(store.reclaim(3))
        assert sum(freed) == 7
        assert max(freed) <= 3
        assert ids(store.scan_facts(None, 9)) == [5, 6, 7]
        assert ids(store.search(EAST, 9)) == [5, 6, 7]
        assert ids(store.edges_from([7], 9)) == [7]
        assert store.count().edges == (1 if counts_edges else None)
        assert [d.key for d in store.scan_documents("n", None, 9)] == ["2"]
        clock.set(NOON)
        assert ids(store.get_facts(range(8))) == [5, 6, 7]
        assert store.check() == []
