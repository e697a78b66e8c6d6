"""What the PostgreSQL store does beyond the contract: its index, its failures, its repair."""

import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest

from veles_core.errors import BackendUnavailable, ConfigurationError, StoreError
from veles_core.hookspecs import Host
from veles_core.protocols import Store
from veles_core.records import Edge, Predicate
from veles_core.testing.store.fixtures import EAST, NORTH, everything, ids, record, vector
from veles_core.testing.waiting import until
from veles_plugins.store_postgres import PostgresSettings, open_postgres
from veles_plugins.store_postgres.store import PostgresStore


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path, epoch=secrets.token_hex(6))


@pytest.fixture
def store(postgres_url: str, host: Host) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres_url, host, exact_up_to=100)
    yield store
    store.close()


@pytest.fixture
def tables(postgres_url: str, host: Host) -> Iterator[psycopg.Connection]:
    """A connection behind the store's back."""
    schema = f"-c search_path=veles_{host.epoch},public"
    with psycopg.connect(postgres_url, autocommit=True, options=schema) as connection:
        yield connection


def index_scans(tables: psycopg.Connection) -> int:
    """How often the vector index has been used; -1 without one."""
    row = tables.execute(
        "SELECT idx_scan FROM pg_stat_user_indexes "
        "WHERE indexrelid = to_regclass('vectors_by_distance')"
    ).fetchone()
    return -1 if row is None else row[0]


def test_many_facts_are_searched_by_an_index_that_misses_little(
    store: PostgresStore, tables: psycopg.Connection
) -> None:
    random = np.random.default_rng(3)
    vectors = np.stack([vector(*random.normal(size=8)) for _ in range(1_000)])
    store.put_facts([record(n, at=vectors[n], metadata={"n": n}) for n in range(100)])
    assert index_scans(tables) == -1
    store.put_facts([record(n, at=vectors[n], metadata={"n": n}) for n in range(100, 1_000)])
    store.wait_for_index()
    assert index_scans(tables) == 0
    found = 0
    for query in vectors[:50]:
        best = np.argsort(-(vectors @ query), kind="stable")[:10].tolist()
        found += len({*best} & {*ids(store.search(query, 10))})
    assert found >= 0.95 * 500
    half = [Predicate("n", "ge", 500)]
    order = 500 + np.argsort(-(vectors[500:] @ EAST), kind="stable")
    assert ids(store.search(EAST, 20, half)) == order[:20].tolist()
    few = [Predicate("n", "ge", 995)]
    assert len(store.search(EAST, 300, few)) == 5
    assert len(store.search(EAST, 5_000)) == 1_000
    store.close()
    until(lambda: index_scans(tables) >= 50)  # a connection reports what it did when it ends


def test_long_vectors_are_indexed_at_half_precision(
    store: PostgresStore, tables: psycopg.Connection
) -> None:
    random = np.random.default_rng(4)
    rows = random.normal(size=(150, 2_500)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    store.put_facts([record(n, at=row) for n, row in enumerate(rows)])
    store.wait_for_index()
    hits = store.search(rows[7], 3)
    assert ids(hits) == np.argsort(-(rows @ rows[7]), kind="stable")[:3].tolist()
    assert hits[0].score == pytest.approx(1, abs=1e-6)
    definition = tables.execute(
        "SELECT pg_get_indexdef(to_regclass('vectors_by_distance'))"
    ).fetchone()
    assert definition is not None
    assert "halfvec(2500)" in definition[0]


def test_a_vector_of_another_length_is_refused(store: PostgresStore) -> None:
    store.put_facts([record(1)])
    with pytest.raises(StoreError, match=r"fact 2 has 3 numbers.* 8"):
        store.put_facts([record(2, at=np.ones(3, np.float32))])
    assert ids(everything(store)) == [1]


def test_opening_contacts_nobody_and_a_dead_server_is_named_without_its_password(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "postgresql://me:s3cret@127.0.0.1:1/memory"
    monkeypatch.setenv("VELESDB_MEMORY_POSTGRES_URL", url)
    settings = PostgresSettings()
    assert "s3cret" not in repr(settings)
    store = open_postgres(settings, host)
    started = time.monotonic()
    with pytest.raises(BackendUnavailable) as refusal:
        store.provenance()
    assert time.monotonic() - started < 15
    assert "127.0.0.1:1" in refusal.value.message
    assert "s3cret" not in refusal.value.message
    store.close()


def test_broken_connections_are_replaced(store: PostgresStore, tables: psycopg.Connection) -> None:
    store.put_facts([record(1)])
    tables.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    )
    assert ids(everything(store)) == [1]


def test_many_may_open_a_new_epoch_at_once(postgres_url: str, host: Host) -> None:
    stores: list[Store] = [PostgresStore(postgres_url, host) for _ in range(4)]
    failures: list[Exception] = []

    def write(number: int) -> None:
        try:
            stores[number].put_facts([record(number)])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert ids(everything(stores[0])) == [0, 1, 2, 3]
    for store in stores:
        store.close()


def test_a_newer_schema_is_refused(
    store: PostgresStore, tables: psycopg.Connection, postgres_url: str, host: Host
) -> None:
    store.put_facts([record(1)])
    tables.execute("INSERT INTO migrations VALUES (99)")
    newer = PostgresStore(postgres_url, host)
    with pytest.raises(StoreError, match=r"version 99.*upgrade"):
        newer.count()
    newer.close()


def test_a_database_that_may_not_have_pgvector_is_refused(
    tables: psycopg.Connection, postgres_url: str, host: Host
) -> None:
    name = f"bare_{host.epoch}"
    tables.execute(f"CREATE ROLE {name} LOGIN")
    tables.execute(f"CREATE DATABASE {name}")
    url = postgres_url.replace("postgres:@/postgres", f"{name}:@/{name}")
    assert url != postgres_url
    store = PostgresStore(url, host)
    with pytest.raises(ConfigurationError, match=r"pgvector.*CREATE EXTENSION vector"):
        store.count()
    store.close()


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        ("DELETE FROM words WHERE fact = (SELECT min(fact) FROM words)", "derived-wrong"),
        ("UPDATE words SET impact = impact * 2", "derived-wrong"),
        ("DELETE FROM fields", "derived-wrong"),
        ("UPDATE fields SET value = 'x'", "derived-wrong"),
        ("UPDATE vectors SET expires_at = 5", "derived-wrong"),
        ("UPDATE state SET facts = 7, edges = 0", "counts-wrong"),
    ],
)
def test_damage_is_found_and_mended(
    store: PostgresStore, tables: psycopg.Connection, damage: str, code: str
) -> None:
    store.put_facts([record(n, f"number {n} of the staging cluster", NORTH) for n in range(3)])
    store.put_facts([record(9, metadata={"a": 1})])
    store.put_edges([Edge(5, 0, "see", 1)])
    before = store.search_words("staging cluster 1", 9)
    assert store.check() == []
    tables.execute(damage)  # type: ignore[call-overload]
    assert [(problem.code, problem.repaired) for problem in store.check()] == [(code, False)]
    assert [(problem.code, problem.repaired) for problem in store.check(repair=True)] == [
        (code, True)
    ]
    assert store.check() == []
    assert store.search_words("staging cluster 1", 9) == before
    assert ids(store.scan_facts(None, 9, [Predicate("a", "eq", 1)])) == [9]
    assert store.count().facts == 4
