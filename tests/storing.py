"""Facts to put into a store, and how the tests open one."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from veles_core.records import Fact, FactRecord
from veles_core.store import LedgerStore

if TYPE_CHECKING:
    from veles_core.records import Vector

DIMENSION = 32

Open = Callable[[], LedgerStore]


def vector(seed: int) -> "Vector":
    """A random direction, the same for the same seed."""
    direction = np.random.default_rng(seed).normal(size=DIMENSION)
    return (direction / np.linalg.norm(direction)).astype(np.float32)


def word(n: int) -> str:
    """A word that only the fact of this number holds."""
    return "q" + "".join(chr(ord("a") + int(digit)) for digit in str(n)) + "q"


def records(*numbers: int, text: str = "fact", **parts: Any) -> list[FactRecord]:
    """Facts by number: each has its own vector, a word of its own (``word``), and fields."""
    return [
        FactRecord(
            Fact(n, f"{text} {word(n)} of many", {"n": n, "odd": bool(n % 2)}, **parts),
            vector(n),
        )
        for n in numbers
    ]
