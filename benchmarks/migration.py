"""What a migration costs: wall time, the pause at its end, recalls during the copy, disk.

python benchmarks/migration.py --facts 20000 --runs 20 --target local
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from veles_core.settings import calm_threads

calm_threads()  # as the server does, before numpy is there

from veles_core import MemoryService, open_memory  # noqa: E402
from veles_core.ids import fact_id  # noqa: E402
from veles_core.memory.transfer import Item  # noqa: E402
from veles_core.migration.job import Limits  # noqa: E402
from veles_core.records import Fact  # noqa: E402

PAUSE_BUDGET_MS = 1000
COPYING = ("prepared", "capturing")
WORDS = [
    "queue",
    "deploy",
    "release",
    "index",
    "vector",
    "ledger",
    "worker",
    "budget",
    "token",
    "cache",
    "probe",
    "graph",
]


@dataclass(frozen=True, slots=True)
class Run:
    """One migration: seconds, milliseconds and bytes."""

    wall_s: float
    pause_ms: int
    recall_idle_ms: float
    recall_copying_ms: float
    disk_before: int
    disk_peak: int


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--target", default="local")
    options = parser.parse_args(argv)
    runs = []
    for _ in range(options.runs):
        runs.append(measured(options.facts, options.target))
        print(runs[-1], file=sys.stderr, flush=True)
    pauses = [run.pause_ms for run in runs]
    report = {
        "facts": options.facts,
        "runs": len(runs),
        "wall_s": round(statistics.median(run.wall_s for run in runs), 1),
        "pause_ms_p50": statistics.median(pauses),
        "pause_ms_max": max(pauses),
        "recall_idle_ms": round(statistics.median(run.recall_idle_ms for run in runs), 2),
        "recall_copying_ms": round(statistics.median(run.recall_copying_ms for run in runs), 2),
        "disk_before_mb": round(runs[-1].disk_before / 1e6, 1),
        "disk_peak_mb": round(runs[-1].disk_peak / 1e6, 1),
    }
    print(json.dumps(report))


def measured(count: int, target: str) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VELESDB_MEMORY_PATH"] = folder
        os.environ["VELESDB_MEMORY_LOG"] = "error"
        with open_memory() as memory:
            memory.import_items(facts(count), lambda _done, _total: None)
            memory.recall("warm up")
            before, idle = size(Path(folder)), recalls(memory, 100)
            began = time.perf_counter()
            memory.migration_start(target, Limits(pause_budget_ms=PAUSE_BUDGET_MS))
            copying: list[float] = []
            while (job := memory.migration_status().job) and job.phase in COPYING:
                copying += recalls(memory, 5)
            waiting = threading.Event()
            while (job := memory.migration_status().job) and job.phase != "committed":
                if job.last_error:
                    raise SystemExit(job.last_error)
                waiting.wait(0.01)
            assert job is not None
            return Run(
                time.perf_counter() - began,
                job.progress.measured_cutover_ms or 0,
                statistics.median(idle),
                statistics.median(copying or idle),
                before,
                size(Path(folder)),
            )


def facts(count: int) -> list[Item]:
    texts = (
        f"note {n}: the {WORDS[n % 12]} of the {WORDS[n // 12 % 12]} waits for "
        f"{WORDS[n // 144 % 12]} {n % 97} before the {WORDS[n % 7]} is drained and checked again"
        for n in range(count)
    )
    return [Fact(fact_id(text), text, {"n": n}) for n, text in enumerate(texts)]


def recalls(memory: MemoryService, count: int) -> list[float]:
    """Milliseconds of each of ``count`` recalls."""
    spent = []
    for n in range(count):
        began = time.perf_counter()
        memory.recall(f"which {WORDS[n % 12]} waits for the {WORDS[(n + 5) % 12]}")
        spent.append((time.perf_counter() - began) * 1000)
    return spent


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
