"""The derived indexes of a ledger, followed change by change."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from veles_core.errors import StoreError
from veles_core.ledger import changes, state
from veles_core.ledger.connect import Database
from veles_core.protocols import VectorIndex
from veles_core.store.words import WordIndex

if TYPE_CHECKING:
    from veles_core.protocols import Ids

BATCH: Final = 1000

log = logging.getLogger(__name__)

OpenIndex = Callable[[Path], VectorIndex]


class Derived:
    """A vector index and a word index that are brought to where the ledger stands.

    Not safe for concurrent use: its owner holds a lock, or keeps it to one thread.
    """

    def __init__(self, vectors: VectorIndex, words: WordIndex) -> None:
        self.vectors = vectors
        self.words = words

    @classmethod
    def open(cls, folder: Path, open_index: OpenIndex) -> "Derived":
        """Both indexes as their snapshots in ``folder`` have them, empty if there are none."""
        return cls(open_index(folder / "vectors"), WordIndex(folder / "words"))

    @property
    def position(self) -> int:
        """The change sequence that both have reached."""
        return min(self.vectors.position, self.words.position)

    def follow(
        self, db: Database, batch: int = BATCH, pause: Callable[[], None] = lambda: None
    ) -> int:
        """Apply what changed, reading ``batch`` facts at a time; how many changes there were.

        ``pause`` is called between batches, when the database is not held.
        """
        applied = 0
        while True:
            with db.reading():
                now = state.sequence(db)
                if self.vectors.position == self.words.position == now:
                    return applied
                deleted = self._prepare(db, now)
            for index, ids in deleted:
                index.remove(ids)
            applied += now - self.position
            while self._step(db, now, batch):
                pause()

    def _prepare(self, db: Database, now: int) -> "list[tuple[VectorIndex | WordIndex, Ids]]":
        """What each index has to remove; one that can't catch up starts from nothing."""
        deleted: list[tuple[VectorIndex | WordIndex, Ids]] = []
        for index in (self.vectors, self.words):
            # A ledger restored from a backup is behind; one far ahead has forgotten deletions.
            if index.position > now or changes.forgotten(db, index.position):
                log.warning("an index can't follow the ledger and is built anew")
                index.clear()
            if index.position:
                deleted.append((index, changes.deleted(db, index.position)))
        return deleted

    def _step(self, db: Database, now: int, batch: int) -> bool:
        """Apply one batch of facts; False once both indexes stand at ``now``."""
        with db.reading():
            facts = changes.put(db, self.position, now, batch)
        reached = now if facts is None else int(facts.sequences[-1])
        if facts is not None:
            self._add_vectors(facts)
            self._add_words(facts)
        for index in (self.vectors, self.words):
            index.advance(max(index.position, reached))
        return facts is not None

    def _add_vectors(self, facts: changes.Changed) -> None:
        fresh = facts.sequences > self.vectors.position
        self.vectors.remove(facts.ids[fresh & ~facts.has_vector])
        added = fresh & facts.has_vector
        if added.any():
            self.vectors.add(facts.ids[added], facts.vectors[added[facts.has_vector]])

    def _add_words(self, facts: changes.Changed) -> None:
        fresh = np.flatnonzero(facts.sequences > self.words.position)
        if len(fresh):
            contents = [facts.contents[place] for place in fresh]
            self.words.add(facts.ids[fresh], contents, facts.expires[fresh])

    def save(self) -> None:
        """Write the snapshots of both; raises StoreError if the disk is full or failing."""
        try:
            self.words.save()
            self.vectors.save()
        except OSError as error:
            raise StoreError(
                f"the index could not be saved ({error.strerror}); it will be rebuilt from the "
                "memory when needed: free some space"
            ) from error

    def clear(self) -> None:
        """Forget everything, the snapshots included."""
        self.words.clear()
        self.vectors.clear()

    def close(self) -> None:
        """Release memory and files."""
        self.vectors.close()
