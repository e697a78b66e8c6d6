"""What a store promises of transactions, threads, processes and power cuts."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

import pytest

from veles_core.hookspecs import Host
from veles_core.protocols import Store
from veles_core.records import Document, Edge, EmbeddingIdentity, Predicate
from veles_core.testing.peer import Peer, StoreOpener, count_up
from veles_core.testing.store.fixtures import (
    EAST,
    HIGH,
    NORTH,
    StoreFixtures,
    everything,
    hub,
    ids,
    record,
    vector,
)
from veles_core.testing.waiting import until

PATIENCE = 60.0  # seconds that a thread may take


class Interrupted(Exception):
    """What ends a transaction in these tests."""


@contextmanager
def interrupted(store: Store) -> Iterator[None]:
    """A transaction that ends with an exception."""
    with pytest.raises(Interrupted), store.transaction():  # noqa: PT012
        yield
        raise Interrupted


def fill(store: Store) -> None:
    """A little of everything."""
    store.put_facts([record(1, "one", metadata={"a": 1}), record(HIGH, "high", NORTH)])
    store.put_facts([hub(3, "three", size=3)])
    store.put_edges([Edge(4, 1, "about", 3), Edge(HIGH, HIGH, "see", 1)])
    store.put_documents("n", [Document("k", b"\x00value", 4_000_000_000.5)])
    store.set_provenance(EmbeddingIdentity("contract", 8, semantic=False))
    store.set_confidence(1, 0.65)


def assert_filled(store: Store) -> None:
    """All that ``fill`` wrote, and nothing else."""
    one = replace(record(1, "one", metadata={"a": 1}).fact, confidence=0.65)
    assert everything(store) == [one, record(HIGH, "high").fact]
    assert store.get_facts([3]) == [hub(3, "three", size=3).fact]
    assert ids(store.search(NORTH, 9)) == [HIGH, 1]
    assert ids(store.scan_facts(None, 9, [Predicate("a", "eq", 1)])) == [1]
    assert store.edges_from([1, HIGH], 9) == [Edge(4, 1, "about", 3), Edge(HIGH, HIGH, "see", 1)]
    assert store.namespaces() == ["n"]
    document = Document("k", b"\x00value", 4_000_000_000.5)
    assert store.get_documents("n", ["k"]) == {"k": document}
    assert store.provenance() == EmbeddingIdentity("contract", 8, semantic=False)
    assert store.count().facts == 2
    assert store.check() == []


class TransactionsContract(StoreFixtures):
    """All of a transaction happens, or nothing."""

    def test_a_transaction_that_ends_well_is_kept(self, store: Store) -> None:
        with store.transaction():
            fill(store)
        assert_filled(store)

    def test_a_transaction_sees_its_own_writes(self, store: Store) -> None:
        with store.transaction():
            store.put_facts([record(1), record(2)])
            store.put_edges([Edge(5, 1, "see", 2)])
            store.put_documents("n", [Document("k", b"1")])
            assert ids(store.get_facts([1, 2])) == [1, 2]
            assert ids(store.edges_from([1], 9)) == [5]
            assert [*store.get_documents("n", ["k"])] == ["k"]
            store.delete_facts([2])
            assert ids(store.scan_facts(None, 9)) == [1]
            assert store.edges_from([1], 9) == []

    def test_a_transaction_that_fails_leaves_nothing(self, store: Store, atomic: bool) -> None:
        fill(store)
        with interrupted(store):
            store.put_facts([record(1, "changed", vector(-1), metadata={"a": 2}), record(9)])
            store.put_edges([Edge(9, 1, "new", HIGH)])
            store.delete_edges([4])
            store.put_documents("n", [Document("k", b"changed"), Document("l", b"")])
            store.put_documents("m", [Document("k", b"")])
            store.set_provenance(EmbeddingIdentity("other", 8))
            store.set_confidence(HIGH, 0.9)
            store.delete_facts([HIGH, 3])
        if atomic:
            assert_filled(store)
            assert ids(store.search(EAST, 9)) == [1, HIGH]
        # Without that promise, what is left must still be whole.
        found = store.get_records([1, 9, HIGH, 3])
        assert all(one.vector is not None for one in found if one.fact.kind == "fact")
        assert store.check() == []

    def test_inner_transactions_belong_to_the_outermost(self, store: Store, atomic: bool) -> None:
        with store.transaction():
            store.put_facts([record(1)])
            with store.transaction():
                store.put_facts([record(2)])
        assert ids(everything(store)) == [1, 2]
        with interrupted(store):
            with store.transaction():
                store.put_facts([record(3)])
            store.put_facts([record(4)])
        found = ids(everything(store))
        assert found == [1, 2] if atomic else {1, 2} <= {*found} <= {1, 2, 3, 4}
        store.put_facts([record(5)])
        assert 5 in ids(everything(store))

    def test_a_failing_transaction_is_only_its_own_threads(
        self, store: Store, atomic: bool
    ) -> None:
        other = threading.Thread(target=store.put_facts, args=([record(2)],), daemon=True)
        with interrupted(store):
            store.put_facts([record(1)])
            other.start()
        other.join(PATIENCE)
        assert not other.is_alive()
        found = ids(everything(store))
        assert found == [2] if atomic else {2} <= {*found} <= {1, 2}


class ThreadsContract(StoreFixtures):
    """Several threads may use one store."""

    def test_threads_lose_no_update(self, store: Store) -> None:
        self._run([lambda: count_up(store, "k", 10)] * 3)
        assert store.get_documents("counter", ["k"]) == {"k": Document("k", b"30")}

    def test_threads_write_and_read_at_once(self, store: Store) -> None:
        def write(start: int) -> None:
            for n in range(start, start + 10):
                store.put_facts([record(n, at=vector(1, n))])
                store.put_edges([Edge(n, n, "next", start)])

        def read() -> None:
            for _ in range(10):
                found = store.search(EAST, 50)
                assert found == sorted(found, key=lambda hit: (-hit.score, hit.id))
                assert len(store.get_facts(ids(found))) == len(found)

        self._run([lambda: write(100), lambda: write(200), read])
        assert ids(everything(store)) == [*range(100, 110), *range(200, 210)]
        assert len(store.search(EAST, 50)) == 20
        assert len(store.edges_from(range(100, 210), 9)) == 20
        assert store.check() == []

    @staticmethod
    def _run(tasks: list[Callable[[], None]]) -> None:
        failures: list[Exception] = []

        def attempt(task: Callable[[], None]) -> None:
            try:
                task()
            except Exception as error:  # an exception in a thread must fail the test
                failures.append(error)

        threads = [threading.Thread(target=attempt, args=[task], daemon=True) for task in tasks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert failures == []
        assert not any(thread.is_alive() for thread in threads)


class DurabilityContract(StoreFixtures):
    """What was written is there when the store is opened again, whatever happened."""

    def test_everything_is_there_after_reopening(self, open_store: StoreOpener, host: Host) -> None:
        store = open_store(host)
        fill(store)
        store.close()
        store.close()
        store = open_store(host)
        assert_filled(store)
        store.put_facts([record(9)])
        assert ids(store.search(EAST, 9)) == [1, 9, HIGH]
        store.close()

    def test_epochs_are_apart(self, open_store: StoreOpener, host: Host) -> None:
        other_host = replace(
            host, epoch=host.epoch + "b", identity=EmbeddingIdentity("other model", 3)
        )
        store, other = open_store(host), open_store(other_host)
        fill(store)
        assert everything(other) == []
        assert other.provenance() is None
        assert other.namespaces() == []
        other.put_facts([record(1, "elsewhere", vector(1)[:3])])
        assert ids(other.search(vector(1)[:3], 9)) == [1]
        assert [fact.content for fact in other.get_facts([1])] == ["elsewhere"]
        other.close()
        assert_filled(store)
        store.close()

    def test_disposing_removes_one_epoch_and_no_other(
        self, open_store: StoreOpener, host: Host
    ) -> None:
        other_host = replace(host, epoch=host.epoch + "b")
        store, other = open_store(host), open_store(other_host)
        fill(store)
        other.put_facts([record(7)])
        other.put_documents("n", [Document("k", b"1")])
        other.dispose()
        other.close()
        assert_filled(store)
        other = open_store(other_host)
        assert everything(other) == []
        assert other.namespaces() == []
        assert other.provenance() is None
        other.close()
        store.close()

    def test_compacting_loses_nothing(self, store: Store) -> None:
        fill(store)
        store.put_facts([record(n, "x" * 2000) for n in range(100, 400)])
        store.delete_facts(range(100, 400))
        store.compact()
        assert_filled(store)

    def test_writes_that_returned_outlive_a_kill(
        self,
        open_peer: Callable[[], Peer],
        open_store: StoreOpener,
        host: Host,
        survives_kill: bool,
    ) -> None:
        peer = open_peer()
        for n in range(20):
            peer.call("put_facts", [record(n, at=vector(1, n), metadata={"n": n})])
        peer.call("put_edges", [Edge(1, 1, "see", 2)])
        peer.call("put_documents", "n", [Document("k", b"1")])
        peer.kill()
        store = open_store(host)
        found = ids(everything(store))
        assert found == (list(range(20)) if survives_kill else list(range(len(found))))
        assert ids(store.search(EAST, 99)) == found
        if survives_kill:
            assert ids(store.edges_from([1], 9)) == [1]
            assert [*store.get_documents("n", ["k"])] == ["k"]
        assert store.check() == []
        store.close()

    def test_a_killed_transaction_leaves_nothing(
        self, open_peer: Callable[[], Peer], open_store: StoreOpener, host: Host, atomic: bool
    ) -> None:
        peer = open_peer()
        peer.call("put_facts", [record(1), record(2)])
        peer.enter("transaction")
        peer.call("put_facts", [record(1, "changed", NORTH), record(3)])
        peer.call("put_edges", [Edge(1, 1, "see", 2)])
        peer.call("delete_facts", [2])
        peer.kill()
        store = open_store(host)
        if atomic:
            assert everything(store) == [record(1).fact, record(2).fact]
            assert ids(store.search(EAST, 9)) == [1, 2]
            assert store.edges_from([1], 9) == []
        assert store.check() == []
        store.put_facts([record(9)])
        assert ids(store.get_facts([9])) == [9]
        store.close()

    def test_a_kill_amid_writing_leaves_whole_transactions(
        self, open_peer: Callable[[], Peer], open_store: StoreOpener, host: Host, atomic: bool
    ) -> None:
        size = 5
        batches = [
            [record(b * size + n, at=vector(1, b, n)) for n in range(size)] for b in range(400)
        ]
        peer = open_peer()
        peer.start("pour", batches)
        for _ in range(6):
            last = peer.wait()
        peer.kill()
        assert peer.exitcode == -signal.SIGKILL, "it had nothing left to do when it was killed"
        store = open_store(host)
        found = ids(everything(store))
        assert found == list(range(len(found)))
        assert len(found) >= (last + 1) * size
        if atomic:
            assert len(found) % size == 0
        assert sorted(ids(store.search(EAST, 9_999))) == found
        assert store.check() == []
        store.close()


class ProcessesContract(StoreFixtures):
    """Several processes may have one store open."""

    def test_processes_see_each_others_writes(
        self,
        open_peer: Callable[[], Peer],
        open_store: StoreOpener,
        host: Host,
        shared_between_processes: bool,
    ) -> None:
        store = open_store(host)
        store.put_facts([record(1, "mine")])
        assert ids(store.search(EAST, 9)) == [1]
        if not shared_between_processes:
            store.close()
        peer = open_peer()
        assert ids(peer.call("search", EAST, 9)) == [1]
        peer.call("put_facts", [record(2, "theirs", metadata={"a": 1})])
        peer.call("put_edges", [Edge(5, 2, "see", 1)])
        peer.call("put_documents", "n", [Document("k", b"theirs")])
        if not shared_between_processes:
            peer.close()
            store = open_store(host)
        assert ids(store.search(EAST, 9)) == [1, 2]
        assert ids(store.scan_facts(None, 9, [Predicate("a", "eq", 1)])) == [2]
        assert ids(store.edges_to([1], 9)) == [5]
        assert [*store.get_documents("n", ["k"])] == ["k"]
        if shared_between_processes:
            store.delete_facts([2])
            store.put_facts([record(1, "moved", NORTH)])
            assert ids(peer.call("search", NORTH, 9)) == [1]
            assert peer.call("edges_from", [1, 2], 9) == []
            assert [fact.content for fact in peer.call("get_facts", [1, 2])] == ["moved"]
        assert store.check() == []
        store.close()

    def test_processes_lose_no_update(
        self,
        open_peer: Callable[[], Peer],
        store: Store,
        isolated_between_processes: bool,
    ) -> None:
        times = 20 if isolated_between_processes else 0
        peer = open_peer()
        peer.start("count_up", "k", times)
        count_up(store, "k", 20)
        peer.wait()
        assert store.get_documents("counter", ["k"])["k"].value == b"%d" % (20 + times)

    def test_a_duty_has_one_holder_until_it_dies(
        self, open_peer: Callable[[], Peer], open_store: StoreOpener, host: Host
    ) -> None:
        peer = open_peer()
        store = open_store(host)
        assert peer.enter("claim", "sweep")
        assert store.claim("sweep") is None
        self._hold(store, "other duty")
        peer.call("leave")
        self._hold(store, "sweep")
        assert peer.enter("claim", "sweep")
        assert store.claim("sweep") is None
        peer.kill()
        self._hold(store, "sweep", within=20.0)
        store.close()

    @staticmethod
    def _hold(store: Store, duty: str, within: float = 0.0) -> None:
        """Take a duty that is free now, or, of a holder that died, within some seconds."""
        claims: list[AbstractContextManager[None]] = []

        def claimed() -> bool:
            claims.extend(filter(None, [store.claim(duty)]))
            return bool(claims)

        until(claimed, within)
        with claims[0]:
            assert store.claim(duty) is None
