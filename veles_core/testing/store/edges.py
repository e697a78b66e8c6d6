"""What a store promises of edges: put once, listed by id, gone with either end."""

from veles_core.protocols import Store
from veles_core.records import ABOUT, MENTIONS, Edge
from veles_core.testing.store.fixtures import HIGH, LAST, StoreFixtures, hub, ids, record


class EdgesContract(StoreFixtures):
    """Edges come back grouped and ordered, and only while both ends are visible."""

    def test_edges_come_back_from_both_ends(self, store: Store) -> None:
        store.put_facts([record(1), record(HIGH), hub(3, "three")])
        out, back = Edge(5, 1, "läuft → 二 'of'", HIGH), Edge(LAST, 3, "mentions", 1)
        store.put_edges([out, back])
        assert store.edges_from([1], 9) == [out]
        assert store.edges_to([HIGH], 9) == [out]
        assert store.edges_from([3], 9) == [back]
        assert store.edges_to([1], 9) == [back]
        assert store.edges_from([HIGH], 9) == []

    def test_they_are_grouped_as_asked_and_ordered_by_unsigned_id(self, store: Store) -> None:
        store.put_facts([record(n) for n in range(5)])
        numbers = [LAST, 7, HIGH, 3, HIGH - 1, 0]
        store.put_edges([Edge(n, 1, f"r{n}", 2) for n in numbers])
        store.put_edges([Edge(11, 3, "x", 2), Edge(12, 4, "x", 0), Edge(10, 4, "x", 1)])
        ascending = [0, 3, 7, HIGH - 1, HIGH, LAST]
        assert ids(store.edges_from([4, 99, 1, 3], 99)) == [10, 12, *ascending, 11]
        assert ids(store.edges_to([0, 2], 99)) == [12, 0, 3, 7, 11, HIGH - 1, HIGH, LAST]

    def test_the_limit_is_one_for_each_source(self, store: Store) -> None:
        store.put_facts([record(n) for n in range(4)])
        store.put_edges([Edge(s * 10 + n, s, f"r{n}", 3) for s in (0, 1, 2) for n in range(6)])
        assert ids(store.edges_from([2, 0], 2)) == [20, 21, 0, 1]
        assert ids(store.edges_to([3], 4)) == [0, 1, 2, 3]
        assert store.edges_from([0], 0) == []

    def test_an_entitys_edges_are_those_that_say_something_about_it(self, store: Store) -> None:
        store.put_facts([record(1), record(2), hub(3, "three"), hub(4, "four")])
        linked = [
            Edge(n, *link)
            for n, link in enumerate(
                [(1, ABOUT, 3), (2, ABOUT, 3), (3, MENTIONS, 1), (3, MENTIONS, 2)]
            )
        ]
        leaving = [Edge(HIGH, 3, MENTIONS, 4), Edge(20, 3, "needs", 4), Edge(21, 3, "owns", 1)]
        entering = [Edge(LAST, 4, ABOUT, 3), Edge(30, 2, "names", 3), Edge(31, 1, MENTIONS, 3)]
        store.put_edges([*linked, *leaving, *entering])
        assert ids(store.entity_edges(3, False, 9)) == [20, 21, HIGH]
        assert ids(store.entity_edges(3, True, 9)) == [30, 31, LAST]
        assert ids(store.entity_edges(3, False, 2)) == [20, 21]
        assert ids(store.entity_edges(4, True, 9)) == [20, HIGH]
        assert store.entity_edges(99, True, 9) == []

    def test_an_edge_that_is_there_stays_as_it_is(self, store: Store) -> None:
        store.put_facts([record(n) for n in range(3)])
        first = Edge(5, 0, "see", 1)
        store.put_edges([first])
        store.put_edges([Edge(5, 0, "other", 2), Edge(6, 0, "more", 2), Edge(6, 0, "less", 1)])
        assert store.edges_from([0], 9) == [first, Edge(6, 0, "more", 2)]

    def test_delete_counts_the_edges_there_were(self, store: Store, counts_edges: bool) -> None:
        store.put_facts([record(1), record(2)])
        store.put_edges([Edge(5, 1, "a", 2), Edge(HIGH, 1, "b", 2), Edge(7, 2, "c", 1)])
        assert store.count().edges == (3 if counts_edges else None)
        assert store.delete_edges([HIGH, 7, 99]) == 2
        assert store.delete_edges([HIGH]) == 0
        assert ids(store.edges_from([1, 2], 9)) == [5]
        assert ids(store.edges_to([1, 2], 9)) == [5]
        assert store.count().edges == (1 if counts_edges else None)

    def test_a_deleted_end_takes_its_edges_with_it(self, store: Store, counts_edges: bool) -> None:
        store.put_facts([record(1), record(2), hub(3, "three")])
        store.put_edges([Edge(4, 1, "a", 2), Edge(5, 2, "b", 3), Edge(6, 3, "c", 1)])
        store.delete_facts([3])
        assert ids(store.edges_from([1, 2, 3], 9)) == [4]
        assert ids(store.edges_to([1, 2, 3], 9)) == [4]
        assert store.count().edges == (1 if counts_edges else None)
        assert store.delete_edges([5, 6]) == 0

    def test_an_edge_without_an_end_is_not_visible(self, store: Store, counts_edges: bool) -> None:
        store.put_facts([record(1)])
        store.put_edges([Edge(4, 1, "a", 99), Edge(5, 99, "b", 1)])
        assert store.edges_from([1, 99], 9) == []
        assert store.edges_to([1, 99], 9) == []
        assert store.count().edges == (0 if counts_edges else None)
        assert store.delete_edges([4, 5]) == 0

    def test_the_limit_counts_visible_edges_only(self, store: Store) -> None:
        store.put_facts([record(1), record(2), record(3)])
        store.put_edges([Edge(n, 1, f"r{n}", 2 if n < 5 else 3) for n in range(10)])
        store.delete_facts([2])
        assert ids(store.edges_from([1], 3)) == [5, 6, 7]
