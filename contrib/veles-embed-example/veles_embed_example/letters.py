"""The embedder itself: counts of pairs of letters, hashed into a vector."""

import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from veles_core import EmbeddingIdentity


class LetterPairs:
    """Texts that share pairs of letters are alike. No meaning is known: semantic is False."""

    def __init__(self, dimension: int) -> None:
        # The model's name must change whenever its vectors do: a store remembers it.
        self.identity = EmbeddingIdentity(f"letter-pairs-{dimension}", dimension, semantic=False)
        self._dimension = dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One unit row a text, in order."""
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            padded = f" {text} "
            for pair in pairwise(padded):
                row[zlib.crc32("".join(pair).encode()) % self._dimension] += 1.0
            row /= np.linalg.norm(row)
        return rows

    def close(self) -> None:
        """Nothing to release."""
