"""Waiting for what happens in the background, with a deadline in place of a guess."""

import threading
import time
from collections.abc import Callable
from typing import Final

_POLL_SECONDS: Final = 0.005


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Return as soon as ``condition()`` is true; AssertionError if it isn't in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"it didn't come true within {seconds:g} s"
        threading.Event().wait(_POLL_SECONDS)
