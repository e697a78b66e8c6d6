"""Frozen data that crosses the seams between layers and plugins.

Ids are unsigned 64-bit integers, times are Unix seconds, vectors are float32 arrays of
unit length, metadata is plain JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from veles_core.limits import INITIAL_CONFIDENCE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]  # shape (dimension,)
    Matrix = npt.NDArray[np.float32]  # shape (count, dimension)

Metadata = Mapping[str, Any]
FactKind = Literal["fact", "entity"]
Op = Literal["eq", "ne", "lt", "le", "gt", "ge"]

ABOUT = "about"  # fact → hub, written by extraction
MENTIONS = "mentions"  # hub → fact, its way back


@dataclass(frozen=True, slots=True)
class EmbeddingIdentity:
    """What fills a store: the model's name, the vectors' length, and whether it knows meaning.

    ``dimension`` is None as long as a remote service has not been asked.
    """

    model: str
    dimension: int | None
    semantic: bool = True


@dataclass(frozen=True, slots=True)
class Fact:
    """One memory, or the hub of an entity (scaffolding, which has no vector).

    ``metadata`` holds the caller's keys, ``_veles_date`` and other reserved ``_veles_*``
    keys. ``expires_at`` is None for a permanent fact; the fact is gone from that instant on.
    """

    id: int
    content: str
    metadata: Metadata = field(default_factory=dict)
    confidence: float = INITIAL_CONFIDENCE
    expires_at: float | None = None
    kind: FactKind = "fact"


@dataclass(frozen=True, slots=True)
class FactRecord:
    """A fact together with its vector, as it is written and copied. Hubs have none."""

    fact: Fact
    vector: "Vector | None"


@dataclass(frozen=True, slots=True)
class Edge:
    """``source`` *relation* ``target``, directed. ``id`` derives from the three."""

    id: int
    source: int
    relation: str
    target: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: a fact's id and its score (cosine similarity, or BM25)."""

    id: int
    score: float


@dataclass(frozen=True, slots=True)
class Predicate:
    """``field op value`` over a fact's metadata, type-strict, never coerced.

    Numbers compare exactly as numbers whether int or float, strings by code point,
    booleans, null and nested values only by (structural) equality. ``ne`` is the
    complement of ``eq`` over all visible facts. With ``through_hubs`` the metadata of
    each entity hub that the fact has an ``about`` edge to counts as well.
    """

    field: str
    op: Op
    value: Any
    through_hubs: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """One entry of a namespace of the store: bytes under a key, gone at ``expires_at``."""

    key: str
    value: bytes
    expires_at: float | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many visible facts (hubs not counted) and visible edges a store holds.

    ``edges`` is None if the store can't count them without reading them all.
    """

    facts: int
    edges: int | None


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of ``check()``: a stable ``code``, a sentence, and the facts concerned."""

    code: str
    message: str
    ids: tuple[int, ...] = ()
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """One atomic fact found in a passage, and the entities it is about."""

    content: str
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed edge between two entities, in the direction the passage states it."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """``key = value`` of an entity; ``value`` is any JSON value."""

    entity: str
    key: str
    value: Any


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor found in one passage, each list in the passage's order."""

    facts: tuple[ExtractedFact, ...] = ()
    relations: tuple[Relation, ...] = ()
    attributes: tuple[Attribute, ...] = ()
