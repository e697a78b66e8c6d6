"""Background duties that one process at a time may do."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


def claim(folder: Path, duty: str) -> AbstractContextManager[None] | None:
    """Hold ``duty`` of the store in ``folder``, or None if another holds it.

    The kernel frees the lock when its holder dies, however it dies.
    """
    lock = FileLock(folder / f"{duty}.lock", thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return None
    return _held(lock)


@contextmanager
def _held(lock: FileLock) -> Iterator[None]:
    try:
        yield
    finally:
        lock.release()
