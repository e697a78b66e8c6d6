"""Comparing what is derived with what it derives from, and mending it."""

from collections.abc import Iterator
from typing import Any, Final

from veles_core.records import Fact, Problem
from veles_plugins.store_postgres import rows, writes
from veles_plugins.store_postgres.database import Connection

PAGE: Final = 500


def check(connection: Connection, now: float, repair: bool) -> list[Problem]:
    """All findings; the caller holds a write transaction, so nothing moves meanwhile."""
    problems = [
        *_derived(connection, repair),
        *_expiries(connection, repair),
        *_counts(connection, repair),
    ]
    missing = connection.execute(
        "SELECT f.id FROM facts f LEFT JOIN vectors v ON v.fact = f.id "
        f"WHERE NOT f.hub AND v.fact IS NULL AND {rows.visible('f')} ORDER BY f.id",
        {"now": now},
    ).fetchall()
    if missing:
        ids = tuple(rows.public_id(number) for (number,) in missing)
        problems.append(Problem("vector-missing", f"{len(ids)} facts have no vector", ids))
    return problems


def _derived(connection: Connection, repair: bool) -> Iterator[Problem]:
    """Facts whose fields or words are not those of their metadata and content."""
    wrong: list[int] = []
    start = rows.stored_id(0)
    while page := connection.execute(
        f"SELECT {rows.FACT_COLUMNS} FROM facts f WHERE f.id >= %s ORDER BY f.id LIMIT {PAGE}",
        [start],
    ).fetchall():
        facts = [rows.to_fact(row) for row in page]
        start = page[-1][0] + 1
        bad = [fact for fact in facts if fact.id in _differing(connection, facts)]
        wrong += [fact.id for fact in bad]
        if repair and bad:
            writes.put_derived(connection, bad)
    if wrong:
        yield Problem(
            "derived-wrong",
            f"the fields or words of {len(wrong)} facts don't say what the facts say",
            tuple(wrong),
            repaired=repair,
        )


def _differing(connection: Connection, facts: list[Fact]) -> set[int]:
    ids = rows.stored_ids(fact.id for fact in facts)
    fields: dict[int, dict[bytes, bytes]] = {}
    for fact, field, value in connection.execute(
        "SELECT fact, field, value FROM fields WHERE fact = ANY(%s)", [ids]
    ):
        fields.setdefault(rows.public_id(fact), {})[bytes(field)] = bytes(value)
    words: dict[int, dict[int, tuple[float, Any]]] = {}
    for fact, term, impact, expires_at in connection.execute(
        "SELECT fact, term, impact, expires_at FROM words WHERE fact = ANY(%s)", [ids]
    ):
        words.setdefault(rows.public_id(fact), {})[term] = (impact, expires_at)
    return {
        fact.id
        for fact in facts
        if fields.get(fact.id, {}) != rows.field_rows(fact)
        or not _same_words(words.get(fact.id, {}), fact)
    }


def _same_words(found: dict[int, tuple[float, Any]], fact: Fact) -> bool:
    expected = rows.word_rows(fact)
    return found.keys() == expected.keys() and all(
        rows.nearly(impact, expected[term]) and expires_at == fact.expires_at
        for term, (impact, expires_at) in found.items()
    )


def _expiries(connection: Connection, repair: bool) -> Iterator[Problem]:
    """Vectors whose copy of the expiry is not the fact's."""
    differing = "FROM facts f WHERE f.id = v.fact AND f.expires_at IS DISTINCT FROM v.expires_at"
    found = connection.execute(
        f"SELECT v.fact FROM vectors v WHERE EXISTS (SELECT {differing}) ORDER BY 1"
    ).fetchall()
    if found:
        if repair:
            connection.execute(f"UPDATE vectors v SET expires_at = f.expires_at {differing}")
        yield Problem(
            "derived-wrong",
            f"the vectors of {len(found)} facts expire at another time than the facts",
            tuple(rows.public_id(number) for (number,) in found),
            repaired=repair,
        )


def _counts(connection: Connection, repair: bool) -> Iterator[Problem]:
    """Running counts that are not what there is."""
    row = connection.execute(
        "SELECT s.facts, s.edges, (SELECT count(*) FROM facts WHERE NOT hub), "
        "(SELECT count(*) FROM edges) FROM state s"
    ).fetchone()
    facts, edges, true_facts, true_edges = row or (0, 0, 0, 0)
    if (facts, edges) != (true_facts, true_edges):
        if repair:
            writes.tally(connection, true_facts - facts, true_edges - edges)
        yield Problem(
            "counts-wrong",
            f"the running counts say {facts} facts and {edges} edges, "
            f"there are {true_facts} and {true_edges}",
            repaired=repair,
        )
