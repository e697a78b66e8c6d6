"""Transactions as far as Chroma lets us: what a transaction adds appears when it ends.

Chroma writes one batch of one collection at a time. So a fact that is new carries the
mark of its transaction, and nobody else sees it, nor an edge to it, until the end takes
all marks off in one batch. If the transaction fails they are deleted; if its process
dies, nobody ever sees them, and they are reclaimed after a while. Documents are written
last of all. Other facts that were there before are changed at once and stay changed.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from veles_core.clock import Clock
from veles_plugins.store_chroma.connection import Connection
from veles_plugins.store_chroma.documents import Documents
from veles_plugins.store_chroma.pending import Changes, PendingDocuments
from veles_plugins.store_chroma.rows import COMMITTED

MARKS_A_SECOND = 1_000_000  # a mark is the time at which its transaction began


class Transactions:
    """The open transaction of each thread."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self._local = threading.local()

    @property
    def mark(self) -> int:
        """The mark of this thread's transaction; COMMITTED outside of one."""
        return int(getattr(self._local, "mark", COMMITTED))

    def adds(self, purpose: str, ids: list[str]) -> None:
        """Note rows of ``facts`` or ``hubs`` that will carry the transaction's mark."""
        if self.mark != COMMITTED:
            self._local.added[purpose] += ids

    def documents(self) -> PendingDocuments:
        """The documents now, as this thread sees them."""
        now = self._clock.now()
        stored = Documents(self._connection.table("documents"), now)
        return PendingDocuments(stored, getattr(self._local, "changes", Changes()), now)

    @contextmanager
    def begin(self) -> Iterator[None]:
        """Run the outermost transaction of this thread; inner ones belong to it."""
        if self.mark != COMMITTED:
            yield
            return
        with self._connection.writing():
            self._local.mark = int(self._clock.now() * MARKS_A_SECOND)
            self._local.added = {"facts": list[str](), "hubs": list[str]()}
            self._local.changes = Changes()
            try:
                yield
                self._end(keep=True)
            except BaseException:
                self._end(keep=False)
                raise
            finally:
                self._local.mark = COMMITTED
                self._local.changes = Changes()

    def _end(self, keep: bool) -> None:
        # Hubs before facts: whoever sees a fact finds the hubs that it is about.
        for purpose in ("hubs", "facts"):
            table, ids = self._connection.table(purpose), self._local.added[purpose]
            if keep:
                table.update(ids, [{"written": COMMITTED}] * len(ids))
            else:
                table.delete(ids)
        if keep:
            self.documents().write()
