"""Typed edges between memories, and the bounded walk along them that answers *why*."""

from veles_core.errors import NotFound
from veles_core.limits import MAX_WHY_EDGES, MAX_WHY_NODE_DEGREE, MAX_WHY_NODES
from veles_core.memory.answers import Node, Related, Trail, Unrelated
from veles_core.memory.facts import edge
from veles_core.protocols import Store
from veles_core.records import Edge, Fact


def relate(store: Store, source: int, target: int, relation: str) -> Related:
    """Create the edge; one that is there already is answered as it is."""
    wanted = edge(source, relation, target)
    with store.transaction():
        there = {fact.id for fact in store.get_facts([source, target])}
        for field, end in (("from", source), ("to", target)):
            if end not in there:
                raise NotFound(f"{field}: there is no memory {end}", field=field, actual=str(end))
        store.put_edges([wanted])
    return Related(wanted.id)


def unrelate(store: Store, source: int, target: int, relation: str) -> Unrelated:
    """Remove the edge; an absent one is reported, not refused."""
    unwanted = edge(source, relation, target)
    with store.transaction():
        removed = store.delete_edges([unwanted.id])
    return Unrelated(removed > 0, removed)


def walk(store: Store, seed: Fact, max_hops: int) -> Trail:
    """Breadth first from ``seed`` over outgoing edges, in the order of edge ids.

    ``truncated`` is set only when one of the caps on degree, nodes or edges cut
    something that was there.
    """
    hops = {seed.id: 0}
    edges: list[Edge] = []
    truncated = False
    frontier = [seed.id]
    for hop in range(1, max_hops + 1):
        followed, cut = _leaving(store, frontier)
        truncated |= cut
        frontier = []
        for step in followed:
            new = step.target not in hops
            if len(edges) == MAX_WHY_EDGES or (new and len(hops) == MAX_WHY_NODES):
                truncated = True
                continue
            edges.append(step)
            if new:
                hops[step.target] = hop
                frontier.append(step.target)
        if not frontier:
            break
    facts = store.get_facts(list(hops))
    nodes = tuple(Node(fact.id, fact.content, hops[fact.id]) for fact in facts)
    there = {node.id for node in nodes}
    kept = tuple(step for step in edges if step.source in there and step.target in there)
    return Trail(nodes, kept, truncated)


def _leaving(store: Store, sources: list[int]) -> tuple[list[Edge], bool]:
    """The edges to follow from each source, and whether some source had more of them."""
    counts: dict[int, int] = {}
    followed: list[Edge] = []
    for step in store.edges_from(sources, MAX_WHY_NODE_DEGREE + 1):
        counts[step.source] = counts.get(step.source, 0) + 1
        if counts[step.source] <= MAX_WHY_NODE_DEGREE:
            followed.append(step)
    return followed, any(count > MAX_WHY_NODE_DEGREE for count in counts.values())
