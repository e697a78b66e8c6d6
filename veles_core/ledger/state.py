"""The one row that stands for the whole store: counters, change sequence, provenance."""

from dataclasses import dataclass

from veles_core.errors import StoreError
from veles_core.ledger.connect import Database
from veles_core.records import EmbeddingIdentity


@dataclass(frozen=True, slots=True)
class State:
    """``token`` is drawn when the ledger is created: what derives from another isn't ours."""

    token: str
    sequence: int
    forgotten: int
    facts: int
    edges: int
    dimension: int | None


def read(db: Database) -> State:
    """The counters as they are stored, expired things included."""
    row = db.row("SELECT token, sequence, forgotten, facts, edges, dimension FROM state")
    if row is None:
        raise StoreError("the memory's database has lost its state; restore a backup")
    return State(*row)


def sequence(db: Database) -> int:
    """The sequence of the last change."""
    row = db.row("SELECT sequence FROM state")
    return row[0] if row else 0


def advance(db: Database, changes: int) -> int:
    """Reserve so many change sequences; the first of them."""
    row = db.row("UPDATE state SET sequence = sequence + ? RETURNING sequence", (changes,))
    return (row[0] if row else 0) - changes + 1


def count(db: Database, facts: int = 0, edges: int = 0) -> None:
    """Add to the counters."""
    if facts or edges:
        db.run("UPDATE state SET facts = facts + ?, edges = edges + ?", (facts, edges))


def admit_dimension(db: Database, dimension: int) -> None:
    """Refuse vectors of another length than the store's; the first one sets it."""
    known = read(db).dimension
    if known is None:
        db.run("UPDATE state SET dimension = ?", (dimension,))
    elif known != dimension:
        raise StoreError(
            f"a vector has {dimension} dimensions, the memory's have {known}; nothing was stored",
            limit=known,
            actual=dimension,
        )


def provenance(db: Database) -> EmbeddingIdentity | None:
    """What filled the store, if it was recorded."""
    row = db.row("SELECT model, dimension, semantic FROM state WHERE model IS NOT NULL")
    return EmbeddingIdentity(row[0], row[1], bool(row[2])) if row else None


def set_provenance(db: Database, identity: EmbeddingIdentity) -> None:
    """Record what fills the store."""
    if not db.rows("SELECT 1 FROM vectors LIMIT 1"):
        db.run("UPDATE state SET dimension = ?", (identity.dimension,))
    elif identity.dimension is not None:
        admit_dimension(db, identity.dimension)
    db.run("UPDATE state SET model = ?, semantic = ?", (identity.model, identity.semantic))
