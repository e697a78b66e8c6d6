"""Killed at every durable step of a migration: one of the two stores, whole, every time."""

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from letters import LetterEmbedder, open_memory

from veles_core.memory.service import MemoryService
from veles_core.memory.transfer import export_lines
from veles_core.migration.job import RECOVERABLE, Limits

DYING = Path(__file__).parent / "dying.py"
STEPS = 60  # more than the job of this test has; the last ones run to the end


def contents(memory: MemoryService) -> list[str]:
    return sorted(export_lines(memory.live().store, include_internal=True))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A memory to migrate, and everything in it."""
    folder = tmp_path_factory.mktemp("filled")
    memory = open_memory(folder, LetterEmbedder())
    ids = [memory.remember(f"fact {n} about the weather", metadata={"n": n}).id for n in range(30)]
    for source, target in zip(ids[1:], ids, strict=False):
        memory.relate(source, target, "follows")
    memory.feedback(ids[3], True)
    memory.remember("expires one day", ttl_seconds=10_000)
    expected = contents(memory)
    memory.close()
    return folder, expected


def finished(memory: MemoryService) -> None:
    """Bring the migration to its end from wherever the kill left it."""
    job = memory.migration_status().job
    if job is None:
        memory.migration_start("letters", Limits(pause_budget_ms=5000))
    elif job.phase in RECOVERABLE:
        memory.migration_recover()
    deadline = time.monotonic() + 20
    while (view := memory.migration_status()).job is None or view.job.phase != "committed":
        assert time.monotonic() < deadline, view
        assert view.job is None or view.job.last_error is None, view
        threading.Event().wait(0.005)


@pytest.mark.parametrize("part", range(6))
def test_a_kill_at_any_commit_loses_nothing(
    filled: tuple[Path, list[str]], tmp_path: Path, part: int
) -> None:
    folder, expected = filled
    ended = []
    environment = os.environ | {"PYTHONPATH": str(DYING.parents[2])}
    for step in range(part + 1, STEPS, 6):
        copy = tmp_path / str(step)
        shutil.copytree(folder, copy)
        run = subprocess.run(
            [sys.executable, str(DYING), str(copy), str(step)], env=environment, check=False
        )
        ended.append(run.returncode)
        memory = open_memory(copy, LetterEmbedder())
        assert contents(memory) == expected, f"after the kill at commit {step}"
        assert memory.check() == []
        finished(memory)
        assert contents(memory) == expected, f"after going on from commit {step}"
        assert memory.memory_status().embedder.model == "letters-64"
        assert memory.recall("fact 7 about the weather", 1).memories[0].score > 0.999
        memory.close()
        if run.returncode == 0:
            break
    assert ended[:-1] == [-9] * (len(ended) - 1)
    assert ended[-1] == 0, "the job has more steps than this test counts"
