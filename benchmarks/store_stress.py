"""Kill and crowd the embedded store with real processes, and check it afterwards.

::

    python -m benchmarks.store_stress kill --rounds 200
    python -m benchmarks.store_stress crowd --seconds 60

``kill``: two processes do mixed writes; both are killed at a random moment, round after
round. What was acknowledged must be there, what was not must be there whole or not at
all. ``crowd``: four processes read, write, close and reopen one store while another
imports in bulk and now and then one is killed; no call may fail, and each must see what
any other had been told was stored. Both end with a clean ``check()``.
"""

import argparse
import json
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from veles_core.builtin.exact_index import ExactIndex
from veles_core.hookspecs import Host
from veles_core.records import Document, Edge, Fact, FactRecord
from veles_core.store import LedgerStore, upkeep

if TYPE_CHECKING:
    from veles_core.records import Vector

DIMENSION: Final = 32
CROWD: Final = 4
KEPT: Final = 150  # facts a writer keeps; older ones are deleted, so that rounds stay short
PATIENCE: Final = 60.0

spawn = multiprocessing.get_context("forkserver")

Op = dict[str, Any]


def open_store(folder: Path) -> LedgerStore:
    """The store under test; its snapshots are renewed far more often than usual."""
    upkeep.DUE_FLOOR, upkeep.DUE_SHARE = 40, 10**9  # type: ignore[misc]
    upkeep.QUIET_SECONDS = 0.01  # type: ignore[misc]
    return LedgerStore(Host(folder), ExactIndex)


def fact_id(owner: int, n: int) -> int:
    """Each process has ids of its own; half of them are above 2^63."""
    return (owner << 60) | (n * 2_654_435_761 % 2**32)


def record(owner: int, n: int) -> FactRecord:
    """The ``n``-th fact of a process."""
    fact = Fact(fact_id(owner, n), f"fact {n} of writer{owner}", {"owner": owner, "n": n})
    return FactRecord(fact, vector_of(owner, n))


def vector_of(owner: int, n: int) -> "Vector":
    """The direction of that fact."""
    vector = np.random.default_rng((owner, n)).normal(size=DIMENSION)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


class Model:
    """What one writer's part of the store must hold."""

    def __init__(self, owner: int) -> None:
        self.owner = owner
        self.next = 0
        self.facts: dict[int, float] = {}  # number → confidence
        self.document = ""

    def copy(self) -> "Model":
        """The same state, to be changed."""
        other = Model(self.owner)
        other.next, other.document = self.next, self.document
        other.facts = dict(self.facts)
        return other

    def apply(self, op: Op) -> None:
        """Do to the model what ``perform`` does to the store."""
        match op["kind"]:
            case "put":
                self.facts |= dict.fromkeys(op["numbers"], 0.5)
                self.next = max([self.next, *(n + 1 for n in op["numbers"])])
                self.document = op["document"]
            case "delete":
                for n in op["numbers"]:
                    self.facts.pop(n, None)
            case "confidence":
                if op["n"] in self.facts:
                    self.facts[op["n"]] = op["value"]

    def difference(self, store: LedgerStore) -> str | None:
        """How the store differs from the model; None if it does not."""
        numbers = range(self.next + 10)
        ids = [fact_id(self.owner, n) for n in numbers]
        stored = {fact.metadata["n"]: fact.confidence for fact in store.get_facts(ids)}
        if stored != self.facts:
            return f"facts {sorted(stored.items() ^ self.facts.items())[:5]}"
        edges = {edge.id for edge in store.edges_from(ids, 9)}
        expected = {
            edge.id for n in self.facts for edge in link(self.owner, n) if n - 1 in self.facts
        }
        if edges != expected:
            return f"edges {sorted(edges ^ expected)[:5]}"
        found = store.get_documents("last", [str(self.owner)])
        document = found[str(self.owner)].value.decode() if found else ""
        return None if document == self.document else f"document {document!r}"


