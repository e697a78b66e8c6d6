"""The change sequence: what followers read, and for how long deletions are remembered."""

import numpy as np
import pytest

from veles_core.ledger import changes, facts, state
from veles_core.ledger.connect import Database
from veles_core.records import Fact, FactRecord

EAST = np.array([1, 0], np.float32)


def put(db: Database, *ids: int, content: str = "text", confidence: float = 0.5) -> None:
    facts.put(db, [FactRecord(Fact(n, content, {}, confidence), EAST) for n in ids], 0.0)


def changed(db: Database, since: int) -> list[int]:
    batch = changes.put(db, since, state.sequence(db), 999)
    return [] if batch is None else batch.ids.tolist()


def test_a_follower_reads_what_changed_in_order(db: Database) -> None:
    put(db, 5, 3)
    put(db, 1 << 63)
    first = state.sequence(db)
    assert changed(db, 0) == [3, 5, 1 << 63]
    put(db, 3, content="other")
    facts.delete(db, [5], 0.0)
    assert changed(db, first) == [3]
    assert changes.deleted(db, first).tolist() == [5]
    assert changed(db, 0) == [1 << 63, 3]


def test_what_an_index_cannot_see_is_no_change(db: Database) -> None:
    put(db, 1)
    before = state.sequence(db)
    put(db, 1, confidence=0.9)
    facts.put(db, [FactRecord(Fact(1, "text", {"new": 1}), EAST)], 0.0)
    facts.set_confidence(db, 1, 0.7, 0.0)
    assert state.sequence(db) == before
    for visible in (
        FactRecord(Fact(1, "text", {}, expires_at=9.0), EAST),
        FactRecord(Fact(1, "text", {}), EAST[::-1].copy()),
        FactRecord(Fact(1, "text", {}), None),
        FactRecord(Fact(1, "word", {}), None),
    ):
        facts.put(db, [visible], 0.0)
        assert changed(db, before) == [1]
        before = state.sequence(db)


def test_hubs_are_nothing_to_an_index(db: Database) -> None:
    facts.put(db, [FactRecord(Fact(1, "hub", kind="entity"), None)], 0.0)
    assert changed(db, 0) == []
    facts.delete(db, [1], 0.0)
    assert changes.deleted(db, 0).tolist() == []


def test_deletions_are_remembered_for_a_while(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "HISTORY", 10)
    put(db, *range(30))
    for n in range(30):
        facts.delete(db, [n], 0.0)
    assert db.rows("SELECT count(*) FROM tombstones") == [(10,)]
    last = state.sequence(db)
    assert changes.forgotten(db, last - 11)
    assert not changes.forgotten(db, last - 10)
    assert not changes.forgotten(db, 0)
    assert changes.deleted(db, last - 10).tolist() == list(range(20, 30))


def test_a_follower_far_behind_misses_nothing_while_nothing_was_deleted(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "HISTORY", 10)
    put(db, *range(100))
    facts.delete(db, [5], 0.0)
    assert not changes.forgotten(db, 1)


def test_random_ids_are_appended(db: Database) -> None:
    """A table keyed by random ids would be written all over; see benchmarks/store_growth."""
    put(db, 900, 5, 77)
    put(db, 6)
    assert [row[0] for row in db.rows("SELECT changed FROM facts ORDER BY changed")] == [1, 2, 3, 4]
    assert db.rows("SELECT changed FROM vectors") == [(1,), (2,), (3,), (4,)]
