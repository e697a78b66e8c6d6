"""Numbers that came from elsewhere, checked until they are vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from veles_core.errors import BackendRefused

if TYPE_CHECKING:
    from veles_core.records import Matrix


def unit_rows(vectors: object, count: int, dimension: int | None, source: str) -> "Matrix":
    """``count`` vectors of a decoded JSON answer as unit-length float32 rows, order kept.

    ``dimension`` is the length they must have; None takes whatever length they share.
    Raises BackendRefused, beginning with ``source``, for anything that is not as many
    vectors of finite numbers, or has no direction.
    """
    if not isinstance(vectors, list) or len(vectors) != count:
        found = len(vectors) if isinstance(vectors, list) else "no"
        raise BackendRefused(f"{source} returned {found} vectors where {count} were asked for")
    for vector in vectors:
        _check(vector, source)
        _check_length(vector, dimension or len(vectors[0]), source)
    try:
        rows = np.array(vectors, dtype=np.float64)
    except OverflowError:
        raise BackendRefused(
            f"{source} returned a vector with a number beyond all bounds"
        ) from None
    if not np.isfinite(rows).all():
        raise BackendRefused(f"{source} returned a vector with a number that is not finite")
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise BackendRefused(f"{source} returned a vector of zeros, which has no direction")
    rows /= largest  # so that no square overflows or vanishes
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _check(vector: object, source: str) -> None:
    if not isinstance(vector, list) or not vector:
        found = "an empty list" if vector == [] else f"a JSON {type(vector).__name__}"
        raise BackendRefused(f"{source} returned {found} in place of a vector")
    if strangers := _strangers(vector):
        raise BackendRefused(f"{source} returned a vector that holds {strangers}, not numbers")


def _check_length(vector: Sequence[object], dimension: int, source: str) -> None:
    if len(vector) != dimension:
        raise BackendRefused(
            f"{source} returned a vector of {len(vector)} numbers where {dimension} were expected",
            limit=dimension,
            actual=len(vector),
        )


def _strangers(vector: Sequence[object]) -> str:
    """The JSON types in it that aren't numbers: a boolean or a text must not become one."""
    names = {type(None): "null", bool: "booleans", str: "texts", list: "lists", dict: "objects"}
    kinds = set(map(type, vector)) - {int, float}
    return " and ".join(sorted(names.get(kind, kind.__name__) for kind in kinds))
