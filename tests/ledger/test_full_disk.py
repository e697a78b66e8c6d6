"""A disk that is full: one sentence, nothing half stored, and all well once there is space."""

import contextlib
import itertools
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from veles_core.builtin.exact_index import ExactIndex
from veles_core.errors import StoreError
from veles_core.hookspecs import Host
from veles_core.records import Fact, FactRecord
from veles_core.store import LedgerStore

KIB = 1024
SIZE = 600 * KIB


@dataclass(frozen=True)
class Disk:
    """Where to put a memory, and how to take the space away from it."""

    path: Path
    mounted: bool

    @contextmanager
    def exhausted(self) -> Iterator[None]:
        """No space at all inside."""
        if not self.mounted:
            with limited(0):
                yield
            return
        filler = self.path / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * KIB)
        try:
            yield
        finally:
            filler.unlink()


@contextmanager
def limited(size: int) -> Iterator[None]:
    """No file may grow beyond ``size``."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A file system of 600 KiB; without the right to mount one, a limit on the size of files."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "small", str(tmp_path)]
    if subprocess.run(mount, check=False, capture_output=True).returncode == 0:
        yield Disk(tmp_path, mounted=True)
        subprocess.run(["umount", tmp_path], check=True)
    else:
        with limited(SIZE):
            yield Disk(tmp_path, mounted=False)


def record(n: int) -> FactRecord:
    vector = np.zeros(64, np.float32)
    vector[n % 64] = 1
    return FactRecord(Fact(n, f"fact {n} " + "text " * 60, {"n": n}), vector)


def put_until_full(store: LedgerStore) -> int:
    """Facts 0 … n, one at a time; how many were stored before the disk was full."""
    stored = 0
    with pytest.raises(StoreError, match=r"(disk .* is full|database failed).*nothing"):  # noqa: PT012
        for stored in itertools.count():
            store.put_facts([record(stored)])
    return stored


def test_a_write_that_finds_no_space_stores_nothing(disk: Disk) -> None:
    store = LedgerStore(Host(disk.path), ExactIndex)
    stored = put_until_full(store)
    assert stored > 10
    assert store.count().facts == stored
    assert [fact.id for fact in store.scan_facts(None, 9_999)] == list(range(stored))
    assert store.check() == []
    with pytest.raises(StoreError, match="nothing"):
        store.put_facts([record(n) for n in range(10_000, 10_500)])
    assert store.count().facts == stored
    store.close()
    store = LedgerStore(Host(disk.path), ExactIndex)
    assert store.count().facts == stored
    assert store.check() == []
    store.close()


def test_an_index_that_finds_no_space_is_only_slower_next_time(disk: Disk) -> None:
    store = LedgerStore(Host(disk.path), ExactIndex)
    stored = put_until_full(store)
    with disk.exhausted(), pytest.raises(StoreError, match=r"index could not be saved.*rebuilt"):
        store.save()
    assert len(store.search_words("text", 9_999)) == stored
    store.close()
    assert not list(disk.path.rglob("*.tmp"))


def test_a_disk_that_is_full_at_the_start_is_one_sentence(disk: Disk) -> None:
    with disk.exhausted(), pytest.raises(StoreError, match=r"full|failed"):
        LedgerStore(Host(disk.path), ExactIndex)
    store = LedgerStore(Host(disk.path), ExactIndex)
    store.put_facts([record(1)])
    assert store.check() == []
    store.close()
