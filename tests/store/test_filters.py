"""Filters are remembered until something is written or expires, and no longer."""

import pytest

from tests.storing import Open, records, vector
from veles_core.ledger import predicates
from veles_core.records import ABOUT, Edge, Fact, FactRecord, Predicate
from veles_core.store import LedgerStore, filters
from veles_core.testing.clock import NOON, SettableClock

ODD = [Predicate("odd", "eq", True)]


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by one whenever predicates are really looked up."""
    calls: list[object] = []
    original = predicates.matching

    def counted(*arguments: object) -> object:
        calls.append(arguments)
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(predicates, "matching", counted)
    return calls


def ids(store: LedgerStore, asked: list[Predicate]) -> set[int]:
    return {hit.id for hit in store.search(vector(1), 99, asked)}


def test_the_same_filter_is_looked_up_once(store: LedgerStore, resolved: list[object]) -> None:
    store.put_facts(records(*range(10)))
    for _ in range(3):
        assert ids(store, ODD) == {1, 3, 5, 7, 9}
        assert len(store.search_words("fact", 9, ODD)) == 5
        assert len(store.scan_facts(None, 3, ODD)) == 3
    assert len(resolved) == 1
    assert ids(store, [Predicate("odd", "eq", 1)]) == set()  # true is not 1
    assert len(resolved) == 2


def test_any_write_of_anyone_is_noticed(open_store: Open, clock: SettableClock) -> None:
    store, other = open_store(), open_store()
    store.put_facts(records(*range(6)))
    assert ids(store, ODD) == {1, 3, 5}
    other.put_facts(records(7))
    assert ids(store, ODD) == {1, 3, 5, 7}
    store.delete_facts([3])
    assert ids(store, ODD) == {1, 5, 7}
    with pytest.raises(ZeroDivisionError), store.transaction():  # noqa: PT012
        store.put_facts(records(9))
        assert ids(store, ODD) == {1, 5, 7, 9}
        raise ZeroDivisionError
    assert ids(store, ODD) == {1, 5, 7}
    store.put_facts(records(5, expires_at=NOON + 1))
    assert ids(store, ODD) == {1, 5, 7}
    clock.set(NOON + 1)
    assert ids(store, ODD) == {1, 7}


def test_a_hub_counts_until_it_expires(store: LedgerStore, clock: SettableClock) -> None:
    through = [Predicate("size", "eq", 1, through_hubs=True)]
    store.put_facts(records(1, 2))
    hub = Fact(50, "hub", {"size": 1}, expires_at=NOON + 1, kind="entity")
    store.put_facts([FactRecord(hub, None)])
    store.put_edges([Edge(1, 1, ABOUT, 50)])
    assert ids(store, through) == {1}
    store.put_edges([Edge(2, 2, ABOUT, 50)])
    assert ids(store, through) == {1, 2}
    clock.set(NOON + 1)
    assert ids(store, through) == set()


def test_few_filters_are_kept(
    store: LedgerStore, resolved: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put_facts(records(*range(30)))
    for _ in range(2):
        for n in range(filters.KEPT_FILTERS + 1):
            assert ids(store, [Predicate("n", "eq", n)]) == {n}
    assert len(resolved) == 2 * (filters.KEPT_FILTERS + 1)
    monkeypatch.setattr(filters, "KEPT_IDS", 3)
    for _ in range(2):
        assert len(ids(store, ODD)) == 15
    assert len(resolved) == 2 * (filters.KEPT_FILTERS + 1) + 2


def test_pages_with_a_filter_are_full_and_end(store: LedgerStore) -> None:
    store.put_facts(records(*range(50)))
    for asked, expected in (
        (ODD, list(range(1, 50, 2))),
        ([Predicate("odd", "ne", True)], list(range(0, 50, 2))),
        ([Predicate("n", "ge", 40)], list(range(40, 50))),
    ):
        found: list[int] = []
        while page := store.scan_facts(found[-1] if found else None, 7, asked):
            assert len(page) == min(7, len(expected) - len(found))
            found += [fact.id for fact in page]
        assert found == expected
