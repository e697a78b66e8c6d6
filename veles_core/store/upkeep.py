"""Keeps the snapshots of the derived indexes close to the ledger, in the background.

A snapshot is due once the changes since the last one exceed an eighth of the store, so
that all saving together costs a few times the store's size however it grows. The thread
works on indexes of its own, in slices short enough not to be felt by those who call, and
one process at a time does it for all.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

from veles_core.errors import VelesError
from veles_core.ledger import state
from veles_core.ledger.connect import Database
from veles_core.store.derived import Derived

DUE_FLOOR: Final = 2048  # changes; so many are followed in well under a second
DUE_SHARE: Final = 8
QUIET_SECONDS: Final = 0.25  # without a change; then a burst of writes is over
BURST_SECONDS: Final = 10.0  # … or is not waited for any longer
SLICE: Final = 50  # facts read and split into words without a pause
PAUSE_SECONDS: Final = 0.01

log = logging.getLogger(__name__)


class Closing(Exception):
    """The store is being closed: stop where you are."""


def due(stored: int) -> int:
    """How many changes a store of so many facts may be ahead of its snapshots."""
    return max(DUE_FLOOR, stored // DUE_SHARE)


class Upkeep:
    """A thread that follows and saves once the ledger is far enough ahead of the snapshots."""

    def __init__(
        self,
        db: Database,
        open_derived: Callable[[], Derived],
        claim: Callable[[], AbstractContextManager[None] | None],
        adopt: Callable[[Derived], None],
    ) -> None:
        """``adopt`` is given indexes that come from fresh snapshots, in place of older ones."""
        self._db = db
        self._open_derived = open_derived
        self._claim = claim
        self._adopt = adopt
        self.saved_at = 0  # the change sequence that snapshots are thought to stand at
        self._seen = 0
        self._due = DUE_FLOOR
        self._wanted = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def see(self, sequence: int) -> None:
        """Take note of where the ledger stands; called with the database held."""
        self._seen = sequence
        if sequence - self.saved_at < self._due or self._closing.is_set():
            return
        self.saved_at = sequence  # look again after as many changes, whatever comes of it
        self._wanted.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="veles-upkeep", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread; a save under way is finished, a catching up given up."""
        self._closing.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            try:
                self._await_quiet()
                self._renew()
            except Closing:
                return
            except VelesError as error:
                log.warning("snapshots were not written: %s", error)
            except Exception:
                log.exception("snapshots were not written")

    def _await_quiet(self) -> None:
        patience = time.monotonic() + BURST_SECONDS
        seen = None
        while seen != self._seen and time.monotonic() < patience:
            seen = self._seen
            self._wait(QUIET_SECONDS)

    def _renew(self) -> None:
        """Adopt newer snapshots of another process, or write some."""
        with self._db.reading():
            stored = state.read(self._db)
        self._due = due(stored.facts)
        derived = self._open_derived()
        if stored.sequence - derived.position >= self._due:
            claim = self._claim()
            if claim is None:  # another process is at it; its snapshots are adopted next time
                derived.close()
                return
            with claim:
                self._follow(derived)
                derived.save()
            reached = derived.position
            derived.close()
            derived = self._open_derived()
            if derived.position < reached:  # an index that keeps nothing on disk
                derived.close()
                return
        self._follow(derived)
        self._adopt(derived)

    def _follow(self, derived: Derived) -> None:
        derived.follow(self._db, SLICE, lambda: self._wait(PAUSE_SECONDS))

    def _wait(self, seconds: float) -> None:
        if self._closing.wait(seconds):
            raise Closing
