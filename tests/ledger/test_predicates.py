"""Field rows answer predicates exactly as the model evaluated on each metadata object does."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veles_core.ledger import edges, facts, predicates
from veles_core.ledger.connect import Database
from veles_core.predicates import matches
from veles_core.records import ABOUT, Edge, Fact, FactRecord, Op, Predicate

SCALARS: st.SearchStrategy[Any] = (
    st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0, 1, 1.0, True, "1", "", "a", "a\x00", "é", 2**53, 2**53 + 1, -0.0, 0.1])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
)
VALUES = (
    SCALARS | st.none() | st.lists(SCALARS, max_size=2) | st.dictionaries(st.just("k"), SCALARS)
)
KEYS = st.sampled_from(["n", "m", "a.b", ""])
METADATA = st.dictionaries(KEYS, VALUES, max_size=3)
PREDICATES = st.builds(
    Predicate, KEYS, st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"]), VALUES
)


def found(db: Database, asked: list[Predicate]) -> set[int]:
    allowed = predicates.matching(db, asked, 0.0)
    excluded = set(predicates.equal(db, asked, 0.0).tolist())
    everything = {fact.id for fact in facts.scan(db, None, 9_999, 0.0, internal=False)}
    return (everything if allowed is None else set(allowed.tolist())) - excluded


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # each example empties it
)
@given(st.lists(METADATA, max_size=8), st.lists(PREDICATES, min_size=1, max_size=3))
def test_any_predicates_over_any_metadata(
    db: Database, rows: list[dict[str, Any]], asked: list[Predicate]
) -> None:
    facts.put(db, [FactRecord(Fact(n, "f", row), None) for n, row in enumerate(rows)], 0.0)
    assert found(db, asked) == {n for n, row in enumerate(rows) if matches(row, asked)}
    facts.delete(db, range(len(rows)), 0.0)
    assert db.rows("SELECT * FROM fields") == []


def put(db: Database, id: int, metadata: dict[str, Any], hub: bool = False) -> None:
    fact = Fact(id, "f", metadata, kind="entity" if hub else "fact")
    facts.put(db, [FactRecord(fact, None)], 0.0)


def test_two_bounds_of_a_field_are_one_range(db: Database) -> None:
    for n in range(100):
        put(db, n, {"n": n})
    between = [Predicate("n", "ge", 20), Predicate("n", "lt", 25), Predicate("n", "ne", 22)]
    assert found(db, between) == {20, 21, 23, 24}
    assert found(db, [Predicate("n", "gt", 25), Predicate("n", "lt", 20)]) == set()
    assert found(db, [Predicate("n", "ge", 98), Predicate("n", "lt", "z")]) == set()


def test_each_bound_may_be_met_by_another_hub(db: Database) -> None:
    put(db, 1, {})
    put(db, 2, {"size": 7})
    put(db, 10, {"size": 5}, hub=True)
    put(db, 11, {"size": 50}, hub=True)
    edges.put(db, [Edge(1, 1, ABOUT, 10), Edge(2, 1, ABOUT, 11), Edge(3, 2, "near", 11)], 0.0)
    low, high = Predicate("size", "lt", 10, True), Predicate("size", "gt", 40, True)
    assert found(db, [low]) == {1, 2}
    assert found(db, [high]) == {1}
    assert found(db, [low, high]) == {1}
    assert found(db, [Predicate("size", "ne", 5, True)]) == {2}
    assert found(db, [Predicate("size", "ne", 5)]) == {1, 2}


@pytest.mark.parametrize("op", ["eq", "lt", "le", "gt", "ge"])
def test_a_predicate_reads_one_range_of_the_index(db: Database, op: Op) -> None:
    put(db, 1, {"n": 1})
    plan = db.rows(
        "EXPLAIN QUERY PLAN SELECT fact_id FROM fields"
        " WHERE field = ? AND hub = 0 AND value >= ? AND value < ?",
        ("n", *predicates.range_of(Predicate("n", op, 1))),
    )
    assert [row[3] for row in plan] == [
        "SEARCH fields USING PRIMARY KEY (field=? AND hub=? AND value>? AND value<?)"
    ]


def test_reserved_keys_but_the_date_have_no_rows(db: Database) -> None:
    put(db, 1, {"_veles_date": 20260101, "_veles_given": True, "plain": 1})
    assert db.rows("SELECT field FROM fields") == [("_veles_date",), ("plain",)]
