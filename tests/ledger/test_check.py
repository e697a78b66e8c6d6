"""Every kind of damage is found, named, and mended if that loses no fact."""

import numpy as np
import pytest

from veles_core.ledger import check, edges, facts
from veles_core.ledger.connect import Database
from veles_core.ledger.ids import signed
from veles_core.records import ABOUT, Edge, Fact, FactRecord, Problem

HIGH = 1 << 63


@pytest.fixture
def filled(db: Database) -> Database:
    """Facts 0 to 9 and one above 2^63, a hub, and some edges."""
    identity = np.eye(8, dtype=np.float32)
    records = [
        FactRecord(Fact(n, f"fact {n}", {"n": n, "list": [n]}), identity[n % 8])
        for n in (*range(10), HIGH)
    ]
    facts.put(db, [*records, FactRecord(Fact(50, "hub", {"a": 1}, kind="entity"), None)], 0.0)
    edges.put(db, [Edge(1, 0, "see", 1), Edge(2, 1, ABOUT, 50)], 0.0)
    return db


def findings(db: Database, repair: bool = False) -> list[Problem]:
    with db.transaction() if repair else db.reading():
        return check.ledger(db, repair)


def test_a_sound_ledger_has_no_findings(filled: Database) -> None:
    assert findings(filled) == []
    assert findings(filled, repair=True) == []


@pytest.mark.parametrize(
    ("code", "ids", "damage"),
    [
        ("edge-dangling", (), "INSERT INTO edges VALUES (9, 1, 2, 'r', 0)"),
        ("field-rows", (3,), f"DELETE FROM fields WHERE fact_id = {signed(3)} AND field = 'n'"),
        ("field-rows", (3,), f"INSERT INTO fields VALUES ('x', 0, x'00', {signed(3)})"),
        ("field-rows", (HIGH,), f"UPDATE facts SET metadata = '{{}}' WHERE id = {signed(HIGH)}"),
        ("field-rows", (50,), f"UPDATE fields SET hub = 0 WHERE fact_id = {signed(50)}"),
        ("vector-orphan", (), "INSERT INTO vectors VALUES (999, x'00')"),
        ("counters", (), "UPDATE state SET facts = 12"),
        ("counters", (), "UPDATE state SET edges = edges - 1"),
        ("counters", (), "UPDATE state SET sequence = 1"),
    ],
)
def test_damage_is_found_and_mended(
    filled: Database, code: str, ids: tuple[int, ...], damage: str
) -> None:
    with filled.transaction():
        filled.run(damage)
        if code == "edge-dangling":
            filled.run("UPDATE state SET edges = edges + 1")
    (found,) = findings(filled)
    assert (found.code, found.ids, found.repaired) == (code, ids, False)
    mended = findings(filled, repair=True)
    assert (mended[0].code, mended[0].repaired) == (code, True)
    assert findings(filled) == []


def test_missing_vectors_are_listed_for_those_who_can_embed(filled: Database) -> None:
    with filled.transaction():
        filled.run("DELETE FROM vectors WHERE changed IN (SELECT changed FROM facts"
                   f" WHERE id IN ({signed(2)}, {signed(HIGH)}))")  # fmt: skip
    for repair in (False, True):
        (found,) = findings(filled, repair)
        assert (found.code, found.ids, found.repaired) == ("vector-missing", (2, HIGH), False)


@pytest.mark.parametrize("vector", [b"", b"\0" * 32, b"\0" * 28, b"\xff" * 32])
def test_what_is_no_vector_becomes_a_missing_one(filled: Database, vector: bytes) -> None:
    with filled.transaction():
        filled.run(
            "UPDATE vectors SET vector = ? WHERE changed ="
            " (SELECT changed FROM facts WHERE id = ?)",
            (vector, signed(4)),
        )
    (found,) = findings(filled)
    assert (found.code, found.ids) == ("vector-damaged", (4,))
    assert [p.code for p in findings(filled, repair=True)] == ["vector-damaged", "vector-missing"]
    (found,) = findings(filled)
    assert (found.code, found.ids) == ("vector-missing", (4,))


def test_an_index_of_the_database_is_made_anew(filled: Database) -> None:
    """The rows are there but an index lacks them: what a crash of other programs left behind."""
    with filled.transaction():
        filled.run("PRAGMA writable_schema = ON")
        filled.run("UPDATE sqlite_schema SET sql = 'CREATE INDEX edges_target ON"
                   " edges(source, id)' WHERE name = 'edges_target'")  # fmt: skip
    path = filled.path
    filled.close()
    damaged = Database(path)
    (found,) = findings(damaged)
    assert (found.code, found.repaired) == ("ledger-damaged", False)
    (mended,) = findings(damaged, repair=True)
    assert (mended.code, mended.repaired) == ("ledger-damaged", True)
    assert findings(damaged) == []
    damaged.close()


def test_a_torn_page_is_reported_not_raised(filled: Database) -> None:
    filled.close()
    data = bytearray(filled.path.read_bytes())
    data[5 * 4096 : 7 * 4096] = b"\xff" * 8192
    filled.path.write_bytes(data)
    damaged = Database(filled.path)
    found = findings(damaged)
    assert {problem.code for problem in found} == {"ledger-damaged"}
    damaged.close()
