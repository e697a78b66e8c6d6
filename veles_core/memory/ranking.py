"""How the halves of a recall become one order. Pure functions over a pool of candidates."""

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.float64]
_DECIMALS = 9  # keys closer than this are equal, so that rounding never decides an order


def hybrid_keys(similarities: npt.ArrayLike, word_scores: npt.ArrayLike) -> _Numbers:
    """Cosine similarity and BM25 of a pool as keys in [0, 1]; shape (count,).

    Each half is divided by its largest value in the pool, then they are averaged. What
    has nothing in common with the query (no similarity above 0, no word) gets 0.
    """
    return (_share(similarities) + _share(word_scores)) / 2


def bend(keys: npt.ArrayLike, confidences: npt.ArrayLike) -> _Numbers:
    """Keys raised or lowered by up to half by learned confidences in [0, 1]; 0.5 is neutral."""
    return np.asarray(keys, np.float64) * (1 + 0.5 * (2 * np.asarray(confidences, np.float64) - 1))


def order(ids: npt.NDArray[np.uint64], keys: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """The positions from the highest key to the lowest; equal keys by the lower id."""
    return np.lexsort((ids, -np.round(np.asarray(keys, np.float64), _DECIMALS)))


def _share(values: npt.ArrayLike) -> _Numbers:
    positive = np.maximum(np.asarray(values, np.float64), 0.0)
    top = positive.max(initial=0.0)
    return positive / top if top > 0 else positive
