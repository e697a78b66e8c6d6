"""Whether two stores hold the same memory: every id, payload, edge set and document."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from veles_core.migration.capture import UNCAPTURED
from veles_core.migration.carry import ALL_EDGES
from veles_core.migration.journal import Entry
from veles_core.protocols import Store

if TYPE_CHECKING:
    from veles_core.migration.carry import Embed

PAGE: Final = 500
SAMPLE: Final = 32  # facts whose vectors are embedded again
WITNESS: Final = "The witness of this migration is embedded again before anything relies on it."
SAME: Final = 0.999  # cosine of two embeddings of one text by one model, rounding allowed


@dataclass(frozen=True, slots=True)
class Differences:
    """What two stores disagree on: fact ids, and documents by namespace and key."""

    facts: frozenset[int] = frozenset()
    documents: frozenset[tuple[str, str]] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.facts or self.documents)

    def __or__(self, other: "Differences") -> "Differences":
        return Differences(self.facts | other.facts, self.documents | other.documents)


NOTHING: Final = Differences()


def differences(source: Store, target: Store) -> Differences:
    """Compare everything, in both directions, page by page."""
    facts: set[int] = set()
    for one, other in ((source, target), (target, source)):
        for ids in _fact_pages(one):
            facts |= different_facts(one, other, ids)
    documents: set[tuple[str, str]] = set()
    for one, other in ((source, target), (target, source)):
        for namespace in one.namespaces():
            if namespace not in UNCAPTURED:
                for keys in _document_pages(one, namespace):
                    documents |= _different_documents(one, other, namespace, keys)
    return Differences(frozenset(facts), frozenset(documents))


def still_different(source: Store, target: Store, found: Differences) -> Differences:
    """What of these differences is left now."""
    facts: set[int] = set()
    ids = sorted(found.facts)
    for start in range(0, len(ids), PAGE):
        facts |= different_facts(source, target, ids[start : start + PAGE])
    documents = {
        address
        for address in found.documents
        if _different_documents(source, target, address[0], [address[1]])
    }
    return Differences(frozenset(facts), frozenset(documents))


def touched(entries: Sequence[Entry]) -> Differences:
    """The things that journal entries are about, to be compared again."""
    return Differences(
        frozenset(entry.id for entry in entries if entry.kind in ("fact", "edges")),
        frozenset(entry.address for entry in entries if entry.kind == "document"),
    )


def different_facts(one: Store, other: Store, ids: Sequence[int]) -> set[int]:
    """Which of these facts and hubs differ in payload or in the edges leaving them."""
    digests = [_digests(store, ids) for store in (one, other)]
    return {id for id in ids if digests[0].get(id) != digests[1].get(id)}


def witness(embed: "Embed") -> tuple[float, ...]:
    """The embedding of a fixed sentence: what tells a model changed in place."""
    return tuple(float(number) for number in embed([WITNESS])[0])


def same_witness(before: Sequence[float], embed: "Embed") -> bool:
    """Whether the model still embeds the fixed sentence as it did."""
    now = witness(embed)
    return len(now) == len(before) and float(np.dot(now, before)) >= SAME


def sampled_vectors_hold(target: Store, embed: "Embed") -> bool:
    """Whether a sample of the target's vectors is what its embedder gives for the texts now."""
    # Ids are digests: the lowest ones are a sample that every process agrees on.
    ids = [fact.id for fact in target.scan_facts(None, SAMPLE)]
    records = [record for record in target.get_records(ids) if record.vector is not None]
    if len(records) < len(ids):
        return False
    if not records:
        return True
    fresh = embed([record.fact.content for record in records])
    stored = np.stack([record.vector for record in records if record.vector is not None])
    return bool((np.sum(fresh * stored, axis=1) >= SAME).all())


def _digests(store: Store, ids: Sequence[int]) -> dict[int, bytes]:
    edges: dict[int, list[int]] = {}
    for edge in store.edges_from(ids, ALL_EDGES):
        edges.setdefault(edge.source, []).append(edge.id)
    return {
        fact.id: _digest(
            fact.content,
            dict(fact.metadata),
            fact.confidence,
            fact.expires_at,
            fact.kind,
            sorted(edges.get(fact.id, ())),
        )
        for fact in store.get_facts(ids)
    }


def _digest(*parts: Any) -> bytes:
    text = json.dumps(parts, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _different_documents(
    one: Store, other: Store, namespace: str, keys: Sequence[str]
) -> set[tuple[str, str]]:
    found = [store.get_documents(namespace, keys) for store in (one, other)]
    return {(namespace, key) for key in keys if found[0].get(key) != found[1].get(key)}


def _fact_pages(store: Store) -> Iterator[list[int]]:
    after: int | None = None
    while page := store.scan_facts(after, PAGE, internal=True):
        yield [fact.id for fact in page]
        after = page[-1].id


def _document_pages(store: Store, namespace: str) -> Iterator[list[str]]:
    after: str | None = None
    while page := store.scan_documents(namespace, after, PAGE):
        yield [document.key for document in page]
        after = page[-1].key
