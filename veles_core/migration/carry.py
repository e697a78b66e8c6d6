"""Bringing things to what the source says of them now: the one step of copy and replay.

Each function is idempotent and may run again over the same ids after a kill.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from veles_core.errors import StoreError
from veles_core.protocols import Store
from veles_core.records import Edge, FactRecord

if TYPE_CHECKING:
    from veles_core.records import Matrix

    Embed = Callable[[Sequence[str]], Matrix]

ALL_EDGES: Final = 2**31


def carry_facts(source: Store, target: Store, ids: Sequence[int], embed: "Embed") -> None:
    """Make these facts and hubs in the target what they are in the source, absent ones absent.

    Only texts that the target doesn't have yet are embedded, before its transaction.
    """
    there = {fact.id: fact for fact in source.get_facts(ids)}
    known = {record.fact.id: record for record in target.get_records(list(there))}
    vectors = {
        id: record.vector
        for id, record in known.items()
        if record.fact.content == there[id].content and record.vector is not None
    }
    fresh = [fact for fact in there.values() if fact.kind == "fact" and fact.id not in vectors]
    if fresh:
        embedded = embed([fact.content for fact in fresh])
        vectors |= {fact.id: row for fact, row in zip(fresh, embedded, strict=True)}
    with target.transaction():
        target.put_facts([FactRecord(fact, vectors.get(fact.id)) for fact in there.values()])
        gone = [id for id in ids if id not in there]
        if gone:
            target.delete_facts(gone)


def carry_edges(source: Store, target: Store, sources: Sequence[int], cap: int) -> int:
    """Make the edges leaving these memories in the target what they are in the source.

    Answers how many of them have edges. Raises StoreError if one has more than ``cap``.
    """
    wanted = _by_id(source.edges_from(sources, cap + 1))
    counts: dict[int, int] = {}
    for edge in wanted.values():
        counts[edge.source] = counts.get(edge.source, 0) + 1
        if counts[edge.source] > cap:
            raise StoreError(
                f"the memory {edge.source} has more than edge_cap = {cap} links; cancel this "
                "migration and start it again with a larger edge_cap",
                limit=cap,
            )
    ends = {fact.id for fact in target.get_facts(sorted({e.target for e in wanted.values()}))}
    have = _by_id(target.edges_from(sources, ALL_EDGES))
    missing = [e for id, e in wanted.items() if id not in have and e.target in ends]
    surplus = [id for id in have if id not in wanted]
    if missing or surplus:
        with target.transaction():
            target.put_edges(missing)
            target.delete_edges(surplus)
    return len(counts)


def carry_documents(source: Store, target: Store, namespace: str, keys: Sequence[str]) -> None:
    """Make these documents of a namespace in the target what they are in the source."""
    there = source.get_documents(namespace, keys)
    with target.transaction():
        if there:
            target.put_documents(namespace, list(there.values()))
        gone = [key for key in keys if key not in there]
        if gone:
            target.delete_documents(namespace, gone)


def _by_id(edges: Sequence[Edge]) -> dict[int, Edge]:
    return {edge.id: edge for edge in edges}
