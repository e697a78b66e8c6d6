"""The hash embedder: as good as matching surfaces can be, with no model and no network."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from veles_core.records import EmbeddingIdentity
from veles_core.words import terms
from veles_core.words.small import SMALL

if TYPE_CHECKING:
    from veles_core.records import Matrix

_DIMENSION: Final = 384
_SLOTS: Final = 4  # a feature is spread over so many, so that one collision can't decide
_GRAMS_WEIGHT: Final = 3.0  # of a term's trigrams together, against 1 for the term itself
_SMALL_WEIGHT: Final = 0.2  # of a small word, against 1 for any other
_TRIGRAM: Final = re.compile(r"(?=(...))", re.DOTALL)
_PERSON: Final = b"veles-hash-v1"

_Features = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]  # slots and weights


class HashEmbedder:
    """Terms and their trigrams, hashed with signs into a unit vector.

    Texts are near if they share words, parts of names, or spelling; what a text means is
    unknown to it. The same text gives the same vector on every machine.
    """

    identity: Final = EmbeddingIdentity("hash-v1", _DIMENSION, semantic=False)

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """One unit-length float32 row a text; shape (len(texts), 384).

        All texts without a letter, digit or emoji share one vector.
        """
        rows = np.empty((len(texts), _DIMENSION), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = _vector(text)
        return rows

    def close(self) -> None:
        """Nothing to release."""


def _vector(text: str) -> npt.NDArray[np.float64]:
    counts = Counter(terms(text))
    features = [_features(term) for term in counts] or [_features("")]
    times = np.fromiter(counts.values(), np.float64) if counts else np.ones(1)
    slots = np.concatenate([slots for slots, _ in features])
    weights = np.concatenate([weights for _, weights in features])
    weights *= np.repeat(1.0 + np.log(times), [len(slots) for slots, _ in features])
    vector = np.bincount(slots, weights, _DIMENSION)
    length = float(np.sqrt(vector @ vector))
    if length < 1e-6:  # the signs of its few features cancelled out
        return _vector("")
    return vector / length


@lru_cache(maxsize=1 << 14)
def _features(term: str) -> _Features:
    """The slots of a term and of its trigrams, with signed weights."""
    grams = _TRIGRAM.findall(f"<{term}>") if len(term) > 2 else []
    digests = b"".join(map(_digest, [f"={term}", *grams]))
    numbers = np.frombuffer(digests, "<u2").astype(np.int64)
    weights = np.where(numbers & 1, 1.0, -1.0)
    weights[_SLOTS:] *= _GRAMS_WEIGHT / max(len(grams), 1) ** 0.5
    return (numbers >> 1) % _DIMENSION, weights * (_SMALL_WEIGHT if term in SMALL else 1.0)


@lru_cache(maxsize=1 << 14)
def _digest(feature: str) -> bytes:
    data = feature.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=2 * _SLOTS, person=_PERSON).digest()
