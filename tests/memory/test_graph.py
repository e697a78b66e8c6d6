"""Links and walks: direction, caps that say so, cycles, forgetting."""

from itertools import pairwise

import pytest

from veles_core.errors import InvalidInput, NotFound
from veles_core.memory.answers import Link
from veles_core.memory.service import MemoryService


def chain(memory: MemoryService, length: int) -> list[int]:
    ids = [memory.remember(f"step {number} of the chain").id for number in range(length)]
    for source, target in pairwise(ids):
        memory.relate(source, target, "then")
    return ids


def test_a_walk_follows_outgoing_links_by_hops(memory: MemoryService) -> None:
    ids = chain(memory, 5)
    trail = memory.why("step 0 of the chain", max_hops=2)
    assert {node.id: node.hop for node in trail.nodes} == {ids[0]: 0, ids[1]: 1, ids[2]: 2}
    assert [(edge.source, edge.target) for edge in trail.edges] == [
        (ids[0], ids[1]),
        (ids[1], ids[2]),
    ]
    assert trail.truncated is False


def test_links_into_a_memory_are_not_followed(memory: MemoryService) -> None:
    ids = chain(memory, 2)
    assert [n.id for n in memory.why("step 1 of the chain").nodes] == [ids[1]]


def test_hops_are_capped_and_zero_is_the_seed_alone(memory: MemoryService) -> None:
    chain(memory, 13)
    assert len(memory.why("step 0 of the chain", max_hops=99).nodes) == 11
    assert len(memory.why("step 0 of the chain", max_hops=0).nodes) == 1


def test_cycles_end(memory: MemoryService) -> None:
    a, b = memory.remember("alpha").id, memory.remember("omega").id
    memory.relate(a, b, "to")
    memory.relate(b, a, "back")
    trail = memory.why("alpha", max_hops=10)
    assert (len(trail.nodes), len(trail.edges), trail.truncated) == (2, 2, False)


@pytest.mark.parametrize(("count", "truncated"), [(64, False), (65, True)])
def test_a_cut_at_the_degree_cap_is_told(
    memory: MemoryService, count: int, truncated: bool
) -> None:
    leaves = [memory.remember(f"leaf {number}").id for number in range(count)]
    memory.remember("the hub of it all", links=[Link(leaf, "has") for leaf in leaves])
    trail = memory.why("the hub of it all", max_hops=1)
    assert (len(trail.nodes), trail.truncated) == (65, truncated)


def test_a_cut_at_the_node_cap_is_told(memory: MemoryService) -> None:
    leaves = [memory.remember(f"leaf {number}").id for number in range(600)]
    middles = [
        memory.remember(
            f"middle {n}", links=[Link(leaf, "has") for leaf in leaves[n * 60 : n * 60 + 60]]
        ).id
        for n in range(10)
    ]
    memory.remember("root of the tree", links=[Link(middle, "has") for middle in middles])
    trail = memory.why("root of the tree", max_hops=3)
    assert (len(trail.nodes), trail.truncated) == (500, True)
    there = {node.id for node in trail.nodes}
    assert all(edge.source in there and edge.target in there for edge in trail.edges)


def test_relating_twice_is_one_edge(memory: MemoryService) -> None:
    a, b = memory.remember("a").id, memory.remember("b").id
    assert memory.relate(a, b, "see") == memory.relate(a, b, " see ")
    assert memory.memory_status().memory.edges == 1


def test_unknown_ends_are_not_found(memory: MemoryService) -> None:
    a = memory.remember("a").id
    for source, target, field in ((a, 42, "to"), (42, a, "from")):
        with pytest.raises(NotFound, match="42") as caught:
            memory.relate(source, target, "needs")
        assert caught.value.field == field


def test_unrelate_undoes_and_reports(memory: MemoryService) -> None:
    a, b = memory.remember("a").id, memory.remember("b").id
    memory.relate(a, b, "see")
    assert memory.unrelate(a, 42, "see").found is False
    assert memory.unrelate(a, b, "see").removed == 1
    assert memory.unrelate(a, b, "see").found is False
    with pytest.raises(InvalidInput, match="itself"):
        memory.unrelate(a, a, "see")


def test_forgetting_takes_the_links_both_ways(memory: MemoryService) -> None:
    ids = chain(memory, 3)
    assert memory.forget(ids[1]).found is True
    assert memory.memory_status().memory.edges == 0
    assert memory.forget(ids[1]).found is False
    assert [n.id for n in memory.why("step 0 of the chain").nodes] == [ids[0]]


def test_the_filter_scopes_only_the_seed(memory: MemoryService) -> None:
    target = memory.remember("the evidence", metadata={"project": "b"}).id
    memory.remember("the decision", metadata={"project": "a"}, links=[Link(target, "rests_on")])
    memory.remember("the decision as well", metadata={"project": "b"})
    trail = memory.why("the decision", filter={"project": "a"})
    assert [node.content for node in trail.nodes] == ["the decision", "the evidence"]


def test_nothing_remembered_has_no_reasons(memory: MemoryService) -> None:
    trail = memory.why("anything")
    assert (trail.nodes, trail.edges, trail.truncated) == ((), (), False)


def test_pages_list_every_memory_once_in_order(memory: MemoryService) -> None:
    remembered = {memory.remember(f"probe note {number}").id for number in range(39)}
    listed: list[int] = []
    cursor = None
    while True:
        page = memory.list_memories(cursor, 7)
        assert len(page.memories) <= 7
        listed += [m.id for m in page.memories]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert listed == sorted(remembered)
