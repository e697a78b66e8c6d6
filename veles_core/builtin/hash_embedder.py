"""The hash embedder: surface matching without a model (first version, being replaced)."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from typing import TYPE_CHECKING

from veles_core.records import EmbeddingIdentity

if TYPE_CHECKING:
    from veles_core.records import Matrix
from veles_core.words import terms

DIMENSION = 384


@lru_cache(maxsize=65536)
def _features(term: str) -> tuple[tuple[int, float], ...]:
    padded = f"<{term}>"
    grams = [term] + [padded[i : i + 3] for i in range(len(padded) - 2)]
    found = []
    for i, gram in enumerate(grams):
        h = int.from_bytes(hashlib.blake2b(gram.encode(), digest_size=4).digest(), "little")
        found.append((h % DIMENSION, (1.0 if h >> 31 else -1.0) * (1.0 if i == 0 else 0.3)))
    return tuple(found)


class HashEmbedder:
    """Signed hashing of terms and their trigrams to 384 dimensions."""

    identity = EmbeddingIdentity("hash-v1", DIMENSION, semantic=False)

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """One unit row a text."""
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(text):
                for slot, weight in _features(term):
                    row[slot] += weight
            norm = float(np.linalg.norm(row))
            if norm == 0.0:
                row[0] = 1.0
            else:
                row /= norm
        return rows

    def close(self) -> None:
        """Nothing to release."""
