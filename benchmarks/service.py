"""The memory service, measured beside its peer: speed, start, memory.

    python -m benchmarks.service [--peer-python PATH] [--scale 0.05] [--json FILE]

``PATH`` is the Python of an environment with velesdb 7.0.0; without it only ours is
measured. Both have the hash embedder, the same facts and the same questions, and take
turns in short bursts, so that what else the machine does falls on both. Ours is the
default store; with the package hnswlib a graph is searched above 50,000 facts. Every
figure is a median; a recall's 95th percentile stands behind it.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import click
import psutil

from benchmarks.corpus import entries, export_lines
from benchmarks.server_process import ServerProcess, environment, sdk_import
from veles_core.ids import fact_id

ROOT: Final = Path(__file__).parents[1]
SIZES: Final = (1_000, 2_000, 20_000, 100_000)
LARGEST_OF_PEER: Final = 20_000  # storing more there takes longer than anybody waits
MIDDLE: Final = 20_000
STARTS: Final = 5
STRETCH: Final = 10  # as many calls in a row for the rate of remembering, checkpoints included

EVERYTHING: Final = (
    "remember",
    "recall",
    "recall after remember",
    "recall filtered",
    "recall_where",
    "recall_fused",
    "why",
    "feedback",
    "forget",
)
PLAN: Final = {
    1_000: ("remember",),
    2_000: ("recall",),
    20_000: EVERYTHING,
    100_000: EVERYTHING,
}
TARGETS: Final[Mapping[tuple[str, int], str]] = {
    ("remember", 1_000): "≥ 1,000",
    ("remember", 20_000): "≥ 1,000",
    ("remember", 100_000): "≥ 1,000",
    ("import", 100_000): "≥ 5,000",
    ("recall", 2_000): "≤ 1.5",
    ("recall", 20_000): "≤ 3",
    ("recall", 100_000): "≤ 8",
    ("recall by vector", 2_000): "≤ peer",
    ("recall by vector", 20_000): "≤ peer",
    ("recall filtered", 20_000): "≤ 3",
    ("complete", 20_000): "all",
    ("recall_where", 20_000): "≤ 3",
    ("recall_fused", 20_000): "≤ 6",
    ("why", 20_000): "≤ 3",
    ("feedback", 20_000): "≤ 1",
    ("forget", 20_000): "≤ 1",
    ("reopen, first", 20_000): "≤ 0.5",
    ("reopen, later", 20_000): "≤ 0.5",
    ("reopen, later", 100_000): "≤ 2",
    ("memory", 0): "≤ 110",
    ("memory", 20_000): "≤ 200",
    ("start", 0): "≤ 2.0",
}
UNITS: Final = {
    "remember": "facts/s",
    "import": "facts/s",
    "reopen, first": "s",
    "reopen, later": "s",
    "reopen, killed": "s",
    "start": "s",
    "import of the SDK": "s",
    "memory": "MB",
    "memory, its share": "MB",
    "complete": "%",
}


@dataclass
class Figure:
    """One row: what was measured at how many facts, and the samples of each service."""

    name: str
    facts: int
    samples: dict[str, list[float]] = field(default_factory=dict)
    processor: dict[str, list[float]] = field(default_factory=dict)  # seconds a call

    @property
    def unit(self) -> str:
        return UNITS.get(self.name, "ms")

    def median(self, side: str) -> float | None:
        return statistics.median(self.samples[side]) if self.samples.get(side) else None


class Figures:
    """All rows, by what was measured at how many facts."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, int], Figure] = {}

    def add(self, name: str, facts: int, side: str, *values: float) -> None:
        self.row(name, facts).samples.setdefault(side, []).extend(values)

    def add_calls(self, name: str, facts: int, side: str, times: Sequence[Sequence[float]]) -> None:
        """The times of calls, in seconds: their rate if that is the unit, else each in ms."""
        row = self.row(name, facts)
        if row.unit == "facts/s":
            self.add(name, facts, side, len(times) / sum(wall for wall, _ in times))
        else:
            self.add(name, facts, side, *(1000 * wall for wall, _ in times))
        row.processor.setdefault(side, []).extend(used for _, used in times)

    def row(self, name: str, facts: int) -> Figure:
        return self.rows.setdefault((name, facts), Figure(name, facts))

    def ordered(self) -> list[Figure]:
        """All rows, those of one name together and by size."""
        names = list(dict.fromkeys(row.name for row in self.rows.values()))
        return sorted(self.rows.values(), key=lambda row: (names.index(row.name), row.facts))


