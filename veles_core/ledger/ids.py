"""Unsigned ids in SQLite's signed integers: minus 2^63, so that both orders agree."""

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from veles_core.protocols import Ids

OFFSET: Final = 1 << 63


def signed(id: int) -> int:
    """The stored form of an id."""
    return id - OFFSET


def unsigned(stored: int) -> int:
    """The id of a stored form."""
    return stored + OFFSET


def unsigned_array(stored: Iterable[tuple[Any, ...]]) -> "Ids":
    """The ids of one-column rows, in their order."""
    numbers = np.array(list(chain.from_iterable(stored)), np.int64)
    return numbers.view(np.uint64) ^ np.uint64(OFFSET)
