"""Memories on real stores that can migrate to another model."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from veles_core.builtin.hash_embedder import HashEmbedder
from veles_core.hookspecs import Host
from veles_core.memory.service import MemoryService
from veles_core.plugins import discover

sys.path.insert(0, str(Path(__file__).parent))
from letters import LetterEmbedder
from letters import open_memory as opened_memory


@pytest.fixture
def letters() -> LetterEmbedder:
    return LetterEmbedder()


@pytest.fixture
def open_memory(tmp_path: Path, letters: LetterEmbedder) -> Iterator[Callable[..., MemoryService]]:
    """Open the memory in the test's folder, as one process would; more than once if asked."""
    opened: list[MemoryService] = []

    def opening(grace: float = 0.0) -> MemoryService:
        opened.append(opened_memory(tmp_path, letters, grace))
        return opened[-1]

    yield opening
    for memory in opened:
        memory.close()


@pytest.fixture
def fixed_memory(tmp_path: Path) -> Iterator[MemoryService]:
    embedder = HashEmbedder()
    store = discover(()).open("store", "exact", Host(tmp_path, identity=embedder.identity))
    with MemoryService(store, embedder) as memory:
        yield memory
