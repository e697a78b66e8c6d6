"""Time as a value that is handed in, so that tests decide what it is."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final


@dataclass(frozen=True, slots=True)
class Clock:
    """Wall time in Unix seconds. ``now`` is the only source of time for stored things."""

    now: Callable[[], float] = time.time

    def today(self) -> int:
        """Today's date in local time as the integer YYYYMMDD."""
        return int(datetime.fromtimestamp(self.now()).strftime("%Y%m%d"))


SYSTEM_CLOCK: Final = Clock()
