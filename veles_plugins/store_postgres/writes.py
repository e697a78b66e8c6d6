"""Writing facts: the row, its vector, its fields and its words, and the running counts.

Every function takes the connection of an open write transaction.
"""

from collections.abc import Collection, Sequence
from typing import Any

from veles_core.errors import StoreError
from veles_core.records import Fact, FactRecord
from veles_plugins.store_postgres import rows
from veles_plugins.store_postgres.database import Connection


def put(connection: Connection, records: Sequence[FactRecord], now: float) -> int:
    """Insert, or replace by id; how many facts are stored then.

    An expired fact is deleted first, so that it starts anew.
    """
    latest = {record.fact.id: record for record in records}
    ids = rows.stored_ids(latest)
    expired = connection.execute(
        "SELECT id FROM facts WHERE id = ANY(%s) AND expires_at <= %s", [ids, now]
    ).fetchall()
    delete(connection, [number for (number,) in expired])
    replaced = connection.execute(
        "SELECT count(*) FROM facts WHERE id = ANY(%s) AND NOT hub", [ids]
    ).fetchone()
    facts = [record.fact for record in latest.values()]
    connection.execute(
        "INSERT INTO facts (id, hub, content, metadata, confidence, expires_at) "
        "SELECT * FROM unnest(%s::bigint[], %s::boolean[], %s::bytea[], %s::text[], "
        "%s::float8[], %s::float8[]) ON CONFLICT (id) DO UPDATE SET hub = excluded.hub, "
        "content = excluded.content, metadata = excluded.metadata, "
        "confidence = excluded.confidence, expires_at = excluded.expires_at",
        rows.columns([rows.fact_values(fact) for fact in facts], 6),
    )
    added = sum(fact.kind == "fact" for fact in facts) - (replaced[0] if replaced else 0)
    stored = fetch_one(connection, "UPDATE state SET facts = facts + %s RETURNING facts", [added])
    put_vectors(connection, latest.values())
    put_derived(connection, facts)
    return int(stored)


def put_vectors(connection: Connection, records: Collection[FactRecord]) -> None:
    """Replace the vectors of facts; all that there are have one length."""
    values = [
        (rows.stored_id(one.fact.id), one.vector, one.fact.expires_at)
        for one in records
        if one.vector is not None
    ]
    ids = rows.stored_ids(one.fact.id for one in records)
    connection.execute("DELETE FROM vectors WHERE fact = ANY(%s)", [ids])
    if not values:
        return
    dimension = fetch_one(
        connection,
        "UPDATE state SET dimension = coalesce(dimension, %s) RETURNING dimension",
        [len(values[0][1])],
    )
    for number, vector, _ in values:
        if len(vector) != dimension:
            raise StoreError(
                f"the vector of fact {rows.public_id(number)} has {len(vector)} numbers, those "
                f"of this store have {dimension}; nothing was stored",
                limit=dimension,
                actual=len(vector),
            )
    connection.execute(
        "INSERT INTO vectors (fact, vector, expires_at) "
        "SELECT * FROM unnest(%s::bigint[], %b::vector[], %s::float8[])",
        rows.columns(values, 3),
    )


def put_derived(connection: Connection, facts: Sequence[Fact]) -> None:
    """Replace the fields and words of facts with what their metadata and content say."""
    ids = rows.stored_ids(fact.id for fact in facts)
    fields = [
        (rows.stored_id(fact.id), fact.kind == "entity", field, value)
        for fact in facts
        for field, value in rows.field_rows(fact).items()
    ]
    words = [
        (term, rows.stored_id(fact.id), impact, fact.expires_at)
        for fact in facts
        for term, impact in rows.word_rows(fact).items()
    ]
    connection.execute("DELETE FROM fields WHERE fact = ANY(%s)", [ids])
    connection.execute(
        "INSERT INTO fields (fact, hub, field, value) "
        "SELECT * FROM unnest(%s::bigint[], %s::boolean[], %s::bytea[], %s::bytea[])",
        rows.columns(fields, 4),
    )
    connection.execute("DELETE FROM words WHERE fact = ANY(%s)", [ids])
    connection.execute(
        "INSERT INTO words (term, fact, impact, expires_at) "
        "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::real[], %s::float8[])",
        rows.columns(words, 4),
    )


def delete(connection: Connection, ids: list[int]) -> None:
    """Delete facts and hubs, stored under these ids, with all that hangs on them."""
    if not ids:
        return
    edges = connection.execute(
        "DELETE FROM edges WHERE source = ANY(%(ids)s) OR target = ANY(%(ids)s)", {"ids": ids}
    ).rowcount
    gone = connection.execute("DELETE FROM facts WHERE id = ANY(%s) RETURNING hub", [ids])
    facts = sum(not hub for (hub,) in gone)
    tally(connection, -facts, -edges)


def tally(connection: Connection, facts: int, edges: int) -> None:
    """Change the running counts."""
    if facts or edges:
        connection.execute(
            "UPDATE state SET facts = facts + %s, edges = edges + %s", [facts, edges]
        )


def fetch_one(connection: Connection, query: str, parameters: Any = None) -> Any:
    """The first column of the only row."""
    row = connection.execute(query, parameters).fetchone()
    return None if row is None else row[0]
