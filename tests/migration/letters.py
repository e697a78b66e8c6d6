"""Another embedding model than the built-in one, and memories that can migrate to it.

Imported by the fixtures, and run as a process that dies at a given commit.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

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


def open_memory(folder: Path, letters: LetterEmbedder, grace: float = 0.0) -> MemoryService:
    """The memory in a folder, as one process opens it; the backend ``letters`` is the other."""

    def store_of(epoch: str, identity: EmbeddingIdentity | None) -> Store:
        host = Host(folder, epoch=epoch, identity=identity)
        store: Store = discover(()).open("store", "exact", host)
        return store

    def embedder_of(backend: str) -> LetterEmbedder:
        if backend != "letters":
            raise ConfigurationError(f"no embedder is called {backend!r}")
        return letters

    epochs = Epochs(store_of, embedder_of, HashEmbedder(), "hash")
    live = epochs.live()
    return MemoryService(live.store, live.embedder, epochs=epochs, grace_seconds=grace)