def link(owner: int, n: int) -> list[Edge]:
    """The edge from a fact to the one before."""
    if n == 0:
        return []
    return [Edge(fact_id(owner, n) ^ 1, fact_id(owner, n), "after", fact_id(owner, n - 1))]


def operations(model: Model, seed: int) -> Iterator[Op]:
    """An endless mix of writes, following the model as the caller changes it."""
    chance = random.Random(seed)
    while True:
        roll = chance.random()
        if roll < 0.6 or not model.facts:
            numbers = list(range(model.next, model.next + chance.choice([1, 1, 1, 3, 20])))
            yield {"kind": "put", "numbers": numbers, "document": f"up to {numbers[-1]}"}
        elif roll < 0.8:
            surplus = max(1, len(model.facts) - KEPT)
            yield {"kind": "delete", "numbers": sorted(model.facts)[:surplus]}
        else:
            n = chance.choice(sorted(model.facts))
            yield {"kind": "confidence", "n": n, "value": round(chance.random(), 3)}


def perform(store: LedgerStore, owner: int, op: Op) -> None:
    """One write, which must happen as a whole or not at all."""
    match op["kind"]:
        case "put":
            with store.transaction():
                store.put_facts([record(owner, n) for n in op["numbers"]])
                store.put_edges([edge for n in op["numbers"] for edge in link(owner, n)])
                store.put_documents("last", [Document(str(owner), op["document"].encode())])
        case "delete":
            store.delete_facts([fact_id(owner, n) for n in op["numbers"]])
        case "confidence":
            store.set_confidence(fact_id(owner, op["n"]), op["value"])


def write(folder: Path, model: Model, seed: int, log: Connection) -> None:
    """Announce each write before it, acknowledge it after it, until killed."""
    store = open_store(folder)
    for number, op in enumerate(operations(model, seed)):
        log.send_bytes(json.dumps(op).encode())
        perform(store, model.owner, op)
        model.apply(op)
        log.send_bytes(b"done")
        if number % 7 == 0:
            store.search(vector_of(model.owner, 1), 5)


def kill_rounds(folder: Path, rounds: int, seed: int) -> str:
    """Kill both writers at a random moment, ``rounds`` times."""
    chance = random.Random(seed)
    models = [Model(owner) for owner in (3, 11)]
    acknowledged = 0
    for number in range(rounds):
        writers = []
        for model in models:
            receiver, sender = spawn.Pipe(duplex=False)
            writer = spawn.Process(
                target=write, args=(folder, model.copy(), chance.getrandbits(32), sender)
            )
            writer.start()
            sender.close()
            writers.append((writer, receiver))
        for _, receiver in writers:  # both have the store open and are at it
            assert receiver.poll(PATIENCE), "a writer does not start"
        time.sleep(chance.uniform(0.02, 0.4))
        for writer, _ in writers:
            writer.kill()
        for writer, _ in writers:
            writer.join()
        store = open_store(folder)
        for place, (_, receiver) in enumerate(writers):
            models[place], done = outcome(models[place], receiver, store)
            acknowledged += done
        problems = store.check()
        assert not problems, f"round {number}: {problems}"
        store.close()
    return f"{rounds} rounds, {acknowledged} acknowledged writes, nothing lost or half there"


def outcome(model: Model, receiver: Connection, store: LedgerStore) -> tuple[Model, int]:
    """The model after a killed writer's acknowledged writes and, if it is there, its last one."""
    done, pending = 0, None
    while (message := received(receiver)) is not None:
        if message == b"done":
            assert pending is not None
            model.apply(pending)
            done, pending = done + 1, None
        else:
            pending = json.loads(message)
    difference = model.difference(store)
    if difference is not None and pending is not None:
        model.apply(pending)
        difference = model.difference(store)
    assert difference is None, f"writer {model.owner} after {pending}: {difference}"
    return model, done


