"""How the halves of a recall become one order. Pure functions over a pool of candidates."""

from typing import Final

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.float64]
_DECIMALS: Final = 9  # keys closer than this are equal, so that rounding never decides an order
_LARGEST: Final = 1e15  # a boost may be any number; beyond this nothing else would count


def hybrid_keys(similarities: npt.ArrayLike, word_scores: npt.ArrayLike) -> _Numbers:
    """Cosine similarity and BM25 of a pool as one key in [0, 1] each; shape (count,).

    BM25 has no scale of its own, so it counts as a share of the pool's best. A similarity
    has one and counts as it is, negative ones as 0: an embedder that found nothing near
    then leaves the order to the words. A fact with no similarity and no shared word gets
    0. ``benchmarks/locomo.py`` measures what this is worth.
    """
    words = np.asarray(word_scores, np.float64)
    best = words.max(initial=0.0)
    shares = words / best if best > 0 else words
    return (np.clip(np.asarray(similarities, np.float64), 0.0, 1.0) + shares) / 2


def bend(keys: npt.ArrayLike, confidences: npt.ArrayLike) -> _Numbers:
    """Keys raised or lowered by up to half by learned confidences in [0, 1]; 0.5 is neutral."""
    return np.asarray(keys, np.float64) * (1 + 0.5 * (2 * np.asarray(confidences, np.float64) - 1))


def order(ids: npt.NDArray[np.uint64], keys: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """The positions from the highest key to the lowest; equal keys by the lower id."""
    bounded = np.clip(np.asarray(keys, np.float64), -_LARGEST, _LARGEST)
    return np.lexsort((ids, -np.round(bounded, _DECIMALS)))
