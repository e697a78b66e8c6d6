"""Background duties: what one process at a time does for all that share a store.

A duty is claimed from the store; the claim dies with its holder, and another process
takes it at its next turn.
"""

import logging
import threading
from typing import Final

from veles_core.memory.live import Live, Memory

RECLAIM_SECONDS: Final = 2.0  # a dead holder's duty is taken over within this
RECLAIM_BATCH: Final = 500  # short transactions: writers of other processes wait for each

log = logging.getLogger(__name__)


class Duties:
    """A thread that reclaims expired things while this process holds the duty."""

    def __init__(self, memory: Memory) -> None:
        """Each turn works on what serves then, also if a migration hands over amid it."""
        self._memory = memory
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="veles-duties", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current batch; returns when the thread has ended."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(RECLAIM_SECONDS):
            try:
                self._memory.write(self._reclaim)
            except Exception:  # the duty must outlive one failure: a full disk, a locked store
                log.exception("reclaiming expired memories failed; trying again later")

    def _reclaim(self, live: Live) -> None:
        store = live.store
        claim = store.claim("reclaim")
        if claim is None:
            return
        with claim:
            while not self._stopped.is_set() and store.reclaim(RECLAIM_BATCH):
                pass
