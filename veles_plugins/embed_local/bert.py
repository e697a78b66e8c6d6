"""The forward pass of a small BERT encoder in numpy.

Texts of different lengths are stacked without padding: the dense layers see one tall
matrix of all their tokens, and attention looks at each text's rows alone.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

EPSILON: Final = np.float32(1e-12)  # layer_norm_eps of the model's configuration


class Bert:
    """An encoder with ``heads`` attention heads, from tensors under BERT's usual names."""

    def __init__(self, tensors: Mapping[str, "npt.NDArray[Any]"], layers: int, heads: int) -> None:
        embeddings = "embeddings."
        self._words = tensors[embeddings + "word_embeddings.weight"]
        # Every text is a first segment, so its type's vector can be added to the positions.
        self._positions = (
            tensors[embeddings + "position_embeddings.weight"]
            + tensors[embeddings + "token_type_embeddings.weight"][0]
        )
        self._norm = _Norm(tensors, embeddings + "LayerNorm")
        self._layers = [_Layer(tensors, f"encoder.layer.{n}.", heads) for n in range(layers)]

    def mean_pooled(self, sequences: Sequence[Sequence[int]]) -> "Array":
        """The mean of the last layer's rows of each sequence of token ids; (sequences, width)."""
        lengths = np.array([len(sequence) for sequence in sequences])
        ends = np.cumsum(lengths)
        spans = list(zip((ends - lengths).tolist(), ends.tolist(), strict=True))
        tokens = np.concatenate([np.asarray(sequence, np.int64) for sequence in sequences])
        places = np.concatenate([np.arange(length) for length in lengths])
        x = self._norm(self._words[tokens] + self._positions[places])
        for layer in self._layers:
            x = layer(x, spans)
        pooled: Array = np.add.reduceat(x, ends - lengths, axis=0) / lengths[:, None]
        return pooled.astype(np.float32)


class _Dense:
    """``x @ weight.T + bias``, of one layer or of several side by side."""

    def __init__(self, tensors: Mapping[str, "npt.NDArray[Any]"], *names: str) -> None:
        weights = np.concatenate([tensors[name + ".weight"] for name in names])
        self._weight: Array = np.ascontiguousarray(weights.T)
        self._bias: Array = np.concatenate([tensors[name + ".bias"] for name in names])

    def __call__(self, x: "Array") -> "Array":
        y: Array = x @ self._weight
        y += self._bias
        return y


class _Norm:
    def __init__(self, tensors: Mapping[str, "npt.NDArray[Any]"], name: str) -> None:
        self._weight: Array = tensors[name + ".weight"]
        self._bias: Array = tensors[name + ".bias"]

    def __call__(self, x: "Array") -> "Array":
        x = x - x.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x)[:, None] / np.float32(x.shape[1])
        x *= self._weight / np.sqrt(variance + EPSILON)
        x += self._bias
        return x


class _Layer:
    """Attention and the feed-forward part, each added to what went in and normalised."""

    def __init__(self, tensors: Mapping[str, "npt.NDArray[Any]"], prefix: str, heads: int) -> None:
        self._heads = heads
        attention = prefix + "attention.self."
        self._attend = _Dense(tensors, attention + "query", attention + "key", attention + "value")
        self._attended = _Dense(tensors, prefix + "attention.output.dense")
        self._first_norm = _Norm(tensors, prefix + "attention.output.LayerNorm")
        self._widen = _Dense(tensors, prefix + "intermediate.dense")
        self._narrow = _Dense(tensors, prefix + "output.dense")
        self._second_norm = _Norm(tensors, prefix + "output.LayerNorm")

    def __call__(self, x: "Array", spans: Sequence[tuple[int, int]]) -> "Array":
        projected = self._attend(x)
        context = np.empty_like(x)
        for start, end in spans:
            context[start:end] = self._attention(projected[start:end])
        x = self._first_norm(x + self._attended(context))
        return self._second_norm(x + self._narrow(_gelu(self._widen(x))))

    def _attention(self, projected: "Array") -> "Array":
        """Scaled dot-product attention of one text; (tokens, 3·width) → (tokens, width)."""
        length = len(projected)
        parts = projected.reshape(length, 3, self._heads, -1).transpose(1, 2, 0, 3)
        query, key, value = parts
        scores: Array = query @ key.transpose(0, 2, 1)
        scores *= np.float32(1 / np.sqrt(query.shape[-1]))
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        context: Array = (scores @ value).transpose(1, 0, 2).reshape(length, -1)
        return context


def _gelu(x: "Array") -> "Array":
    """x·Φ(x) with the error function of Abramowitz and Stegun 7.1.26 (absolute error 1.5e-7)."""
    size = np.abs(x)
    t = np.reciprocal(np.float32(1) + np.float32(0.3275911 / np.sqrt(2)) * size)
    tail = np.float32(1.061405429) * t
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(coefficient)
        tail *= t
    tail *= np.exp(np.float32(-0.5) * size * size)
    tail *= np.float32(0.5) * size
    y: Array = np.maximum(x, 0) - tail
    return y
