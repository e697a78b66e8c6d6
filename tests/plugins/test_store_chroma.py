"""What the Chroma store does beyond the contract: marks, failures, settings, repair."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from veles_core.errors import BackendRefused, BackendUnavailable, ConfigurationError
from veles_core.hookspecs import Host
from veles_core.records import Edge, EmbeddingIdentity, Predicate
from veles_core.testing.clock import SettableClock
from veles_core.testing.http import Reply, Service
from veles_core.testing.peer import Peer
from veles_core.testing.store.fixtures import EAST, everything, ids, record
from veles_plugins.store_chroma import ChromaSettings, open_chroma
from veles_plugins.store_chroma.connection import Connection
from veles_plugins.store_chroma.store import ABANDONED_SECONDS, ChromaStore


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def host(tmp_path: Path, clock: SettableClock) -> Host:
    return Host(tmp_path, clock, identity=EmbeddingIdentity("contract", 8))


def settings_of(**values: str) -> ChromaSettings:
    return ChromaSettings(**{f"VELESDB_MEMORY_CHROMA_{k}": v for k, v in values.items()})


def open_embedded(host: Host) -> ChromaStore:
    return ChromaStore(Connection(settings_of(), host), host)


def test_what_a_dead_transaction_added_is_never_seen_and_later_reclaimed(
    host: Host, clock: SettableClock
) -> None:
    store = open_embedded(host)
    store.put_facts([record(1)])
    peer = Peer(open_embedded, host)
    peer.enter("transaction")
    peer.call("put_facts", [record(2), record(3)])
    peer.call("put_edges", [Edge(5, 2, "see", 1)])
    assert ids(peer.call("get_facts", [1, 2, 3])) == [1, 2, 3]
    assert ids(everything(store)) == [1]
    peer.kill()
    assert ids(everything(store)) == [1]
    assert ids(store.search(EAST, 9)) == [1]
    assert store.edges_to([1], 9) == []
    assert store.count().facts == 1
    assert store.count().edges == 0
    assert store.reclaim(9) == 0
    clock.advance(ABANDONED_SECONDS + 1)
    assert store.reclaim(9) == 2
    store.put_facts([record(2)])
    assert ids(everything(store)) == [1, 2]
    assert store.edges_to([1], 9) == []
    store.close()


def test_others_see_a_transactions_facts_together_at_its_end(host: Host) -> None:
    store, other = open_embedded(host), open_embedded(host)
    with store.transaction():
        store.put_facts([record(1)])
        store.put_facts([record(2)])
        store.put_edges([Edge(5, 1, "see", 2)])
        assert everything(other) == []
        assert ids(everything(store)) == [1, 2]
    assert ids(everything(other)) == [1, 2]
    assert ids(other.edges_from([1], 9)) == [5]
    store.close()
    other.close()


def test_the_token_is_sent_and_never_shown(host: Host) -> None:
    with Service(lambda _: Reply(status=401, json={"error": "no"})) as service:
        settings = settings_of(URL=service.url, TOKEN="t0p-secret", TENANT="t", DATABASE="d")
        assert "t0p-secret" not in repr(settings)
        store = open_chroma(settings, host)
        assert service.requests == []
        with pytest.raises(BackendRefused, match=r"answered 401.*CHROMA_TOKEN") as refusal:
            store.provenance()
        assert service.url in refusal.value.message
        assert "t0p-secret" not in refusal.value.message
        asked = service.requests[0]
        assert asked.path.endswith("/tenants/t")
        headers = {name.lower(): value for name, value in asked.headers.items()}
        assert headers["x-chroma-token"] == "t0p-secret"
        assert headers["authorization"] == "Bearer t0p-secret"
        store.close()


def test_a_server_that_is_away_is_named_without_its_password(host: Host) -> None:
    store = open_chroma(settings_of(URL="http://user:pw@127.0.0.1:1"), host)
    started = time.monotonic()
    with pytest.raises(BackendUnavailable, match=r"http://\*\*\*@127\.0\.0\.1:1 did not answer"):
        store.put_facts([record(1)])
    assert time.monotonic() - started < 10
    store.close()


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://127.0.0.1", "http://"])
def test_a_url_that_is_none_is_refused(host: Host, url: str) -> None:
    store = open_chroma(settings_of(URL=url), host)
    with pytest.raises(ConfigurationError, match=r"VELESDB_MEMORY_CHROMA_URL.*http://host:8000"):
        store.count()


Damage = Callable[[ChromaStore], None]


def lose_copies(store: ChromaStore) -> None:
    table = store._connection.table("facts")
    (row,) = table.get(["1"]).values()
    table.update(["1"], [{key: 5 for key in row if key.startswith("number.")}])


def lose_an_end(store: ChromaStore) -> None:
    store._connection.table("facts").delete(["2"])


@pytest.mark.parametrize(
    ("damage", "code"), [(lose_copies, "derived-wrong"), (lose_an_end, "edge-dangling")]
)
def test_damage_is_found_and_mended(host: Host, damage: Damage, code: str) -> None:
    store = open_embedded(host)
    store.put_facts([record(1, metadata={"n": 7, "s": "x"}), record(2)])
    store.put_edges([Edge(5, 1, "see", 2)])
    assert store.check() == []
    damage(store)
    assert [(problem.code, problem.repaired) for problem in store.check()] == [(code, False)]
    assert [problem.repaired for problem in store.check(repair=True)] == [True]
    assert store.check() == []
    assert ids(store.scan_facts(None, 9, [Predicate("n", "ge", 7)])) == [1]
    store.close()


def test_the_first_fact_needs_a_vector_if_the_dimension_is_unknown(host: Host) -> None:
    store = open_embedded(replace(host, identity=None))
    with pytest.raises(Exception, match="how long vectors are here isn't known"):
        store.put_facts([record(1, at=None)])
    store.close()
