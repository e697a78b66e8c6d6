"""Compare everything in the ledger with what it should be, and mend what can be mended."""

import json
from collections.abc import Iterator
from typing import Final

import apsw
import numpy as np

from veles_core.ledger import fields, state
from veles_core.ledger.connect import Database
from veles_core.ledger.ids import unsigned
from veles_core.records import Problem

UNIT_TOLERANCE: Final = 1e-3  # float16 on some service's way leaves so much
MAX_MESSAGES: Final = 20  # of SQLite's own check


def ledger(db: Database, repair: bool) -> list[Problem]:
    """All findings. The caller holds a read, for ``repair`` a transaction."""
    try:
        damage = _pages(db, repair)
        if damage and not damage[0].repaired:
            return damage  # nothing else can be trusted
        found = [*_edges(db, repair), *_fields(db, repair), *_vectors(db, repair)]
        return damage + found + [*_state(db, repair)]
    except apsw.CorruptError as error:
        return [Problem("ledger-damaged", f"the database can't be read to its end: {error}")]


def _pages(db: Database, repair: bool) -> list[Problem]:
    """SQLite's own check. Indexes, the field rows aside, can be made anew."""
    found = _integrity(db)
    if not found:
        return []
    repaired = False
    if repair:
        db.run("REINDEX")
        repaired = not _integrity(db)
    return [Problem("ledger-damaged", f"SQLite reports: {'; '.join(found)}", repaired=repaired)]


def _integrity(db: Database) -> list[str]:
    rows = db.rows(f"PRAGMA integrity_check({MAX_MESSAGES})")
    return [message for (message,) in rows if message != "ok"]


def _edges(db: Database, repair: bool) -> Iterator[Problem]:
    dangling = (
        " FROM edges WHERE NOT EXISTS (SELECT 1 FROM facts WHERE id = source)"
        " OR NOT EXISTS (SELECT 1 FROM facts WHERE id = target)"
    )
    ids = db.rows(f"SELECT id{dangling}")
    if ids:
        if repair:
            db.run(f"DELETE{dangling}")
        yield Problem(
            "edge-dangling",
            f"{len(ids)} edges lead from or to facts that are gone",
            repaired=repair,
        )


def _fields(db: Database, repair: bool) -> Iterator[Problem]:
    """Field rows against the metadata they come from, as sets."""
    db.run(
        "CREATE TEMP TABLE expected(field TEXT, hub INTEGER, value BLOB, fact_id INTEGER,"
        " PRIMARY KEY(field, hub, value, fact_id)) WITHOUT ROWID"
    )
    try:
        for id, metadata, hub in db.scan("SELECT id, metadata, hub FROM facts"):
            db.run_many(
                "INSERT INTO expected VALUES (?, ?, ?, ?)",
                [(*field, id) for field in fields.of(json.loads(metadata), bool(hub))],
            )
        missing = "SELECT * FROM expected EXCEPT SELECT * FROM fields"
        surplus = "SELECT * FROM fields EXCEPT SELECT * FROM expected"
        wrong = {id for *_, id in (*db.rows(missing), *db.rows(surplus))}
        if wrong and repair:
            db.run(f"DELETE FROM fields WHERE (field, hub, value, fact_id) IN ({surplus})")
            db.run(f"INSERT INTO fields {missing}")
    finally:
        db.run("DROP TABLE temp.expected")
    if wrong:
        yield Problem(
            "field-rows",
            f"the rows that predicates search differ from the metadata of {len(wrong)} facts",
            tuple(sorted(map(unsigned, wrong))),
            repaired=repair,
        )


def _vectors(db: Database, repair: bool) -> Iterator[Problem]:
    """Vectors that no fact has, that are no vectors, or that are missing."""
    orphans = " FROM vectors WHERE changed NOT IN (SELECT changed FROM facts)"
    if count := len(db.rows(f"SELECT changed{orphans}")):
        if repair:
            db.run(f"DELETE{orphans}")
        yield Problem("vector-orphan", f"{count} vectors belong to no fact", repaired=repair)
    dimension = state.read(db).dimension
    damaged = [
        (changed, id)
        for changed, id, vector in db.scan(
            "SELECT changed, id, vector FROM vectors JOIN facts USING (changed)"
        )
        if not _is_unit(vector, dimension)
    ]
    if damaged:
        if repair:  # without a vector the fact is found below, and can be embedded again
            db.run_many("DELETE FROM vectors WHERE changed = ?", [(key,) for key, _ in damaged])
            _touch(db, [id for _, id in damaged])
        yield Problem(
            "vector-damaged",
            f"{len(damaged)} facts have a vector of a wrong length, or not of unit length",
            tuple(sorted(unsigned(id) for _, id in damaged)),
            repaired=repair,
        )
    missing = db.rows(
        "SELECT id FROM facts WHERE hub = 0 AND changed NOT IN (SELECT changed FROM vectors)"
        " ORDER BY id"
    )
    if missing:
        yield Problem(
            "vector-missing",
            f"{len(missing)} facts have no vector and can't be found by similarity; "
            "they have to be embedded again",
            tuple(unsigned(id) for (id,) in missing),
        )


def _is_unit(vector: bytes, dimension: int | None) -> bool:
    if dimension is None or len(vector) != 4 * dimension:
        return False
    return abs(float(np.linalg.norm(np.frombuffer(vector, "<f4"))) - 1.0) <= UNIT_TOLERANCE


def _touch(db: Database, ids: list[int]) -> None:
    """Make indexes look at these facts again."""
    first = state.advance(db, len(ids))
    db.run_many("UPDATE facts SET changed = ? WHERE id = ?", enumerate(ids, start=first))


def _state(db: Database, repair: bool) -> Iterator[Problem]:
    """The counters and the sequence against what they stand for."""
    stored = state.read(db)
    (facts,) = db.rows("SELECT count(*) FROM facts WHERE hub = 0")[0]
    (edges,) = db.rows("SELECT count(*) FROM edges")[0]
    (latest,) = db.rows(
        "SELECT max(ifnull((SELECT max(changed) FROM facts), 0),"
        " ifnull((SELECT max(sequence) FROM tombstones), 0))"
    )[0]
    if (stored.facts, stored.edges) == (facts, edges) and stored.sequence >= latest:
        return
    if repair:
        db.run(
            "UPDATE state SET facts = ?, edges = ?, sequence = max(sequence, ?)",
            (facts, edges, latest),
        )
    yield Problem(
        "counters",
        f"the memory says it holds {stored.facts} facts and {stored.edges} edges at change "
        f"{stored.sequence}; there are {facts} and {edges}, the last change is {latest}",
        repaired=repair,
    )
