"""The tools as an agent meets them: a real client before a real memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.serving import Caller, connect, connected, service
from veles_core.builtin.hash_embedder import HashEmbedder
from veles_core.clock import SYSTEM_CLOCK, Clock
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


@contextmanager
def built_in(directory: Path, clock: Clock = SYSTEM_CLOCK) -> Iterator[Caller]:
    """A client of a memory made of built-in parts alone; it is embedded and can't migrate."""
    embedder, registry = HashEmbedder(), discover(())
    host = Host(directory, clock=clock, identity=embedder.identity)
    store = registry.open("store", "exact", host)
    tokenizer = registry.open("tokenizer", "heuristic", host)
    with (
        MemoryService(store, embedder, clock=clock, tokenizer=tokenizer) as memory,
        connected(lambda: memory) as caller,
    ):
        yield caller


@pytest.fixture
def timed(tmp_path: Path, clock: SettableClock) -> Iterator[Caller]:
    """A client of a memory whose time the test moves."""
    with built_in(tmp_path, clock) as caller:
        yield caller


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """One client for all calls of a file that must be refused, since they store nothing."""
    with built_in(tmp_path_factory.mktemp("memory")) as caller:
        yield caller
