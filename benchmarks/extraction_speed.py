"""How long an outline takes end to end, and an entity that many facts mention.

    python -m benchmarks.extraction_speed [--directives 10000] [--mentions 100000]

An outline is timed from the call of ``remember_extracted`` to the status ``committed``, by
the default embedder. The CPU time says what a machine with nothing else to do would take.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
import numpy as np

from benchmarks.graph_retrieval import extract, opened
from veles_core.memory import entities
from veles_core.memory.entities import Mention
from veles_core.memory.service import MemoryService
from veles_core.plugins import discover
from veles_core.records import Attribute, Fact, FactRecord, Relation


def seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def facts_and_edges(count: int) -> str:
    """Half facts with two topics each, half edges and attributes."""
    kinds = (
        "fact: Item {n} of the ledger was counted twice | Ledger {h}; Count {t}",
        "edge: Shelf {n} | stands beside | Shelf {h}",
        "fact: Shelf {n} was painted in week {h} | Shelf {n}; Paint {t}",
        "attr: Shelf {n} | height | {h}",
    )
    return "\n".join(kinds[n % 4].format(n=n, h=n % 100, t=n % 1000) for n in range(count))


def facts_alone(count: int) -> str:
    """Facts with a topic each: the most that a directive can cost."""
    return "\n".join(f"fact: Reading {n} of gauge {n % 97} | Gauge {n % 97}" for n in range(count))


def mention(memory: MemoryService, count: int) -> None:
    """Make one entity be mentioned by many facts."""
    store, vector = memory.live().store, np.ones(384, np.float32) / np.float32(384**0.5)
    facts = [Fact(number, f"fact {number}") for number in range(count)]
    with store.transaction():
        store.put_facts([FactRecord(fact, vector) for fact in facts])
        entities.connect(
            store,
            [Mention(fact.id, ["Busy"]) for fact in facts],
            [Relation("Busy", "needs", f"Thing {number}") for number in range(100)],
            [Attribute("Busy", "size", "large")],
        )


@click.command()
@click.option("--directives", default=10_000, show_default=True)
@click.option("--mentions", default=100_000, show_default=True)
def main(directives: int, mentions: int) -> None:
    """Seconds of an outline, milliseconds of an entity."""
    registry = discover()
    for name, text in (("mixed", facts_and_edges(directives)), ("facts", facts_alone(directives))):
        with (
            tempfile.TemporaryDirectory() as folder,
            opened(registry, "hash", Path(folder)) as memory,
        ):
            spent = time.process_time()
            took = seconds(partial(extract, memory, [text]))
            spent = time.process_time() - spent
            count = memory.memory_status().memory
        click.echo(
            f"outline of {directives} directives, {name}: {took:.2f} s "
            f"({spent:.2f} s of CPU), "
            f"{count.facts} facts, {count.edges} edges"
        )
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(registry, "hash", Path(folder)) as memory,
    ):
        mention(memory, mentions)
        store = memory.live().store
        took = statistics.median(seconds(lambda: entities.view(store, "busy")) for _ in range(21))
        forgotten = statistics.median(seconds(partial(memory.forget, n)) for n in range(21))
    click.echo(f"entity with {mentions} mentions: {1000 * took:.2f} ms")
    click.echo(f"forget one of its facts: {1000 * forgotten:.2f} ms")


if __name__ == "__main__":
    main()