class Measured:
    """A process that holds one service open and measures what it is asked to."""

    def __init__(self, python: str, module: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [python, "-m", module, *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(VELESDB_MEMORY_QUIET="1"),
            text=True,
        )
        self.answered: float = self._heard()["answered"]

    def ask(self, do: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()
        return None if do == "die" else self._heard()

    def memory(self) -> float:
        """Megabytes resident."""
        return float(psutil.Process(self._process.pid).memory_info().rss) / 1e6

    def close(self) -> None:
        with self._process:
            pass

    def _heard(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a measured process ended; it said why on standard error")
        return json.loads(line)


Open = Callable[[], Measured]


@dataclass(frozen=True)
class Bench:
    """Where the stores are, and who is measured."""

    folder: Path
    peer_python: str | None
    figures: Figures
    scale: float
    rounds: int
    calls: int

    def facts(self, size: int) -> int:
        return round(size * self.scale)

    def sides(self, size: int) -> dict[str, Open]:
        """How each service opens its store of this size."""
        own, peer = str(self.folder / f"own-{size}"), str(self.folder / f"peer-{size}")
        sides: dict[str, Open] = {
            "own": lambda: Measured(sys.executable, "benchmarks.own_service", own)
        }
        python = self.peer_python
        if python is not None and size <= LARGEST_OF_PEER:
            sides["peer"] = lambda: Measured(python, "benchmarks.peer_service", peer)
        return sides

    def vector(self, size: int) -> Open:
        """Ours without the lexical half, on the same store."""
        own = str(self.folder / f"own-{size}")
        return lambda: Measured(sys.executable, "benchmarks.own_service", own, "vector")


@contextmanager
def held(open_: Open) -> Iterator[Measured]:
    """A measured process until the end of the block."""
    process = open_()
    try:
        yield process
    finally:
        process.close()


def fill(bench: Bench, size: int) -> None:
    """Store the facts: ours by ``veles-memory import``, the peer's one by one."""
    count, figures = bench.facts(size), bench.figures
    file = bench.folder / "facts.jsonl"
    wanted = list(entries(count))
    ids = {each.number: fact_id(each.text) for each in wanted}
    file.write_text("\n".join(export_lines(wanted, ids)), encoding="utf-8")
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "veles_core.cli", "import", str(file)],
        env=environment(VELESDB_MEMORY_PATH=str(bench.folder / f"own-{size}")),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    with held(bench.sides(size)["own"]) as own:  # it has answered a recall
        figures.add("import", size, "own", count / (time.perf_counter() - began))
        figures.add("reopen, first", size, "own", own.answered)
    if "peer" in bench.sides(size):
        with held(bench.sides(size)["peer"]) as peer:
            figures.add("memory", 0, "peer", peer.memory())
            seconds = peer.ask("fill", first=0, until=count)["seconds"]
        figures.add("import", size, "peer", count / seconds)
        with held(bench.sides(size)["peer"]) as peer:
            figures.add("reopen, first", size, "peer", peer.answered)


def measure_calls(bench: Bench, size: int) -> None:
    """Bursts of every call, the services taking turns."""
    count, figures = bench.facts(size), bench.figures
    with ExitStack() as opened:
        sides = {
            name: opened.enter_context(held(open_)) for name, open_ in bench.sides(size).items()
        }
        for name, side in sides.items():
            figures.add("reopen, later", size, name, side.answered)
            side.ask("settle")
        for measure in PLAN[size]:
            calls = bench.calls * (STRETCH if measure == "remember" else 1)
            for turn in range(bench.rounds):
                for name, side in _turned(sides, turn):
                    times = side.ask(
                        "burst",
                        measure=measure,
                        size=count,
                        first=turn * (calls + 1),
                        count=calls,
                    )["times"]
                    figures.add_calls(measure, size, name, times)
            if measure == "recall":
                _measure_vector(bench, size, sides.get("peer"))
            if measure == "recall filtered":
                for name, side in sides.items():
                    share = side.ask("complete", size=count)["share"]
                    figures.add("complete", size, name, 100 * share)
        if "peer" in sides:
            figures.add("memory", size, "peer", sides["peer"].memory())


def _measure_vector(bench: Bench, size: int, peer: Measured | None) -> None:
    with held(bench.vector(size)) as own:
        own.ask("settle")
        sides = {"own": own} | ({"peer": peer} if peer else {})
        for turn in range(bench.rounds):
            for name, side in _turned(sides, turn):
                asked = {"measure": "recall", "size": bench.facts(size), "count": bench.calls}
                times = side.ask("burst", first=turn * (bench.calls + 1), **asked)["times"]
                bench.figures.add_calls("recall by vector", size, name, times)


def _turned(sides: Mapping[str, Measured], turn: int) -> list[tuple[str, Measured]]:
    """The services in an order that alternates."""
    return list(sides.items())[:: -1 if turn % 2 else 1]


def measure_opening(bench: Bench, size: int) -> None:
    """Reopening in a fresh process, the services taking turns."""
    for turn in range(STARTS):
        for name, open_ in list(bench.sides(size).items())[:: -1 if turn % 2 else 1]:
            with held(open_) as process:
                bench.figures.add("reopen, later", size, name, process.answered)


def measure_killed(bench: Bench, size: int) -> None:
    """Reopening what a process stored that was killed right after: nothing derived is there."""
    folder = str(bench.folder / f"own-killed-{size}")
    with held(lambda: Measured(sys.executable, "benchmarks.own_service", folder)) as process:
        process.ask("fill", first=0, until=bench.facts(size))
        process.ask("die")
    with held(lambda: Measured(sys.executable, "benchmarks.own_service", folder)) as process:
        bench.figures.add("reopen, killed", size, "own", process.answered)


def measure_server(bench: Bench) -> None:
    """The real server: the memory it takes, and how soon it answers ``initialize``."""
    for size in (0, *SIZES):
        with ServerProcess(bench.folder / f"own-{size}") as server:
            server.call("recall", query="what do we know about the cache")
            held_memory = server.memory()
        bench.figures.add("memory", size, "own", held_memory["rss"])
        bench.figures.add("memory, its share", size, "own", held_memory["pss"])
    for _ in range(STARTS):
        bench.figures.add("import of the SDK", 0, "own", sdk_import())
        with ServerProcess(bench.folder / "own-0") as server:
            bench.figures.add("start", 0, "own", server.started)


def table(figures: Figures) -> str:
    """All rows as Markdown."""
    lines = ["| | facts | target | peer | ours | ours : peer |", "|---|---:|---:|---:|---:|---:|"]
    for row in figures.ordered():
        own, peer = row.median("own"), row.median("peer")
        target = TARGETS.get((row.name, row.facts), "")
        ratio = f"{own / peer:.2f}" if own and peer else ""
        lines.append(
            f"| {row.name}, {row.unit} | {row.facts or ''} | {target} | {_shown(row, 'peer')} "
            f"| {_shown(row, 'own')} | {ratio} |"
        )
    return "\n".join(lines)


def _shown(row: Figure, side: str) -> str:
    samples = row.samples.get(side)
    if not samples:
        return "–"
    median = statistics.median(samples)
    shown = f"{median:,.0f}" if median >= 100 else f"{median:.2f}"
    if row.unit == "ms" and len(samples) >= 20:
        shown += f" ({sorted(samples)[int(0.95 * len(samples))]:.2f})"
    return shown


@click.command()
@click.option("--peer-python", help="Python of an environment with velesdb 7.0.0.")
@click.option("--scale", default=1.0, show_default=True, help="Of the numbers of facts.")
@click.option("--rounds", default=5, show_default=True, help="Turns that each service takes.")
@click.option("--calls", default=30, show_default=True, help="Calls of one turn.")
@click.option("--json", "output", type=click.Path(dir_okay=False, path_type=Path))
def main(
    peer_python: str | None, scale: float, rounds: int, calls: int, output: Path | None
) -> None:
    """Measure the memory service, and the peer beside it."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), peer_python, Figures(), scale, rounds, calls)
        for size in SIZES:
            fill(bench, size)
            measure_calls(bench, size)
            measure_opening(bench, size)
            if size <= MIDDLE:
                measure_killed(bench, size)
            click.echo(f"{bench.facts(size)} facts measured", err=True)
        measure_server(bench)
    if output:
        rows = bench.figures.ordered()
        output.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    if scale != 1:
        click.echo(f"numbers of facts are to be multiplied by {scale:g}")
    click.echo(table(bench.figures))


if __name__ == "__main__":
    main()
