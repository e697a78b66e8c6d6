"""The derived indexes of a ledger, followed change by change."""

from pathlib import Path

import numpy as np

from veles_core.ledger import changes, state
from veles_core.ledger.connect import Database
from veles_core.protocols import VectorIndex
from veles_core.store.snapshots import SUFFIX
from veles_core.store.words import WordIndex


class Derived:
    """A vector index and a word index that stand, or are brought, where the ledger stands."""

    def __init__(self, vectors: VectorIndex, words: WordIndex) -> None:
        self.vectors = vectors
        self.words = words

    def follow(self, db: Database) -> None:
        """Apply what changed since; cheap if nothing did. The caller holds a read of ``db``."""
        now = state.sequence(db)
        if self.vectors.position == self.words.position == now:
            return
        for index in (self.vectors, self.words):
            # A ledger restored from a backup is behind; one far ahead has forgotten deletions.
            if index.position > now or changes.forgotten(db, index.position):
                index.clear()
        deleted = {
            position: changes.deleted(db, position)
            for position in {self.vectors.position, self.words.position} - {0}
        }
        for index in (self.vectors, self.words):
            if index.position in deleted:
                index.remove(deleted[index.position])
        for batch in changes.changed(db, min(self.vectors.position, self.words.position)):
            self._add_vectors(batch)
            self._add_words(batch)
        self.vectors.advance(now)
        self.words.advance(now)

    def _add_vectors(self, batch: changes.Changed) -> None:
        fresh = batch.sequences > self.vectors.position
        self.vectors.remove(batch.ids[fresh & ~batch.has_vector])
        kept = fresh & batch.has_vector
        if kept.any():
            self.vectors.add(batch.ids[kept], batch.vectors[kept[batch.has_vector]])

    def _add_words(self, batch: changes.Changed) -> None:
        fresh = np.flatnonzero(batch.sequences > self.words.position)
        if len(fresh):
            contents = [batch.contents[place] for place in fresh]
            self.words.add(batch.ids[fresh], contents, batch.expires[fresh])

    def close(self) -> None:
        """Release memory and files."""
        self.vectors.close()


def snapshot_paths(folder: Path, token: str) -> tuple[Path, Path]:
    """Where the vectors' and the words' snapshots of one ledger are.

    Its token is in the names: what derives from a ledger that was here before isn't ours.
    """
    return folder / f"vectors-{token}{SUFFIX}", folder / f"words-{token}{SUFFIX}"
