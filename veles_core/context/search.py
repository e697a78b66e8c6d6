"""The most of something that fits: a search that counts as little text as it can."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

from veles_core.protocols import CuttingTokenizer, Tokenizer

_GOOD_ENOUGH: Final = 100  # a hundredth of the room may stay empty


def most_within(cost: Callable[[int], int], size: int, room: int, guess: int) -> tuple[int, int]:
    """An n in 1 … ``size`` whose cost is within ``room``, and that cost; (0, 0) if none is.

    ``cost`` grows with n and is expensive: the search goes on from ``guess`` in proportion
    to what it has just seen, halves every third time, and ends at the largest n or when
    less than a hundredth of the room is left.
    """
    low, spent, high = 0, 0, size + 1
    at = guess
    for step in count():
        if high - low <= 1 or (low and room - spent <= room // _GOOD_ENOUGH):
            break
        at = max(low + 1, min(high - 1, at))
        price = cost(at)
        if price <= room:
            low, spent = at, price
        else:
            high = at
        at = at * room // price if price and step % 3 < 2 else (low + high) // 2
    return low, spent


def last_end_within(
    tokenizer: Tokenizer, text: str, start: int, ends: Sequence[int], room: int
) -> tuple[int, int]:
    """The last of the ascending ``ends`` for which ``text[start:end]`` is within ``room``.

    And its tokens; (start, 0) if there is none.
    """
    if ends and isinstance(tokenizer, CuttingTokenizer):
        reach = start + tokenizer.cut(text[start : ends[-1]], room)
        ends = ends[: bisect_right(ends, reach)]

    def cost(n: int) -> int:
        return tokenizer.count(text[start : ends[n - 1]])

    n, tokens = most_within(cost, len(ends), room, len(ends))
    return (ends[n - 1], tokens) if n else (start, 0)
