"""Two embedders of different models, and memories on real stores that can migrate."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veles_core.builtin.hash_embedder import HashEmbedder
from veles_core.errors import ConfigurationError
from veles_core.hookspecs import Host
from veles_core.memory.service import MemoryService
from veles_core.migration.epochs import Epochs
from veles_core.plugins import discover
from veles_core.protocols import Store
from veles_core.records import EmbeddingIdentity


class LetterEmbedder:
    """Another model: it sees letters and their neighbours, in 64 dimensions."""

    def __init__(self, seed: str = "letters", model: str = "letters-64") -> None:
        self.identity = EmbeddingIdentity(model, 64, semantic=False)
        self.texts = 0
        self.fail: Exception | None = None
        self._seed = seed

    def embed(self, texts: Sequence[str]) -> Any:
        if self.fail is not None:
            raise self.fail
        self.texts += len(texts)
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for pair in zip(" " + text, text + " ", strict=True):
                digest = hashlib.blake2b((self._seed + "".join(pair)).encode(), digest_size=2)
                row[int.from_bytes(digest.digest()) % 64] += 1.0
            row /= np.linalg.norm(row)
        return rows

    def close(self) -> None:
        pass


@pytest.fixture
def letters() -> LetterEmbedder:
    return LetterEmbedder()


@pytest.fixture
def open_memory(tmp_path: Path, letters: LetterEmbedder) -> Iterator[Callable[..., MemoryService]]:
    """Open the memory in the test's folder, as one process would; more than once if asked."""
    opened: list[MemoryService] = []

    def store_of(epoch: str, identity: EmbeddingIdentity | None) -> Store:
        host = Host(tmp_path, epoch=epoch, identity=identity)
        store: Store = discover(()).open("store", "exact", host)
        return store

    def embedder_of(backend: str) -> LetterEmbedder:
        if backend != "letters":
            raise ConfigurationError(f"no embedder is called {backend!r}")
        return letters

    def opening(grace: float = 0.0) -> MemoryService:
        embedder = HashEmbedder()
        epochs = Epochs(store_of, embedder_of, embedder, "hash")
        live = epochs.live()
        memory = MemoryService(live.store, live.embedder, epochs=epochs, grace_seconds=grace)
        opened.append(memory)
        return memory

    yield opening
    for memory in opened:
        memory.close()


@pytest.fixture
def memory_without_epochs(tmp_path: Path) -> Iterator[MemoryService]:
    embedder = HashEmbedder()
    store = discover(()).open("store", "exact", Host(tmp_path, identity=embedder.identity))
    with MemoryService(store, embedder) as memory:
        yield memory