def received(receiver: Connection) -> bytes | None:
    """The next whole message; None at the end, which may cut one."""
    try:
        return receiver.recv_bytes()
    except (EOFError, OSError):
        return None


def mingle(folder: Path, owner: int, latest: Any, until: float, failed: Any) -> None:
    """Write, and look for what others have been told is stored; close and reopen at times."""
    chance = random.Random(owner * 1000 + latest[owner])
    store = open_store(folder)
    try:
        while time.time() < until:
            n = latest[owner]
            store.put_facts([record(owner, n)])
            latest[owner] = n + 1
            other = chance.randrange(CROWD + 1)
            if latest[other]:
                wanted = record(other, latest[other] - 1)
                assert wanted.vector is not None
                hits = store.search(wanted.vector, 1)
                assert hits[0].id == wanted.fact.id, "another process's write is not seen"
                assert store.get_facts([wanted.fact.id]) == [wanted.fact]
                assert store.search_words(f"writer{other}", 1), "its words are not seen"
            if chance.random() < 0.01:
                store.close()
                store = open_store(folder)
    except Exception as error:
        failed.put(f"process {owner}: {type(error).__name__}: {error}")
        raise
    store.close()


def pour(folder: Path, latest: Any, until: float, failed: Any) -> None:
    """Import in bulk, a thousand facts a transaction."""
    store = open_store(folder)
    try:
        while time.time() < until:
            n = latest[CROWD]
            store.put_facts([record(CROWD, n + i) for i in range(1000)])
            latest[CROWD] = n + 1000
    except Exception as error:
        failed.put(f"importer: {type(error).__name__}: {error}")
        raise
    store.close()


def crowd(folder: Path, seconds: float, seed: int) -> str:
    """Let four processes and an importer loose on one store, and kill one now and then."""
    chance = random.Random(seed)
    latest = spawn.Array("q", CROWD + 1)
    failed: Any = spawn.Queue()
    until = time.time() + seconds
    running = {
        owner: spawn.Process(target=mingle, args=(folder, owner, latest, until, failed))
        for owner in range(CROWD)
    }
    running[CROWD] = spawn.Process(target=pour, args=(folder, latest, until, failed))
    for process in running.values():
        process.start()
    kills = 0
    while time.time() < until:
        time.sleep(min(chance.uniform(0.5, 2.0), max(until - time.time(), 0)))
        owner = chance.randrange(CROWD)
        if latest[owner] and time.time() < until - 1:
            # A process killed inside of the shared array's lock would take it along.
            with latest.get_lock():
                running[owner].kill()
            running[owner].join()
            kills += 1
            running[owner] = spawn.Process(
                target=mingle, args=(folder, owner, latest, until, failed)
            )
            running[owner].start()
    for process in running.values():
        process.join(PATIENCE)
        assert process.exitcode == 0, failed.get(timeout=PATIENCE)
    store = open_store(folder)
    problems = store.check()
    assert not problems, problems
    facts = store.count().facts
    for owner in range(CROWD + 1):
        ids = [fact_id(owner, n) for n in range(latest[owner])]
        assert len(store.get_facts(ids)) == latest[owner], f"process {owner} lost a write"
    store.close()
    return f"{seconds:.0f} s, {sum(latest[:CROWD])} single writes, {latest[CROWD]} imported, " \
           f"{kills} kills, {facts} facts, no error"  # fmt: skip


def main() -> None:
    """Run one of the two, in a directory of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["kill", "crowd"])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    spawn.set_forkserver_preload(["veles_core.store", "veles_core.builtin.exact_index"])
    with tempfile.TemporaryDirectory() as folder:
        if asked.what == "kill":
            print(kill_rounds(Path(folder), asked.rounds, asked.seed))
        else:
            print(crowd(Path(folder), asked.seconds, asked.seed))


if __name__ == "__main__":
    sys.exit(main())
