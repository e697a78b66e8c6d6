"""A process that migrates a memory and kills itself right after its n-th commit."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from letters import LetterEmbedder, open_memory

from veles_core.ledger.connect import Database
from veles_core.migration.job import Limits


def dying_after(commits: int) -> None:
    """Count every durable step of every store, and end without a farewell at the last."""
    count, real = 0, Database.transaction

    @contextmanager
    def transaction(self: Database) -> Iterator[None]:
        nonlocal count
        outermost = self.depth == 0
        with real(self):
            yield
        if outermost and threading.current_thread().name != "veles-duties":
            count += 1
            if count == commits:
                os.kill(os.getpid(), signal.SIGKILL)

    Database.transaction = transaction  # type: ignore[method-assign]


def main(folder: Path, commits: int) -> None:
    memory = open_memory(folder, LetterEmbedder())
    dying_after(commits)
    memory.migration_start("letters", Limits(pause_budget_ms=5000, fact_batch=15))
    while (view := memory.migration_status()).job is None or not view.job.retired:
        if view.job and view.job.last_error:
            sys.exit(view.job.last_error)
        threading.Event().wait(0.002)
    memory.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
