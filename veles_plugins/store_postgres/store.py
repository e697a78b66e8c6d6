"""The store itself: each method is one statement or one transaction."""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from veles_core.hookspecs import Host
from veles_core.records import (
    ABOUT,
    MENTIONS,
    Counts,
    Document,
    Edge,
    EmbeddingIdentity,
    Fact,
    FactRecord,
    Hit,
    Predicate,
    Problem,
)
from veles_plugins.store_postgres import check, rows, search, writes
from veles_plugins.store_postgres.database import Database
from veles_plugins.store_postgres.indexing import DistanceIndex
from veles_plugins.store_postgres.predicates import conditions
from veles_plugins.store_postgres.rows import stored_id, stored_ids, visible
from veles_plugins.store_postgres.schema import TABLES

if TYPE_CHECKING:
    from veles_core.records import Vector


class PostgresStore:
    """``Store`` and ``WordSearch`` over the schema ``veles_<epoch>`` of a database."""

    def __init__(self, url: str, host: Host, *, exact_up_to: int = search.EXACT_UP_TO) -> None:
        self._database = Database(url, host.epoch)
        self._now = host.clock.now
        self._exact_up_to = exact_up_to
        self._index = DistanceIndex(self._database, exact_up_to)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._database.writing():
            yield

    def put_facts(self, records: Sequence[FactRecord]) -> None:
        if records:
            with self._database.writing() as connection:
                stored = writes.put(connection, records, self._now())
            self._index.ensure(stored)

    def get_facts(self, ids: Sequence[int]) -> list[Fact]:
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {rows.FACT_COLUMNS} FROM facts f "
                f"WHERE f.id = ANY(%(ids)s) AND {visible('f')}",
                {"ids": stored_ids(ids), "now": self._now()},
            ).fetchall()
        facts = {fact.id: fact for fact in map(rows.to_fact, found)}
        return [facts[id] for id in ids if id in facts]

    def get_records(self, ids: Sequence[int]) -> list[FactRecord]:
        with self._database.reading() as connection:
            found = connection.cursor(binary=True).execute(
                f"SELECT {rows.FACT_COLUMNS}, v.vector FROM facts f "
                "LEFT JOIN vectors v ON v.fact = f.id "
                f"WHERE f.id = ANY(%(ids)s) AND {visible('f')}",
                {"ids": stored_ids(ids), "now": self._now()},
            )
            records = {row[0]: rows.to_record(row) for row in found}
        return [records[number] for number in stored_ids(ids) if number in records]

    def set_confidence(self, fact_id: int, confidence: float) -> bool:
        with self._database.writing() as connection:
            changed = connection.execute(
                "UPDATE facts f SET confidence = %(confidence)s "
                f"WHERE f.id = %(id)s AND {visible('f')}",
                {"confidence": confidence, "id": stored_id(fact_id), "now": self._now()},
            )
            return changed.rowcount > 0

    def delete_facts(self, ids: Sequence[int]) -> int:
        numbers = stored_ids(ids)
        with self._database.writing() as connection:
            count = writes.fetch_one(
                connection,
                f"SELECT count(*) FROM facts f WHERE f.id = ANY(%(ids)s) AND {visible('f')}",
                {"ids": numbers, "now": self._now()},
            )
            writes.delete(connection, numbers)
        return int(count)

    def scan_facts(
        self,
        after: int | None,
        limit: int,
        predicates: Sequence[Predicate] = (),
        internal: bool = False,
    ) -> list[Fact]:
        filters, parameters = conditions(predicates)
        parameters |= {"now": self._now(), "after": stored_id(after or 0), "limit": limit}
        start = "" if after is None else "AND f.id > %(after)s"
        kinds = "" if internal else "AND NOT f.hub"
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {rows.FACT_COLUMNS} FROM facts f "
                f"WHERE {visible('f')} {start} {kinds} {filters} ORDER BY f.id LIMIT %(limit)s",
                parameters,
            ).fetchall()
        return [rows.to_fact(row) for row in found]

    def search(self, vector: "Vector", k: int, predicates: Sequence[Predicate] = ()) -> list[Hit]:
        if k < 1:
            return []
        with self._database.reading() as connection:
            return search.by_vector(
                connection, vector, k, predicates, self._now(), self._exact_up_to
            )

    def similarities(self, vector: "Vector", ids: Sequence[int]) -> list[float]:
        with self._database.reading() as connection:
            return search.similarities(connection, vector, ids)

    def search_words(self, query: str, k: int, predicates: Sequence[Predicate] = ()) -> list[Hit]:
        if k < 1:
            return []
        with self._database.reading() as connection:
            return search.by_words(connection, query, k, predicates, self._now())

    def word_scores(self, query: str, ids: Sequence[int]) -> list[float]:
        with self._database.reading() as connection:
            return search.word_scores(connection, query, ids, self._now())

    def count(self) -> Counts:
        now = self._now()
        with self._database.reading() as connection:
            hidden = (
                "SELECT e.id FROM edges e JOIN facts x ON x.id = e.{end} "
                "WHERE x.expires_at <= %(now)s"
            )
            edges = writes.fetch_one(
                connection,
                f"SELECT s.edges - (SELECT count(*) FROM ({hidden.format(end='source')} "
                f"UNION {hidden.format(end='target')}) h) FROM state s",
                {"now": now},
            )
            return Counts(search.visible_facts(connection, now), int(edges))

    def put_edges(self, edges: Sequence[Edge]) -> None:
        first: dict[int, Edge] = {}
        for edge in edges:
            first.setdefault(edge.id, edge)
        values = [
            (stored_id(edge.id), stored_id(edge.source), edge.relation, stored_id(edge.target))
            for edge in first.values()
        ]
        if not values:
            return
        ids, sources, relations, targets = rows.columns(values, 4)
        with self._database.writing() as connection:
            # An edge without both its ends would never be visible, so it isn't stored.
            added = connection.execute(
                "INSERT INTO edges (id, source, relation, target) "
                "SELECT n.* FROM unnest(%(ids)s::bigint[], %(sources)s::bigint[], "
                "%(relations)s::text[], %(targets)s::bigint[]) n(id, source, relation, target) "
                f"JOIN facts a ON a.id = n.source AND {visible('a')} "
                f"JOIN facts b ON b.id = n.target AND {visible('b')} ON CONFLICT DO NOTHING",
                {"ids": ids, "sources": sources, "relations": relations, "targets": targets}
                | {"now": self._now()},
            )
            writes.tally(connection, 0, added.rowcount)

    def delete_edges(self, ids: Sequence[int]) -> int:
        parameters = {"ids": stored_ids(ids), "now": self._now()}
        with self._database.writing() as connection:
            count = writes.fetch_one(
                connection,
                "SELECT count(*) FROM edges e JOIN facts a ON a.id = e.source "
                "JOIN facts b ON b.id = e.target "
                f"WHERE e.id = ANY(%(ids)s) AND {visible('a')} AND {visible('b')}",
                parameters,
            )
            gone = connection.execute("DELETE FROM edges WHERE id = ANY(%(ids)s)", parameters)
            writes.tally(connection, 0, -gone.rowcount)
        return int(count)

    def edges_from(self, sources: Sequence[int], limit: int) -> list[Edge]:
        return self._edges("source", "target", sources, limit)

    def edges_to(self, targets: Sequence[int], limit: int) -> list[Edge]:
        return self._edges("target", "source", targets, limit)

    def entity_edges(self, hub: int, incoming: bool, limit: int) -> list[Edge]:
        near, far, scaffold = (
            ("target", "source", ABOUT) if incoming else ("source", "target", MENTIONS)
        )
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT e.id, e.source, e.relation, e.target FROM edges e "
                f"JOIN facts a ON a.id = e.{near} AND {visible('a')} "
                f"JOIN facts b ON b.id = e.{far} AND {visible('b')} "
                f"WHERE e.{near} = %(hub)s AND (e.relation <> %(scaffold)s OR b.hub) "
                "ORDER BY e.id LIMIT %(limit)s",
                {
                    "hub": stored_id(hub),
                    "scaffold": scaffold,
                    "limit": limit,
                    "now": self._now(),
                },
            ).fetchall()
        return [rows.to_edge(row) for row in found]

    def _edges(self, near: str, far: str, ids: Sequence[int], limit: int) -> list[Edge]:
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT e.id, e.source, e.relation, e.target "
                "FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY n(id, place) "
                f"JOIN facts a ON a.id = n.id AND {visible('a')} CROSS JOIN LATERAL ("
                f"SELECT e.* FROM edges e JOIN facts b ON b.id = e.{far} AND {visible('b')} "
                f"WHERE e.{near} = n.id ORDER BY e.id LIMIT %(limit)s) e ORDER BY n.place, e.id",
                {"ids": stored_ids(ids), "limit": limit, "now": self._now()},
            ).fetchall()
        return [rows.to_edge(row) for row in found]

    def put_documents(self, namespace: str, documents: Sequence[Document]) -> None:
        latest = {document.key: document for document in documents}
        values = [(d.key.encode(), d.value, d.expires_at) for d in latest.values()]
        if not values:
            return
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO documents (namespace, key, value, expires_at) "
                "SELECT %s, n.* FROM unnest(%s::bytea[], %s::bytea[], %s::float8[]) n "
                "ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, "
                "expires_at = excluded.expires_at",
                [namespace.encode(), *rows.columns(values, 3)],
            )

    def get_documents(self, namespace: str, keys: Sequence[str]) -> dict[str, Document]:
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT d.key, d.value, d.expires_at FROM documents d "
                f"WHERE d.namespace = %(namespace)s AND d.key = ANY(%(keys)s) AND {visible('d')}",
                self._document_parameters(namespace, keys),
            ).fetchall()
        documents = {document.key: document for document in map(rows.to_document, found)}
        return {key: documents[key] for key in keys if key in documents}

    def delete_documents(self, namespace: str, keys: Sequence[str]) -> int:
        with self._database.writing() as connection:
            gone = connection.execute(
                "DELETE FROM documents d WHERE d.namespace = %(namespace)s "
                f"AND d.key = ANY(%(keys)s) RETURNING {visible('d')}",
                self._document_parameters(namespace, keys),
            )
            return sum(was_visible for (was_visible,) in gone)

    def scan_documents(self, namespace: str, after: str | None, limit: int) -> list[Document]:
        start = "" if after is None else "AND d.key > %(after)s"
        parameters = self._document_parameters(namespace, ()) | {
            "after": (after or "").encode(),
            "limit": limit,
        }
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT d.key, d.value, d.expires_at FROM documents d "
                f"WHERE d.namespace = %(namespace)s AND {visible('d')} {start} "
                "ORDER BY d.key LIMIT %(limit)s",
                parameters,
            ).fetchall()
        return [rows.to_document(row) for row in found]

    def namespaces(self) -> list[str]:
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT DISTINCT d.namespace FROM documents d WHERE {visible('d')} ORDER BY 1",
                {"now": self._now()},
            ).fetchall()
        return [bytes(name).decode() for (name,) in found]

    def provenance(self) -> EmbeddingIdentity | None:
        with self._database.reading() as connection:
            text = writes.fetch_one(connection, "SELECT provenance FROM state")
        return None if text is None else EmbeddingIdentity(**json.loads(text))

    def set_provenance(self, identity: EmbeddingIdentity) -> None:
        parts = {
            "model": identity.model,
            "dimension": identity.dimension,
            "semantic": identity.semantic,
        }
        with self._database.writing() as connection:
            connection.execute("UPDATE state SET provenance = %s", [rows.dump(parts)])

    def reclaim(self, limit: int) -> int:
        parameters = {"now": self._now(), "limit": limit}
        with self._database.writing() as connection:
            facts = connection.execute(
                "SELECT id FROM facts WHERE expires_at <= %(now)s LIMIT %(limit)s", parameters
            ).fetchall()
            writes.delete(connection, [number for (number,) in facts])
            documents = connection.execute(
                "DELETE FROM documents WHERE (namespace, key) IN (SELECT namespace, key "
                "FROM documents WHERE expires_at <= %(now)s LIMIT %(limit)s)",
                parameters | {"limit": limit - len(facts)},
            )
            return len(facts) + documents.rowcount

    def claim(self, duty: str) -> AbstractContextManager[None] | None:
        return self._database.claim(duty)

    def check(self, repair: bool = False) -> list[Problem]:
        with self._database.writing() as connection:
            return check.check(connection, self._now(), repair)

    def wait_for_index(self) -> None:
        """Until an index that is being built is there."""
        self._index.wait()

    def compact(self) -> None:
        self._database.run_alone(*(f"VACUUM (ANALYZE) {table}" for table in TABLES))

    def dispose(self) -> None:
        self._index.close()
        self._database.drop()

    def close(self) -> None:
        self._index.close()
        self._database.close()

    def _document_parameters(self, namespace: str, keys: Sequence[str]) -> dict[str, Any]:
        return {
            "namespace": namespace.encode(),
            "keys": [key.encode() for key in keys],
            "now": self._now(),
        }
