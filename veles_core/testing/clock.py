"""A clock that stands still until a test moves it."""

from typing import Final

from veles_core.clock import Clock

NOON: Final = 1_750_000_000.0  # where a fresh clock stands: some day in June 2025


class SettableClock(Clock):
    """Wall time that moves only by ``advance`` and ``set``, in Unix seconds."""

    def __init__(self, seconds: float = NOON) -> None:
        self.seconds = seconds
        super().__init__(now=lambda: self.seconds)

    def set(self, seconds: float) -> None:
        """Stand at this instant from now on."""
        self.seconds = seconds

    def advance(self, seconds: float) -> None:
        """Move on by this much."""
        self.seconds += seconds
