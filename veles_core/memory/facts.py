"""Facts: checked first, embedded next, written last, by the rules of remembering.

``draft`` is pure and refuses bad input before anything is embedded. ``write`` runs
inside a transaction of the store and merges the draft with what is there.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from veles_core.clock import Clock
from veles_core.errors import InvalidInput, NotFound, StoreError
from veles_core.ids import edge_id, fact_id, identity_text
from veles_core.limits import (
    CONFIDENCE_PENALTY,
    CONFIDENCE_REWARD,
    INITIAL_CONFIDENCE,
    MAX_RELATION_BYTES,
    MAX_TTL_SECONDS,
)
from veles_core.memory import entities, provenance, working
from veles_core.memory.answers import Forgotten, Link, Reinforced
from veles_core.memory.live import Live
from veles_core.memory.metadata import DATE, DATE_GIVEN, checked_metadata
from veles_core.memory.text import byte_length, checked_text
from veles_core.protocols import Embedder, Store
from veles_core.records import Edge, Fact, FactRecord

if TYPE_CHECKING:
    from veles_core.records import Matrix


@dataclass(frozen=True, slots=True)
class Draft:
    """A fact that passed every check and is ready to be embedded and written."""

    id: int
    content: str
    metadata: Mapping[str, Any]
    expires_at: float | None
    edges: tuple[Edge, ...]


def draft(
    fact: str,
    *,
    clock: Clock,
    links: Sequence[Link] = (),
    metadata: Mapping[str, Any] | None = None,
    ttl_seconds: int | None = None,
) -> Draft:
    """Check one fact with everything given along with it; raises InvalidInput."""
    content = checked_text(fact, "fact")
    id = fact_id(content)
    checked = checked_metadata(metadata)
    edges = tuple(edge(id, link.relation, link.target, field="links") for link in links)
    checked.setdefault(DATE, clock.today())
    return Draft(id, content, checked, expiry(ttl_seconds, clock), edges)


def write(store: Store, drafts: Sequence[Draft], vectors: "Matrix") -> None:
    """Write drafts inside the caller's transaction; raises NotFound for an unknown link target.

    A fact that is there keeps its first text, its confidence, its edges and a date that
    was given for it; everything else becomes what its draft says.
    """
    for drafted in drafts:
        check_targets(store, drafted)
    there = {fact.id: fact for fact in store.get_facts([drafted.id for drafted in drafts])}
    written = [_merged(drafted, there.get(drafted.id)) for drafted in drafts]
    store.put_facts([FactRecord(fact, row) for fact, row in zip(written, vectors, strict=True)])
    for fact in written:
        if fact.id in there:
            entities.prolong(store, fact)
    edges = [edge for drafted in drafts for edge in drafted.edges]
    if edges:
        store.put_edges(edges)


def _merged(drafted: Draft, earlier: Fact | None) -> Fact:
    """The fact as it will be stored, given what is there under its id."""
    metadata = dict(drafted.metadata)
    content, confidence = drafted.content, INITIAL_CONFIDENCE
    if earlier is not None:
        if earlier.kind != "fact" or identity_text(earlier.content) != identity_text(content):
            raise StoreError(
                f"the id {drafted.id} already holds another text; nothing was overwritten: "
                "reword the fact"
            )
        content, confidence = earlier.content, earlier.confidence
        if earlier.metadata.get(DATE_GIVEN) and not metadata.get(DATE_GIVEN):
            metadata |= {DATE: earlier.metadata[DATE], DATE_GIVEN: True}
    return Fact(drafted.id, content, metadata, confidence, drafted.expires_at)


def check_targets(store: Store, drafted: Draft) -> None:
    """Refuse the draft if a link's target is not there (any more)."""
    if not drafted.edges:
        return
    wanted = [edge.target for edge in drafted.edges]
    there = {fact.id for fact in store.get_facts(wanted)}
    for target in wanted:
        if target not in there:
            raise NotFound(
                f"links: there is no memory {target} to link to; nothing was stored",
                field="links",
                actual=str(target),
            )


def edge(source: int, relation: str, target: int, field: str = "relation") -> Edge:
    """The edge that a caller asks for; refuses bad labels and an edge from a memory to itself."""
    label = checked_relation(relation, field)
    if source == target:
        raise InvalidInput(
            f"{field}: a memory can't be linked to itself ({source})",
            field=field,
            actual=str(source),
        )
    return Edge(edge_id(source, label, target), source, label, target)


def checked_relation(relation: str, field: str = "relation") -> str:
    """A relation's label, trimmed: 1 to 512 bytes without control characters."""
    label = relation.strip()
    size = byte_length(label, field)
    if not 1 <= size <= MAX_RELATION_BYTES:
        raise InvalidInput(
            f"{field}: a relation is a label of 1 to {MAX_RELATION_BYTES} bytes, such as "
            f"caused_by; this one has {size}",
            field=field,
            limit=MAX_RELATION_BYTES,
            actual=size,
        )
    if any(unicodedata.category(char) == "Cc" for char in label):
        raise InvalidInput(f"{field}: a relation holds no control characters", field=field)
    return label


def expiry(ttl_seconds: int | None, clock: Clock) -> float | None:
    """When a fact with this lifetime expires; None for a permanent one."""
    if ttl_seconds is None:
        return None
    if isinstance(ttl_seconds, bool) or not isinstance(ttl_seconds, int):
        raise InvalidInput("ttl_seconds must be an integer", field="ttl_seconds")
    if not 1 <= ttl_seconds <= MAX_TTL_SECONDS:
        raise InvalidInput(
            f"ttl_seconds must be from 1 to {MAX_TTL_SECONDS}; leave it out for a permanent fact",
            field="ttl_seconds",
            limit=MAX_TTL_SECONDS,
            actual=str(ttl_seconds)[:40],
        )
    return clock.now() + ttl_seconds


def write_all(store: Store, embedder: Embedder, drafts: Sequence[Draft]) -> None:
    """Embed drafts, then write them all in one transaction or none."""
    vectors = embedder.embed([drafted.content for drafted in drafts])
    with store.transaction():
        provenance.confirm(store, embedder.identity, vectors.shape[1])
        write(store, drafts, vectors)


def forget(store: Store, id: int) -> Forgotten:
    """Delete a memory with its links; an unknown id is reported, not refused."""
    with store.transaction():
        return Forgotten(id, entities.forget(store, id) or working.forget(store, id))


def reinforce(store: Store, id: int, success: bool) -> Reinforced:
    """Move a fact's confidence one step up or down, rounded so that sequences are exact."""
    with store.transaction():
        found = [fact for fact in store.get_facts([id]) if fact.kind == "fact"]
        if not found:
            raise NotFound(f"id: there is no memory {id}", field="id", actual=str(id))
        step = CONFIDENCE_REWARD if success else -CONFIDENCE_PENALTY
        confidence = round(min(1.0, max(0.0, found[0].confidence + step)), 6)
        store.set_confidence(id, confidence)
    return Reinforced(id, confidence)


def embed_again(live: Live, ids: Sequence[int]) -> None:
    """Give stored facts new vectors; everything else of them stays."""
    store, embedder = live.store, live.embedder
    batch = store.get_facts(ids)
    if not batch:
        return
    vectors = embedder.embed([fact.content for fact in batch])
    with store.transaction():
        provenance.confirm(store, embedder.identity, vectors.shape[1])
        store.put_facts([FactRecord(f, row) for f, row in zip(batch, vectors, strict=True)])
