"""Compare the derived indexes and their snapshots with the ledger."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from veles_core.ledger import changes, state
from veles_core.ledger.connect import Database
from veles_core.records import Problem
from veles_core.store import snapshots
from veles_core.store.derived import BATCH, Derived
from veles_core.store.words import WordIndex


def files(folder: Path, repair: bool) -> Iterator[Problem]:
    """Snapshots that can't be read. They harm nobody; the next open rebuilds without them."""
    for path in sorted(folder.glob(f"*{snapshots.SUFFIX}")):
        wrong = snapshots.problem(path)
        if wrong is not None:
            if repair:
                path.unlink(missing_ok=True)
            yield Problem("snapshot-damaged", f"{path.name}: {wrong}", repaired=repair)


def indexes(db: Database, derived: Derived, repair: bool) -> Iterator[Problem]:
    """Every vector and every word against the facts. ``derived`` stands where ``db`` does."""
    wrong = _wrong_vectors(db, derived)
    words = _words_differ(db, derived)
    if repair and (wrong or words):
        derived.clear()
        derived.follow(db)
    if wrong:
        yield Problem(
            "vector-index", f"the vector index differs from the memory: {wrong}", repaired=repair
        )
    if words:
        yield Problem("word-index", "the word index differs from the memory", repaired=repair)


def _wrong_vectors(db: Database, derived: Derived) -> str | None:
    held = different = 0
    for facts in _all(db):
        ids = facts.ids[facts.has_vector]
        held += len(ids)
        for place, vector in enumerate(facts.vectors):
            own = float(vector.astype(np.float64) @ vector.astype(np.float64))
            (found,) = derived.vectors.similarities(vector, ids[place : place + 1])
            different += not abs(found - own) <= 1e-5
    if different:
        return f"{different} of {held} vectors are missing or others"
    if len(derived.vectors) != held:
        return f"it holds {len(derived.vectors)} vectors, the memory {held}"
    return None


def _words_differ(db: Database, derived: Derived) -> bool:
    fresh = WordIndex(None)
    for facts in _all(db):
        fresh.add(facts.ids, facts.contents, facts.expires)
    try:
        held = derived.words.entries()
    except (IndexError, ValueError):  # somebody wrote into the file that is mapped
        return True
    return not all(map(np.array_equal, fresh.entries(), held))


def _all(db: Database) -> Iterator[changes.Changed]:
    position, now = 0, state.sequence(db)
    while (facts := changes.put(db, position, now, BATCH)) is not None:
        yield facts
        position = int(facts.sequences[-1])
