"""The entity graph: hubs for named things, and what facts and relations say about them.

A hub is a record of kind ``entity`` without a vector: its content is ``Entity: <name>``,
its metadata holds the entity's attributes. A fact is *about* its topics' hubs, and each
of them *mentions* the fact; a relation is an edge from hub to hub. A hub lives as long as
the longest-lived fact that ever named it, and goes with the last fact that mentions it.

All writers here run inside the caller's transaction.
"""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from veles_core.errors import InvalidInput, StoreError
from veles_core.findings import checked_name
from veles_core.ids import edge_id, entity_id, entity_name
from veles_core.limits import MAX_ENTITY_RELATIONS, MAX_METADATA_BYTES
from veles_core.memory.answers import EntityRelation, EntityView
from veles_core.protocols import Store
from veles_core.records import ABOUT, MENTIONS, Attribute, Edge, Fact, FactRecord, Relation

PREFIX: Final = "Entity: "
_ALL: Final = 2**31 - 1  # edges: all of them


@dataclass(frozen=True, slots=True)
class Mention:
    """A stored fact, until when it lives, and the names of the entities it is about."""

    fact: int
    topics: Sequence[str]
    expires_at: float | None = None


def connect(
    store: Store,
    mentions: Sequence[Mention],
    relations: Sequence[Relation] = (),
    attributes: Sequence[Attribute] = (),
    expires_at: float | None = None,
) -> None:
    """Write what facts are about, how entities relate, and what is known of them.

    ``expires_at`` is until when relations and attributes hold. Of two values for one
    attribute the later wins. Raises InvalidInput if an entity's attributes outgrow what
    one record may hold.
    """
    names: dict[int, str] = {}
    lives: dict[int, float | None] = {}
    changes: dict[int, dict[str, Any]] = {}

    def hub(name: str, until: float | None) -> int:
        id = entity_id(name)
        names.setdefault(id, name)
        lives[id] = _later(lives[id], until) if id in lives else until
        return id

    edges: list[Edge] = []
    for mention in mentions:
        for topic in mention.topics:
            id = hub(topic, mention.expires_at)
            edges += [_edge(mention.fact, ABOUT, id), _edge(id, MENTIONS, mention.fact)]
    for relation in relations:
        source, target = hub(relation.subject, expires_at), hub(relation.object, expires_at)
        edges.append(_edge(source, relation.predicate, target))
    for attribute in attributes:
        id = hub(attribute.entity, expires_at)
        changes.setdefault(id, {})[attribute.key] = attribute.value
    _put_hubs(store, names, lives, changes)
    store.put_edges(edges)


def prolong(store: Store, fact: Fact) -> None:
    """Let the hubs of a fact that was remembered again live as long as it does."""
    hubs = store.get_facts(_hubs_of(store, fact.id))
    longer = [
        replace(hub, expires_at=fact.expires_at)
        for hub in hubs
        if _later(hub.expires_at, fact.expires_at) != hub.expires_at
    ]
    store.put_facts([FactRecord(hub, None) for hub in longer])


def forget(store: Store, id: int) -> bool:
    """Delete a fact and every entity that nothing mentions any more; whether it was there.

    With an entity go its relations; an entity at their other end that is left with no
    edge at all goes too. The id of a hub deletes that entity.
    """
    hub = any(fact.kind == "entity" for fact in store.get_facts([id]))
    touched = [] if hub else _hubs_of(store, id)
    found = store.delete_facts([] if hub else [id]) > 0 or hub
    orphans = [id] if hub else [topic for topic in touched if not _is_mentioned(store, topic)]
    related = _neighbours(store, orphans)
    store.delete_facts(orphans)
    bare = [end for end in related if not store.edges_from([end], 1) + store.edges_to([end], 1)]
    store.delete_facts(bare)
    return found


def view(store: Store, name: str) -> EntityView:
    """Everything known of the entity that ``name`` names, whatever its case, width or spacing.

    Raises InvalidInput if it can't be a name.
    """
    try:
        asked = checked_name(name, "an entity's name")
    except InvalidInput as error:
        raise InvalidInput(
            f"name: {error.message}", field="name", limit=error.limit, actual=error.actual
        ) from None
    shown = asked.lower()
    hubs = [hub for hub in store.get_facts([entity_id(asked)]) if hub.kind == "entity"]
    if not hubs:
        return EntityView(False, 0, shown)
    hub = hubs[0]
    relations, cut = _relations(store, hub.id, incoming=False)
    relations_in, cut_in = _relations(store, hub.id, incoming=True)
    if not (hub.metadata or relations or relations_in or _is_mentioned(store, hub.id)):
        return EntityView(False, 0, shown)  # all that mentioned it has expired
    return EntityView(True, hub.id, shown, dict(hub.metadata), relations, relations_in, cut, cut_in)


