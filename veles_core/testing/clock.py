"""A clock that stands still until a test moves it."""

from typing import Final

from veles_core.clock import Clock

NOON: Final = 1_750_000_000.0  # where a fresh clock stands: some day in June 2025


class SettableClock(Clock):
    """Wall time that moves only by ``advance`` and ``set``, in Unix seconds."""

    _hand: list[float]

    def __init__(self, seconds: float = NOON) -> None:
        hand = [seconds]
        super().__init__(now=lambda: hand[0])
        object.__setattr__(self, "_hand", hand)  # a Clock is frozen; what its hand shows isn't

    def set(self, seconds: float) -> None:
        """Stand at this instant from now on."""
        self._hand[0] = seconds

    def advance(self, seconds: float) -> None:
        """Move on by this much."""
        self._hand[0] += seconds
