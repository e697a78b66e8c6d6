"""No call reads the whole store: every statement finds its rows through an index."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.storing import records, vector
from veles_core.ledger.connect import Database
from veles_core.records import ABOUT, Document, Edge, EmbeddingIdentity, Fact, FactRecord, Predicate
from veles_core.store import LedgerStore
from veles_core.testing.clock import NOON, SettableClock

# What may be read from end to end: one row, the ids given, the edges of what has expired.
WHOLE = {"state", "asked", "(subquery-2)"}
ANY_VECTOR = "SELECT 1 FROM vectors LIMIT 1"  # reads one


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> dict[str, Sequence[Any]]:
    """All SQL that runs from now on, with bindings of one run of it."""
    seen: dict[str, Sequence[Any]] = {}

    def recording(name: str) -> Any:
        original = getattr(Database, name)

        def run(self: Database, sql: str, bindings: Any = ()) -> Any:
            if name == "run_many":
                bindings = list(bindings)
                if bindings:
                    seen[sql] = bindings[0]
            else:
                seen[sql] = bindings
            return original(self, sql, bindings)

        return run

    for name in ("rows", "row", "scan", "run", "run_many"):
        monkeypatch.setattr(Database, name, recording(name))
    return seen


def call_everything(store: LedgerStore, clock: SettableClock) -> None:
    store.set_provenance(EmbeddingIdentity("m", 32))
    store.put_facts(records(*range(40)))
    store.put_facts(records(3, text="changed", expires_at=NOON + 1))
    store.put_facts([FactRecord(Fact(90, "hub", {"a": 1}, kind="entity"), None)])
    store.put_edges([Edge(1, 1, "see", 2), Edge(2, 2, ABOUT, 90), Edge(3, 3, "see", 1)])
    store.put_documents("n", [Document("k", b"1"), Document("l", b"1", NOON + 1)])
    asked = [
        [
            Predicate("n", "ge", 3, True),
            Predicate("n", "lt", 9, True),
            Predicate("odd", "ne", True),
        ],
        [Predicate("odd", "eq", True)],
        [Predicate("odd", "ne", True, True)],
    ]
    for predicates in ([], *asked):
        store.search(vector(1), 5, predicates)
        store.search_words("fact", 5, predicates)
        store.scan_facts(5, 3, predicates)
    store.scan_facts(None, 3, internal=True)
    store.similarities(vector(1), [1, 2])
    store.word_scores("fact", [1, 2])
    store.get_facts([1, 2, 90])
    store.get_records([1])
    store.set_confidence(1, 0.7)
    store.edges_from([1, 2], 5)
    store.edges_to([1, 2], 5)
    store.entity_edges(90, True, 5)
    store.entity_edges(90, False, 5)
    store.get_documents("n", ["k"])
    store.scan_documents("n", None, 5)
    store.scan_documents("n", "a", 5)
    store.namespaces()
    store.provenance()
    store.delete_edges([1])
    store.delete_facts([7])
    store.delete_documents("n", ["k"])
    store.search(vector(1), 5)
    clock.set(NOON + 2)
    store.count()
    store.reclaim(10)


def test_every_statement_uses_an_index(
    store: LedgerStore, clock: SettableClock, statements: dict[str, Sequence[Any]]
) -> None:
    call_everything(store, clock)
    assert len(statements) > 40
    with store._db.reading():
        for sql, bindings in list(statements.items()):
            if not sql.startswith("PRAGMA") and sql != ANY_VECTOR:
                plan = store._db.rows(f"EXPLAIN QUERY PLAN {sql}", bindings)
                for *_, step in plan:
                    scanned = step.removeprefix("SCAN ").split()[0] if "SCAN" in step else None
                    assert scanned is None or scanned in WHOLE, f"{sql}: {step}"
                    assert "TEMP B-TREE" not in step or "UNION" in sql, f"{sql}: {step}"
