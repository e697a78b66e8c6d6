"""Four clients at work while the model changes: what they notice, and whether all is there.

    python -m benchmarks.migration_load [--facts 20000] [--clients 4] [--target local]

Each client has a server process of its own, over stdio, on the one memory. It remembers,
reinforces, recalls and forgets all the time; another server's client starts the migration.
Afterwards the memory must hold what the clients were told that it holds, and nothing else.
"""

import itertools
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from benchmarks.migration import facts
from benchmarks.server_process import ServerProcess
from veles_core import open_memory

PAUSE_BUDGET_MS = 1000
IDLE_SECONDS = 3.0  # of load before the migration, to compare with
PHASES = ("idle", "during", "after")


@dataclass
class Client:
    """One client: what it was told, and the milliseconds of each call by phase."""

    name: str
    server: ServerProcess
    kept: dict[int, float] = field(default_factory=dict)  # id → confidence
    forgotten: set[int] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    times: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in PHASES})
    phase: str = "idle"

    def work(self, stop: threading.Event) -> None:
        """Call after call until told to stop, or until one fails."""
        for number in itertools.count():
            if stop.is_set():
                return
            try:
                self._round(number)
            except RuntimeError as error:
                self.errors.append(str(error))
                return

    def _round(self, number: int) -> None:
        noted = self._call("remember", fact=f"{self.name} noted number {number} about the queue")
        id = int(noted["id"])
        learned = self._call("feedback", id=noted["id"], success=True)
        self.kept[id] = learned["confidence"]
        found = self._call("recall", query=f"{self.name} noted number {number}", k=5)
        if str(id) not in {str(memory["id"]) for memory in found["memories"]}:
            raise RuntimeError(f"{self.name} does not recall what it has just stored")
        if number % 3 == 2:
            oldest = next(iter(self.kept))
            self._call("forget", id=str(oldest))
            self.forgotten.add(oldest)
            del self.kept[oldest]

    def _call(self, tool: str, **arguments: Any) -> Any:
        phase, began = self.phase, time.perf_counter()  # one that waits belongs to where it began
        answer = self.server.call(tool, **arguments)
        self.times[phase].append((time.perf_counter() - began) * 1000)
        return answer


@click.command()
@click.option("--facts", "count", default=20_000, show_default=True)
@click.option("--clients", "crowd", default=4, show_default=True)
@click.option("--target", default="local", show_default=True)
def main(count: int, crowd: int, target: str) -> None:
    """Migrate under load and print a report; exit status 1 if anything is wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"VELESDB_MEMORY_PATH": name, "VELESDB_MEMORY_LOG": "error"}
        with open_memory() as memory:
            memory.import_items(facts(count), lambda _done, _total: None)
        with ExitStack() as opened:
            servers = [opened.enter_context(ServerProcess(folder)) for _ in range(crowd + 1)]
            clients = [Client(f"client {n}", server) for n, server in enumerate(servers[1:])]
            stop = opened.enter_context(working(clients))
            stop.wait(IDLE_SECONDS)
            began = time.perf_counter()
            job = migrated(servers[0], target, clients)
            seconds = time.perf_counter() - began
            set_phase(clients, "after")
            stop.wait(IDLE_SECONDS)
        os.environ["VELESDB_MEMORY_EMBEDDER"] = target
        report = {
            "facts": count,
            "clients": crowd,
            "wall_s": round(seconds, 1),
            "cutover_ms": job["progress"]["measured_cutover_ms"],
            "calls": {name: len(all_times(clients, name)) for name in PHASES},
            "call_ms_median": {name: median(all_times(clients, name)) for name in PHASES},
            "call_ms_max": {name: round(max(all_times(clients, name)), 1) for name in PHASES},
            "wrong": [error for client in clients for error in client.errors]
            + differences(count, clients),
        }
        print(json.dumps(report, indent=2))
        raise SystemExit(bool(report["wrong"]))


@contextmanager
def working(clients: list[Client]) -> Iterator[threading.Event]:
    """All clients at work, each in a thread, until the end or the event."""
    stop = threading.Event()
    threads = [threading.Thread(target=client.work, args=[stop]) for client in clients]
    for thread in threads:
        thread.start()
    try:
        yield stop
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def migrated(server: ServerProcess, target: str, clients: list[Client]) -> Any:
    """Start the migration and wait until it is committed; its last view."""
    set_phase(clients, "during")
    server.call("migration_start", target_backend=target, pause_budget_ms=PAUSE_BUDGET_MS)
    waiting = threading.Event()
    while True:
        job = server.call("migration_status")["job"]
        if job["last_error"]:
            raise SystemExit(job["last_error"])
        if job["phase"] == "committed":
            return job
        waiting.wait(0.05)


def set_phase(clients: list[Client], phase: str) -> None:
    for client in clients:
        client.phase = phase


def differences(count: int, clients: list[Client]) -> list[str]:
    """In what the memory differs from what the clients were told."""
    kept = {id: confidence for client in clients for id, confidence in client.kept.items()}
    with open_memory() as memory:
        stored = {fact.id: fact.confidence for fact in memory.live().store.get_facts(list(kept))}
        gone = [id for client in clients for id in client.forgotten]
        found = {
            "lost": len(kept.keys() - stored.keys()),
            "confidence differs": sum(kept[id] != stored[id] for id in stored),
            "forgotten and there": len(memory.live().store.get_facts(gone)),
            "surplus": memory.memory_status().memory.facts - count - len(kept),
            "problems": len(memory.check()),
        }
    return [f"{name}: {number}" for name, number in found.items() if number]


def all_times(clients: list[Client], phase: str) -> list[float]:
    return [spent for client in clients for spent in client.times[phase]]


def median(values: list[float]) -> float:
    return round(statistics.median(values), 2)


if __name__ == "__main__":
    main()
