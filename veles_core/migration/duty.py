"""The right to run the migration of a memory: one process at a time holds it."""

import time
from contextlib import AbstractContextManager
from typing import Final

from veles_core.protocols import Store

DUTY: Final = "migration"
TRIES: Final = 50
PAUSE_SECONDS: Final = 0.02


def take(store: Store, tries: int = TRIES) -> AbstractContextManager[None] | None:
    """Hold the right, or None if somebody else goes on holding it.

    Whoever asks whether it is taken holds it for a moment; several tries outlast that.
    """
    for attempt in range(tries):
        if attempt:
            time.sleep(PAUSE_SECONDS)
        claim = store.claim(DUTY)
        if claim is not None:
            return claim
    return None


def is_taken(store: Store, tries: int = 1) -> bool:
    """Whether somebody holds it; one try may meet another who only asks."""
    claim = take(store, tries)
    if claim is None:
        return True
    with claim:
        return False
