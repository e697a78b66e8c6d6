"""The tools as an agent meets them: a real client before a real memory."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving import Caller, connect, connected, service
from veles_core.builtin.hash_embedder import HashEmbedder
from veles_core.hookspecs import Host
from veles_core.memory.service import MemoryService
from veles_core.plugins import discover
from veles_core.testing.clock import SettableClock

__all__ = ["connect", "service"]


@pytest.fixture
def client(service: MemoryService) -> Iterator[Caller]:
    with connected(lambda: service) as caller:
        yield caller


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def timed(tmp_path: Path, clock: SettableClock) -> Iterator[Caller]:
    """A client of a memory whose time the test moves; it is embedded and can't migrate."""
    embedder, registry = HashEmbedder(), discover(())
    host = Host(tmp_path, clock=clock, identity=embedder.identity)
    store = registry.open("store", "exact", host)
    tokenizer = registry.open("tokenizer", "heuristic", host)
    with (
        MemoryService(store, embedder, clock=clock, tokenizer=tokenizer) as memory,
        connected(lambda: memory) as caller,
    ):
        yield caller
