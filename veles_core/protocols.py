"""What a backend has to do. Narrow, synchronous; optional abilities are protocols of their own.

Implementations need not inherit from anything here. ``veles_core.testing`` holds the
contract tests that state every promise made below.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from veles_core.records import (
    Counts,
    Document,
    Edge,
    EmbeddingIdentity,
    Extraction,
    Fact,
    FactRecord,
    Hit,
    Predicate,
    Problem,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from veles_core.records import Matrix, Vector

    Ids = npt.NDArray[np.uint64]  # shape (count,)


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def identity(self) -> EmbeddingIdentity:
        """Model, dimension (None until known) and whether it knows meaning. Contacts nobody."""
        ...

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """One unit-length float32 row a text, in order; shape (len(texts), dimension).

        Raises BackendUnavailable (try again) or BackendRefused (don't); never returns a
        row that is not a vector.
        """
        ...

    def close(self) -> None:
        """Release connections and memory; later calls are errors."""
        ...


@runtime_checkable
class QueryEmbedder(Protocol):
    """An embedder whose model wants queries embedded in another way than documents."""

    def embed_query(self, text: str) -> "Vector":
        """The unit vector of one query."""
        ...


class Tokenizer(Protocol):
    """Counts tokens. Pure: the same text always gives the same count."""

    def count(self, text: str) -> int:
        """How many tokens a model sees in ``text``, or a number that is never below that."""
        ...


@runtime_checkable
class CuttingTokenizer(Protocol):
    """A tokenizer that can cut faster than by counting prefixes."""

    def cut(self, text: str, limit: int) -> int:
        """The largest prefix length in characters whose count is at most ``limit``."""
        ...


class Extractor(Protocol):
    """Finds facts, topics, relations and attributes in a passage."""

    def extract(self, text: str) -> Extraction:
        """Everything found, in the passage's order.

        Raises InvalidInput if the text itself is malformed, BackendUnavailable if trying
        again may help, BackendRefused if it won't.
        """
        ...

    def close(self) -> None:
        """Release connections and memory."""
        ...


class Store(Protocol):
    """Keeps facts, edges and documents, and finds facts by vector and by predicate.

    Promises, for every implementation:

    - A write is durable when the call returns, or when the outermost ``transaction()``
      around it ends without an exception; if that ends with one, nothing of it remains.
    - An expired thing (``expires_at <= host.clock.now()``) is in no answer, from that
      instant on, whether or not it has been reclaimed. An edge is visible while both
      its ends are.
    - Facts of kind ``entity`` are returned by ``get_facts`` and the edge methods, and by
      ``scan_facts`` only if asked; they are never counted, searched or matched.
    - Ids are unsigned: scans ascend from 0 to 2^64-1.
    - Orders are total: equal scores are broken by the lower id.
    - All methods may be called from several threads.
    """

    def transaction(self) -> AbstractContextManager[None]:
        """Make the calls inside one atomic write, isolated from other writers. Re-entrant."""
        ...

    def put_facts(self, records: Sequence[FactRecord]) -> None:
        """Insert, or replace by id, facts with their vectors. Their edges stay."""
        ...

    def get_facts(self, ids: Sequence[int]) -> list[Fact]:
        """The visible ones of these facts and hubs, in the order asked."""
        ...

    def get_records(self, ids: Sequence[int]) -> list[FactRecord]:
        """As ``get_facts``, with vectors."""
        ...

    def set_confidence(self, fact_id: int, confidence: float) -> bool:
        """Set the learned confidence of a visible fact; False if there is none."""
        ...

    def delete_facts(self, ids: Sequence[int]) -> int:
        """Delete facts or hubs and all their edges; how many were visible."""
        ...

    def scan_facts(
        self,
        after: int | None,
        limit: int,
        predicates: Sequence[Predicate] = (),
        internal: bool = False,
    ) -> list[Fact]:
        """Up to ``limit`` visible facts with ids above ``after``, ascending.

        Fewer than ``limit`` means the end. ``internal`` adds entity hubs.
        """
        ...

    def search(self, vector: "Vector", k: int, predicates: Sequence[Predicate] = ()) -> list[Hit]:
        """The ``k`` visible facts most similar to ``vector`` among those matching all predicates.

        Exactly ``min(k, matching)`` hits, by cosine similarity descending, then id.
        Predicates are applied before the search, never after it.
        """
        ...

    def similarities(self, vector: "Vector", ids: Sequence[int]) -> list[float]:
        """Cosine similarity to each of these facts, in the order asked; NaN without a vector.

        A fact may have gone between two calls: it is one without a vector then.
        """
        ...

    def count(self) -> Counts:
        """How many visible facts and edges there are, without reading them all."""
        ...

    def put_edges(self, edges: Sequence[Edge]) -> None:
        """Insert edges; one whose id is there already stays as it is."""
        ...

    def delete_edges(self, ids: Sequence[int]) -> int:
        """Delete edges by id; how many visible ones there were."""
        ...

    def edges_from(self, sources: Sequence[int], limit: int) -> list[Edge]:
        """Visible edges leaving each source, at most ``limit`` a source.

        Grouped in the order of ``sources``; within one, by edge id ascending.
        """
        ...

    def edges_to(self, targets: Sequence[int], limit: int) -> list[Edge]:
        """Visible edges entering each target; otherwise as ``edges_from``."""
        ...

    def entity_edges(self, hub: int, incoming: bool, limit: int) -> list[Edge]:
        """Up to ``limit`` visible edges leaving (or entering) a hub, by id ascending.

        Left out are its ``mentions`` edges to facts and the ``about`` edges of facts to it,
        however many those are: what remains says something about the entity itself.
        """
        ...

    def put_documents(self, namespace: str, documents: Sequence[Document]) -> None:
        """Insert, or replace by key, documents of a namespace."""
        ...

    def get_documents(self, namespace: str, keys: Sequence[str]) -> dict[str, Document]:
        """The visible ones of these documents, by key."""
        ...

    def delete_documents(self, namespace: str, keys: Sequence[str]) -> int:
        """Delete documents; how many visible ones there were."""
        ...

    def scan_documents(self, namespace: str, after: str | None, limit: int) -> list[Document]:
        """Up to ``limit`` visible documents with keys above ``after``, by key ascending."""
        ...

    def namespaces(self) -> list[str]:
        """The namespaces that hold a document, ascending."""
        ...

    def provenance(self) -> EmbeddingIdentity | None:
        """What filled the store; None before the first vector."""
        ...

    def set_provenance(self, identity: EmbeddingIdentity) -> None:
        """Record what fills the store."""
        ...

    def reclaim(self, limit: int) -> int:
        """Free the space of up to ``limit`` expired things; how many there were."""
        ...

    def claim(self, duty: str) -> AbstractContextManager[None] | None:
        """Hold a background duty that one process at a time may do, or None if it is held.

        The claim ends with its context, or when the process dies however it dies.
        """
        ...

    def check(self, repair: bool = False) -> list[Problem]:
        """Compare everything stored and derived with what it should be; empty if all is well.

        ``repair`` mends what can be mended without losing a fact. Facts without a vector
        are reported with the code ``vector-missing``.
        """
        ...

    def compact(self) -> None:
        """Give the space of what was deleted back to the system, as far as it can be."""
        ...

    def dispose(self) -> None:
        """Close, and remove this epoch with everything in it. Other epochs stay."""
        ...

    def close(self) -> None:
        """Release everything; idempotent."""
        ...


@runtime_checkable
class WordSearch(Protocol):
    """A store that also finds facts by their words (BM25 over ``veles_core.words`` terms)."""

    def search_words(self, query: str, k: int, predicates: Sequence[Predicate] = ()) -> list[Hit]:
        """Up to ``k`` visible facts sharing a term with ``query``, by BM25 descending, then id."""
        ...

    def word_scores(self, query: str, ids: Sequence[int]) -> list[float]:
        """BM25 of each of these visible facts, in the order asked; 0 without a shared term."""
        ...


class VectorIndex(Protocol):
    """Finds the nearest of a set of vectors. Knows nothing of facts; may forget everything.

    The ledger owns the truth and calls ``add`` and ``remove`` as it changes; ``position``
    is the change sequence the index has followed it to. An index that has a snapshot on
    disk comes back at the snapshot's position; a damaged one comes back empty, at 0.
    """

    @property
    def position(self) -> int:
        """The change sequence up to which the index is current."""
        ...

    def advance(self, position: int) -> None:
        """Record that everything up to ``position`` has been applied."""
        ...

    def add(self, ids: "Ids", vectors: "Matrix") -> None:
        """Insert, or replace by id, unit vectors."""
        ...

    def remove(self, ids: "Ids") -> None:
        """Remove by id; absent ones are no error."""
        ...

    def search(
        self, vector: "Vector", k: int, allowed: "Ids | None" = None, excluded: "Ids | None" = None
    ) -> tuple["Ids", "Vector"]:
        """The ``k`` nearest ids and their cosine similarities, best first, ties by id.

        ``allowed`` and ``excluded`` are sorted; exactly min(k, eligible) come back.
        """
        ...

    def similarities(self, vector: "Vector", ids: "Ids") -> "Vector":
        """Cosine similarity to each of these ids; NaN for an absent one."""
        ...

    def __len__(self) -> int:
        """How many vectors it holds."""
        ...

    def save(self) -> None:
        """Write a snapshot that a later open starts from, replacing the last one atomically."""
        ...

    def clear(self) -> None:
        """Forget everything, snapshot included; position 0."""
        ...

    def close(self) -> None:
        """Release memory and files."""
        ...


class Progress(Protocol):
    """Told how far a long command has come."""

    def __call__(self, done: int, total: int | None) -> None:
        """``done`` of ``total`` (None if unknown)."""
        ...
