"""The tables of one epoch, as migrations that are only ever appended to.

Ids are unsigned 64-bit and PostgreSQL's integers are signed, so an id is stored minus
2^63: the order stays. Text that may hold any character is bytea, because text can't hold
NUL; metadata is JSON in ASCII, which spells NUL out.
"""

from typing import Any, Final

import psycopg
from psycopg import sql

from veles_core.errors import ConfigurationError, StoreError

_FIRST: Final = """
CREATE TABLE facts (
    id bigint PRIMARY KEY,
    hub boolean NOT NULL,
    content bytea NOT NULL,
    metadata text NOT NULL,
    confidence double precision NOT NULL,
    expires_at double precision
);
CREATE INDEX facts_expiring ON facts (expires_at) WHERE expires_at IS NOT NULL;

-- The expiry is repeated here and in words, so that a search needs no join.
CREATE TABLE vectors (
    fact bigint PRIMARY KEY REFERENCES facts ON DELETE CASCADE,
    vector vector NOT NULL,
    expires_at double precision
);

-- One row for each metadata key: its digest, and the value's sort key. Only the first
-- bytes of a value are indexed, because an index row has a limit; the rest is compared.
CREATE TABLE fields (
    fact bigint NOT NULL REFERENCES facts ON DELETE CASCADE,
    hub boolean NOT NULL,
    field bytea NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (fact, field)
);
CREATE INDEX fields_by_value ON fields (hub, field, substr(value, 1, 64), fact);

-- BM25 postings.
CREATE TABLE words (
    term bigint NOT NULL,
    fact bigint NOT NULL REFERENCES facts ON DELETE CASCADE,
    impact real NOT NULL,
    expires_at double precision,
    PRIMARY KEY (term, fact) INCLUDE (impact, expires_at)
);
CREATE INDEX words_by_fact ON words (fact);

CREATE TABLE edges (
    id bigint PRIMARY KEY,
    source bigint NOT NULL REFERENCES facts,
    relation text NOT NULL,
    target bigint NOT NULL REFERENCES facts
);
CREATE INDEX edges_by_source ON edges (source, id);
CREATE INDEX edges_by_target ON edges (target, id);

CREATE TABLE documents (
    namespace bytea NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL,
    expires_at double precision,
    PRIMARY KEY (namespace, key)
);
CREATE INDEX documents_expiring ON documents (expires_at) WHERE expires_at IS NOT NULL;

-- One row: what filled the epoch, and how much is stored, expired things included.
CREATE TABLE state (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    provenance text,
    dimension integer,
    facts bigint NOT NULL DEFAULT 0,
    edges bigint NOT NULL DEFAULT 0
);
INSERT INTO state DEFAULT VALUES;
"""

MIGRATIONS: Final = (_FIRST,)
TABLES: Final = ("facts", "vectors", "fields", "words", "edges", "documents", "state")


def prepare(connection: psycopg.Connection[Any], schema: str) -> None:
    """Bring the epoch's schema to the newest version, each step in its own transaction.

    The caller holds a lock that keeps other processes from doing the same.
    """
    _require_pgvector(connection)
    name = sql.Identifier(schema)
    connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
    use(connection, schema)
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY)")
    row = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()
    done = row[0] if row else 0
    if done > len(MIGRATIONS):
        raise StoreError(
            f"the database's schema {schema} is at version {done}, this program knows "
            f"{len(MIGRATIONS)}: it was written by a newer one; upgrade veles-memory"
        )
    for number, migration in enumerate(MIGRATIONS[done:], start=done + 1):
        with connection.transaction():
            connection.execute(migration)
            connection.execute("INSERT INTO migrations VALUES (%s)", [number])


def use(connection: psycopg.Connection[Any], schema: str) -> None:
    """Make names mean this epoch's tables, and pgvector's types wherever it is installed."""
    connection.execute(
        "SELECT set_config('search_path', quote_ident(%s) || coalesce(("
        "SELECT ', ' || quote_ident(nspname) FROM pg_extension "
        "JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector'), ''), false)",
        [schema],
    )


def _require_pgvector(connection: psycopg.Connection[Any]) -> None:
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.Error as error:
        raise ConfigurationError(
            "the database lacks the extension pgvector and it can't be created "
            f"({error.diag.message_primary or error}); install pgvector on the server, and let "
            "its administrator run: CREATE EXTENSION vector"
        ) from None
