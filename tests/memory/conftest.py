"""A real service on a real store, with a clock that the test moves."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from veles_core.builtin.hash_embedder import HashEmbedder

from veles_core.hookspecs import Host
from veles_core.memory.service import MemoryService
from veles_core.plugins import discover
from veles_core.testing.clock import SettableClock


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(1_780_000_000.0)


@pytest.fixture
def memory(tmp_path: Path, clock: SettableClock) -> Iterator[MemoryService]:
    embedder = HashEmbedder()
    host = Host(tmp_path, clock=clock, identity=embedder.identity)
    store = discover(()).open("store", "exact", host)
    with MemoryService(store, embedder, clock=clock) as service:
        yield service