def bare_name(content: str) -> str:
    """A hub's content without its prefix; other content as it is."""
    return content.removeprefix(PREFIX)


def _put_hubs(
    store: Store,
    names: Mapping[int, str],
    lives: Mapping[int, float | None],
    changes: Mapping[int, dict[str, Any]],
) -> None:
    """Insert hubs that are new and update those whose attributes or life changed."""
    there = {fact.id: fact for fact in store.get_facts(list(names))}
    records: list[FactRecord] = []
    for id, name in names.items():
        earlier = there.get(id)
        if earlier is None:
            hub = Fact(id, PREFIX + _shown(name), {}, expires_at=lives[id], kind="entity")
        else:
            _check_same(earlier, name)
            hub = replace(earlier, expires_at=_later(earlier.expires_at, lives[id]))
        if id in changes:
            hub = replace(hub, metadata=_merged(name, hub.metadata, changes[id]))
        if hub != earlier:
            records.append(FactRecord(hub, None))
    store.put_facts(records)


def _check_same(hub: Fact, name: str) -> None:
    if hub.kind != "entity" or entity_name(bare_name(hub.content)) != entity_name(name):
        raise StoreError(f"the id {hub.id} already holds something else; nothing was overwritten")


def _merged(name: str, known: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**known, **new}
    size = len(json.dumps(merged, ensure_ascii=False).encode())
    if size > MAX_METADATA_BYTES:
        raise InvalidInput(
            f"the attributes of {name[:80]!r} are {size} bytes as JSON; at most "
            f"{MAX_METADATA_BYTES} are kept: move content into facts",
            field="text",
            limit=MAX_METADATA_BYTES,
            actual=size,
        )
    return merged


def _relations(store: Store, hub: int, incoming: bool) -> tuple[tuple[EntityRelation, ...], bool]:
    """The typed edges of a hub in one direction, and whether there are more of them."""
    edges = store.entity_edges(hub, incoming, MAX_ENTITY_RELATIONS + 1)
    ends = [edge.source if incoming else edge.target for edge in edges[:MAX_ENTITY_RELATIONS]]
    names = {fact.id: bare_name(fact.content) for fact in store.get_facts(ends)}
    found = (
        EntityRelation(e.relation, end, names[end])
        for e, end in zip(edges[: len(ends)], ends, strict=True)
        if end in names
    )
    return tuple(found), len(edges) > MAX_ENTITY_RELATIONS


def _hubs_of(store: Store, fact_id: int) -> list[int]:
    """The hubs that a fact is about."""
    edges = store.edges_from([fact_id], _ALL)
    ends = [edge.target for edge in edges if edge.relation == ABOUT]
    return [fact.id for fact in store.get_facts(ends) if fact.kind == "entity"]


def _is_mentioned(store: Store, hub: int) -> bool:
    """Whether any fact is about the hub; reads few of its edges unless none is."""
    limit, seen = 16, 0
    while True:
        edges = store.edges_to([hub], limit)
        ends = [edge.source for edge in edges[seen:] if edge.relation == ABOUT]
        if any(fact.kind == "fact" for fact in store.get_facts(ends)):
            return True
        if len(edges) < limit:
            return False
        seen, limit = limit, limit * 16


def _neighbours(store: Store, hubs: Sequence[int]) -> list[int]:
    """The other hubs that relations link these ones with."""
    edges = [e for hub in hubs for incoming in (False, True)
             for e in store.entity_edges(hub, incoming, _ALL)]  # fmt: skip
    ends = {end for edge in edges for end in (edge.source, edge.target)} - set(hubs)
    return [fact.id for fact in store.get_facts(sorted(ends)) if fact.kind == "entity"]


def _edge(source: int, relation: str, target: int) -> Edge:
    return Edge(edge_id(source, relation, target), source, relation, target)


def _later(one: float | None, other: float | None) -> float | None:
    """The later of two expiries; None is never."""
    return None if one is None or other is None else max(one, other)


def _shown(name: str) -> str:
    """A name as a hub shows it: whatever spelling came first, its twins are written alike."""
    return " ".join(unicodedata.normalize("NFKC", name).lower().split())
