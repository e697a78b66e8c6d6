"""WordLlama: the mean of its tokens' vectors, trained to be compared. No window, no order."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from veles_core.records import EmbeddingIdentity
from veles_plugins.embed_local.weights import folder, tensors, tokenizer

if TYPE_CHECKING:
    from veles_core.records import Matrix

INSTALL: Final = "pip install 'veles-memory[local]'"


class WordLlama:
    """The 256-dimensional model inside the wheel of wordllama."""

    def __init__(self) -> None:
        home = folder("wordllama", INSTALL)
        self._tokenizer = tokenizer(home / "tokenizers" / "l2_supercat_tokenizer_config.json")
        self._table = tensors(home / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]

    @property
    def identity(self) -> EmbeddingIdentity:
        """The model; its dimension is that of its table."""
        return EmbeddingIdentity("wordllama-l2-supercat", self._table.shape[1])

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """One unit row a text, in order."""
        rows = np.empty((len(texts), self._table.shape[1]), np.float32)
        # An empty text has no token, and so no vector; a space has one.
        encoded = self._tokenizer.encode_batch(
            [text or " " for text in texts], add_special_tokens=False
        )
        for row, encoding in zip(rows, encoded, strict=True):
            row[:] = self._table[encoding.ids].sum(axis=0, dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def close(self) -> None:
        """Nothing to release but memory."""
