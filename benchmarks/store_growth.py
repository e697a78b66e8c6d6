"""How the embedded store's calls grow with it: medians from 1,000 to 100,000 facts.

    python -m benchmarks.store_growth [--sizes 1000 20000 100000] [--json growth.json]

One store is filled in transactions of 1,000 facts and measured whenever it reaches a
size. Vectors are random directions of 384 dimensions; texts and metadata are those of
``benchmarks.corpus``. The last rows are a fresh process's: time from opening the store to
its first answer, and its resident memory.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import numpy as np

from benchmarks.corpus import entry
from veles_core.builtin.exact_index import ExactIndex
from veles_core.hookspecs import Host
from veles_core.ids import fact_id
from veles_core.records import Edge, Fact, FactRecord, Predicate
from veles_core.store import LedgerStore

if TYPE_CHECKING:
    from veles_core.records import Vector

DIMENSION: Final = 384
BATCH: Final = 1000
TIMES: Final = 60
POOL: Final = 64  # what recall asks for to answer k = 10

REOPEN: Final = """
import sys, time
from pathlib import Path
from benchmarks.store_growth import ExactIndex, Host, LedgerStore, direction
vector = direction(1)
started = time.perf_counter()
store = LedgerStore(Host(Path(sys.argv[1])), ExactIndex)
store.search(vector, 10)
store.search_words("service server", 10)
ms = (time.perf_counter() - started) * 1000
status = Path("/proc/self/status").read_text()
print(ms, int(status.split("VmRSS:")[1].split()[0]) / 1024)
"""


def direction(number: int) -> "Vector":
    """A random unit vector, the same for the same number."""
    vector = np.random.default_rng(number).standard_normal(DIMENSION, np.float32)
    return vector / np.linalg.norm(vector)


def record(number: int) -> FactRecord:
    """The ``number``-th fact of the corpus, with a field that counts."""
    found = entry(number)
    metadata = {**found.metadata, "number": number, "_veles_date": 20260101 + number % 28}
    return FactRecord(Fact(fact_id(found.text), found.text, metadata), direction(number))


def fill(store: LedgerStore, start: int, end: int) -> float:
    """Put facts ``start`` to ``end``; seconds spent in the store."""
    spent = 0.0
    for first in range(start, end, BATCH):
        records = [record(n) for n in range(first, min(first + BATCH, end))]
        started = time.perf_counter()
        store.put_facts(records)
        spent += time.perf_counter() - started
    return spent


def median_ms(call: Callable[[], object], times: int = TIMES) -> float:
    """Median milliseconds of one call, after one to warm up."""
    call()
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        spent.append((time.perf_counter() - started) * 1000)
    return statistics.median(spent)


def matrix_product_ms(size: int) -> float:
    """What comparing every vector costs at least, to compare the searches with."""
    matrix, query = np.stack([direction(n) for n in range(size)]), direction(5)
    return median_ms(lambda: matrix @ query)


def calls(store: LedgerStore, size: int, fresh: Iterator[int]) -> dict[str, Callable[[], object]]:
    """Each measured call; ``fresh`` numbers facts that are not stored yet."""
    turn = count()
    random = np.random.default_rng(size)
    ids = [record(int(n)).fact.id for n in random.integers(0, size, 4 * POOL)]
    new = [record(next(fresh)) for _ in range(3 * TIMES + 3)]
    waiting, gone, linked = iter(new), iter(new), iter(new)

    def some(amount: int) -> list[int]:
        start = next(turn) * 7 % (len(ids) - amount)
        return ids[start : start + amount]

    def search(*predicates: Predicate) -> object:
        return store.search(direction(next(turn)), POOL, predicates)

    def link() -> None:
        source, (target,) = next(linked).fact.id, some(1)
        store.put_edges([Edge(source ^ target, source, "follows", target)])

    return {
        "put one fact, durable": lambda: store.put_facts([next(waiting)]),
        "put one edge, durable": link,
        "set confidence, durable": lambda: store.set_confidence(some(1)[0], 0.6),
        "delete one fact, durable": lambda: store.delete_facts([next(gone).fact.id]),
        "get 64 facts": lambda: store.get_facts(some(POOL)),
        "list 50 facts": lambda: store.scan_facts(some(1)[0], 50),
        "count": store.count,
        "edges of 64 facts": lambda: store.edges_from(some(POOL), 64),
        "search 64": search,
        "search 64, another 1 % each time": lambda: search(
            Predicate("project", "eq", record(next(turn) % 100).fact.metadata["project"], True)
        ),
        "search 64, another range of 100": lambda: (
            lambda low: search(
                Predicate("number", "ge", low, True), Predicate("number", "lt", low + 100, True)
            )
        )(next(turn) * 9 % (size - 100)),
        "search words 64": lambda: store.search_words(
            " ".join(record(next(turn)).fact.content.split()[:8]), POOL
        ),
        "put one fact and search 64": lambda: (store.put_facts([next(waiting)]), search()),
    }


def measure(folder: Path, size: int, start: int) -> dict[str, float]:
    """Grow the store in ``folder`` from ``start`` to ``size`` facts and measure it."""
    store = LedgerStore(Host(folder), ExactIndex)
    rates = {"bulk put, facts/s": (size - start) / fill(store, start, size)}
    started = time.perf_counter()
    store.close()
    rates["close after it, ms"] = (time.perf_counter() - started) * 1000
    store = LedgerStore(Host(folder), ExactIndex)
    store.search(direction(0), 1)
    rates["(one matrix product)"] = matrix_product_ms(size)
    fresh = count(10**9 + size)
    for name, call in calls(store, size, fresh).items():
        rates[name] = median_ms(call)
    extra = [fact.id for fact in store.scan_facts(None, 10**9) if fact.metadata["number"] >= 10**9]
    store.delete_facts(extra)
    store.save()
    store.close()
    reopened = subprocess.run(
        [sys.executable, "-c", REOPEN, folder], check=True, capture_output=True, text=True
    )
    milliseconds, megabytes = map(float, reopened.stdout.split())
    rates["open to first answer, ms"] = milliseconds
    rates["resident, MB"] = megabytes
    files = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    rates["on disk, MB"] = sum(files) / 1e6
    return rates


@click.command()
@click.option("--sizes", multiple=True, type=int, default=(1000, 5000, 20_000, 50_000, 100_000))
@click.option("--json", "output", type=click.Path(path_type=Path), help="Write the figures there")
def main(sizes: tuple[int, ...], output: Path | None) -> None:
    """Print a table of medians, one column a size; milliseconds unless a row says otherwise."""
    figures: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        reached = 0
        for size in sorted(sizes):
            figures[size] = measure(Path(folder), size, reached)
            reached = size
            click.echo(f"measured {size:,} facts", err=True)
    names = figures[min(figures)]
    click.echo(f"{'':34}" + "".join(f"{size:>10,}" for size in figures))
    for name in names:
        row = (figures[size][name] for size in figures)
        click.echo(f"{name:34}" + "".join(f"{value:>10,.2f}" for value in row))
    if output is not None:
        output.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
