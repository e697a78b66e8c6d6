"""The entity graph over a real store: written, merged, viewed, and collected when forgotten."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core import ids
from veles_core.errors import InvalidInput
from veles_core.hookspecs import Host
from veles_core.memory import entities
from veles_core.memory.answers import EntityRelation, EntityView
from veles_core.memory.entities import Mention
from veles_core.memory.service import MemoryService
from veles_core.plugins import discover
from veles_core.protocols import Store
from veles_core.records import (
    Attribute,
    Edge,
    EmbeddingIdentity,
    Fact,
    FactRecord,
    Op,
    Predicate,
    Relation,
)
from veles_core.testing.clock import SettableClock

Connect = Callable[..., None]


@pytest.fixture
def store(memory: MemoryService) -> Store:
    return memory.live().store


@pytest.fixture
def connect(memory: MemoryService, store: Store) -> Connect:
    """Write a graph as a job does; facts are remembered first."""

    def write(
        facts: dict[str, list[str]] | None = None,
        relations: list[tuple[str, str, str]] | None = None,
        attributes: list[tuple[str, str, object]] | None = None,
        ttl: int | None = None,
        until: float | None = None,
    ) -> None:
        mentions = []
        for text, topics in (facts or {}).items():
            id = memory.remember(text, ttl_seconds=ttl).id
            (fact,) = store.get_facts([id])
            mentions.append(Mention(id, topics, fact.expires_at))
        with store.transaction():
            entities.connect(
                store,
                mentions,
                [Relation(*r) for r in relations or []],
                [Attribute(*a) for a in attributes or []],
                until,
            )

    return write


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """A store of short vectors, for tests that write many."""
    host = Host(folder, identity=EmbeddingIdentity("test", 4))
    store: Store = discover(()).open("store", "exact", host)
    yield store
    store.close()


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One that examples empty behind them: opening one for each would take too long."""
    with opened(tmp_path_factory.mktemp("shared")) as store:
        yield store


def names(relations: tuple[EntityRelation, ...]) -> list[tuple[str, str]]:
    return sorted((relation.predicate, relation.name) for relation in relations)


def test_an_unknown_name_is_echoed_as_it_would_be_known(store: Store) -> None:
    assert entities.view(store, "  Theo \t DURAND ") == EntityView(False, 0, "theo durand")


def test_an_entity_shows_what_is_known_of_it_in_both_directions(
    store: Store, connect: Connect
) -> None:
    connect(
        {"Theo repaired the pump": ["Theo Durand"]},
        [("Theo Durand", "frère de", "Camille"), ("Camille", "sœur de", "theo durand")],
        [("Theo Durand", "age", 15), ("theo  durand", "role", "engineer")],
    )
    theo = entities.view(store, "THEO DURAND")
    assert theo.found
    assert theo.id == ids.entity_id("Theo Durand")
    assert theo.attributes == {"age": 15, "role": "engineer"}
    camille = ids.entity_id("camille")
    assert theo.relations == (EntityRelation("frère de", camille, "camille"),)
    assert theo.relations_in == (EntityRelation("sœur de", camille, "camille"),)
    assert not theo.relations_truncated
    assert not theo.relations_in_truncated


def test_spellings_of_one_name_are_one_entity(store: Store, connect: Connect) -> None:
    connect(
        {
            "The gateway moved to port 8443": ["Edge Gateway"],
            "The gateway logs rotate daily": ["  edge   gateway"],
            "The gateway belongs to platform": ["ＥＤＧＥ Gateway"],
        },
        [("EDGE GATEWAY", "depends on", "Auth Service")],
        [("edge gateway", "region", "north")],
    )
    gateway = entities.view(store, " eDgE  GaTeWaY ")
    assert (gateway.found, gateway.name) == (True, "edge gateway")
    assert gateway.attributes == {"region": "north"}
    assert names(gateway.relations) == [("depends on", "auth service")]
    auth = entities.view(store, "auth service")
    assert auth.relations == ()
    assert names(auth.relations_in) == [("depends on", "edge gateway")]
    assert len(store.scan_facts(None, 99, internal=True)) == 3 + 2


def test_the_first_spelling_makes_the_hub_but_twins_are_written_alike(
    store: Store, connect: Connect
) -> None:
    connect(relations=[("ＥＤＧＥ  Gate", "needs", "Straße")])
    contents = sorted(fact.content for fact in store.scan_facts(None, 9, internal=True))
    assert contents == ["Entity: edge gate", "Entity: straße"]
    assert entities.view(store, "STRASSE").found


def test_the_last_value_of_an_attribute_wins(store: Store, connect: Connect) -> None:
    connect(attributes=[("a", "k", 1), ("A", "k", 2), ("a", "other", None)])
    assert entities.view(store, "a").attributes == {"k": 2, "other": None}
    connect(attributes=[("a", "k", [3])])
    assert entities.view(store, "a").attributes == {"k": [3], "other": None}


def test_attributes_that_outgrow_a_record_are_refused(store: Store, connect: Connect) -> None:
    connect(attributes=[("a", "k", "x" * 40_000)])
    with pytest.raises(InvalidInput, match="at most 65536"):
        connect(attributes=[("a", "other", "x" * 40_000)])
    assert list(entities.view(store, "a").attributes) == ["k"]


def test_scaffolding_is_no_relation_whatever_relations_are_called(
    store: Store, connect: Connect
) -> None:
    connect({"f": ["report"]}, [("report", "mentions", "client"), ("client", "about", "report")])
    report = entities.view(store, "report")
    assert names(report.relations) == [("mentions", "client")]
    assert names(report.relations_in) == [("about", "client")]


def test_a_link_made_by_hand_is_shown_with_the_facts_text(
    memory: MemoryService, store: Store, connect: Connect
) -> None:
    connect({"The pump leaks": ["pump"]})
    fact = memory.remember("Ticket 88 is open").id
    memory.relate(ids.entity_id("pump"), fact, "tracked by")
    assert names(entities.view(store, "pump").relations) == [("tracked by", "Ticket 88 is open")]


@pytest.mark.parametrize("count", [64, 65, 200])
def test_a_list_is_cut_at_its_cap_and_says_so(store: Store, connect: Connect, count: int) -> None:
    connect(relations=[("hub", "links", f"n{i}") for i in range(count)])
    connect(relations=[(f"n{i}", "links back", "hub") for i in range(3)])
    hub = entities.view(store, "hub")
    assert len(hub.relations) == 64
    assert hub.relations_truncated is (count > 64)
    edges = [ids.edge_id(hub.id, "links", relation.id) for relation in hub.relations]
    assert edges == sorted(edges)
    assert len(hub.relations_in) == 3
    assert not hub.relations_in_truncated


def test_an_entity_of_100_000_mentions_answers_fast_and_whole(tmp_path: Path) -> None:
    vector = np.ones(4, np.float32) / 2
    facts = [Fact(n, f"fact {n}") for n in range(100_000)]
    with opened(tmp_path) as store:
        with store.transaction():
            store.put_facts([FactRecord(fact, vector) for fact in facts])
            entities.connect(
                store,
                [Mention(fact.id, ["Busy"]) for fact in facts],
                [Relation("Busy", f"uses {n}", "Thing") for n in range(5)],
                [Attribute("Busy", "size", "large")],
            )
        taken = []
        for _ in range(5):
            began = time.perf_counter()
            busy = entities.view(store, "busy")
            taken.append(time.perf_counter() - began)
    assert min(taken) < 0.020
    assert (len(busy.relations), busy.relations_truncated) == (5, False)
    assert (busy.relations_in, busy.relations_in_truncated) == ((), False)


@pytest.mark.parametrize("name", ["", "  ", "x" * 513, "\ud800", "a\x00b"])
def test_what_can_be_no_name_is_refused(store: Store, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        entities.view(store, name)
    assert refused.value.field == "name"


# --- forgetting --------------------------------------------------------------------------


def test_an_entity_goes_with_the_last_fact_that_mentions_it(
    memory: MemoryService, store: Store, connect: Connect
) -> None:
    first, second = "The invoice job retries three times", "The invoice job runs at dawn"
    connect({first: ["Invoice Job", "Retries"], second: ["Invoice Job"]})
    ticket = memory.remember("Ticket 88 asked for retries").id
    memory.relate(ticket, ids.fact_id(first), "led_to")
    assert memory.forget(ids.fact_id(first)).found
    assert not entities.view(store, "Retries").found
    assert entities.view(store, "Invoice Job").found
    trail = memory.why("Ticket 88 asked for retries")
    assert [node.id for node in trail.nodes] == [ticket]
    assert (trail.edges, trail.truncated) == ((), False)
    assert memory.forget(ids.fact_id(second)).found
    assert memory.forget(ticket).found
    assert not memory.forget(ticket).found
    assert not entities.view(store, "Invoice Job").found
    assert (store.count().facts, store.count().edges) == (0, 0)
    assert store.scan_facts(None, 9, internal=True) == []
    assert store.check() == []


def test_with_an_entity_go_its_relations_and_what_only_they_named(
    memory: MemoryService, store: Store, connect: Connect
) -> None:
    connect({"f": ["a"], "g": ["c"]}, [("a", "r", "b"), ("c", "r", "a"), ("b", "r", "a")])
    memory.forget(ids.fact_id("f"))
    assert [entities.view(store, name).found for name in "abc"] == [False, False, True]
    assert entities.view(store, "c").relations == ()


def test_what_others_relate_to_stays_with_them(
    memory: MemoryService, store: Store, connect: Connect
) -> None:
    connect({"f": ["a"], "g": ["c"]}, [("a", "r", "b"), ("c", "r", "b")])
    memory.forget(ids.fact_id("f"))
    assert not entities.view(store, "a").found
    assert names(entities.view(store, "b").relations_in) == [("r", "c")]


def test_a_hub_with_thousands_of_relations_is_still_mentioned(
    memory: MemoryService, store: Store, connect: Connect
) -> None:
    connect({"f": ["hub", "x"], "g": ["hub"]}, [(f"n{i}", "points at", "hub") for i in range(5000)])
    memory.forget(ids.fact_id("f"))
    assert entities.view(store, "hub").found
    memory.forget(ids.fact_id("g"))
    assert not entities.view(store, "hub").found
    assert store.count().edges == 0


def test_forgetting_a_hub_by_its_id_ends_the_entity(
    memory: MemoryService, store: Store, connect: Connect
) -> None:
    connect({"f": ["a"]}, [("a", "r", "b")])
    assert memory.forget(ids.entity_id("a")).found
    assert not entities.view(store, "a").found
    assert not entities.view(store, "b").found
    assert [fact.content for fact in store.scan_facts(None, 9, internal=True)] == ["f"]


# --- expiry ------------------------------------------------------------------------------


def test_an_entity_expires_with_the_facts_that_mention_it(
    store: Store, connect: Connect, clock: SettableClock
) -> None:
    connect({"short": ["a", "b"]}, ttl=10)
    connect({"long": ["b"]}, ttl=100)
    clock.advance(10)
    assert not entities.view(store, "a").found
    assert entities.view(store, "b").found
    clock.advance(90)
    assert not entities.view(store, "b").found
    assert store.count().edges == 0


def test_a_fact_remembered_for_longer_keeps_its_entities(
    memory: MemoryService, store: Store, connect: Connect, clock: SettableClock
) -> None:
    connect({"f": ["a"]}, ttl=10)
    memory.remember("f")
    clock.advance(1000)
    assert entities.view(store, "a").found


def test_an_entity_that_only_expired_facts_named_is_not_found(
    memory: MemoryService, store: Store, connect: Connect, clock: SettableClock
) -> None:
    connect({"f": ["a"]})
    memory.remember("f", ttl_seconds=10)
    clock.advance(10)
    assert not entities.view(store, "a").found


# --- visibility --------------------------------------------------------------------------


def test_hubs_are_in_no_answer_but_their_own(memory: MemoryService, connect: Connect) -> None:
    connect({"The pump leaks": ["pump"]}, [("pump", "part of", "plant")], [("pump", "size", 3)])
    assert [m.content for m in memory.recall("Entity: pump plant").memories] == ["The pump leaks"]
    assert [m.content for m in memory.list_memories().memories] == ["The pump leaks"]
    assert memory.recall("x", filter={"size": 3}).memories == ()
    everything = Predicate("size", "ne", "other")
    assert [m.content for m in memory.recall_where("pump", [everything]).memories] == [
        "The pump leaks"
    ]
    assert memory.memory_status().memory.facts == 1
    internal = memory.list_memories(include_internal=True).memories
    assert sorted(m.content for m in internal) == [
        "Entity: plant",
        "Entity: pump",
        "The pump leaks",
    ]


def test_facts_are_found_by_the_attributes_of_what_they_are_about(
    memory: MemoryService, connect: Connect
) -> None:
    connect(
        {"The pump leaks": ["pump"], "The valve is new": ["valve"], "It rained": []},
        attributes=[("pump", "size", 3), ("valve", "size", 5)],
    )

    def matching(op: Op, value: int) -> list[str]:
        found = memory.recall_where("x", [Predicate("size", op, value)])
        return sorted(memory.content for memory in found.memories)

    assert matching("eq", 3) == ["The pump leaks"]
    assert matching("ge", 3) == ["The pump leaks", "The valve is new"]
    assert matching("gt", 9) == []


# --- any graph ---------------------------------------------------------------------------

small = st.sampled_from("abcde")
steps = st.lists(
    st.one_of(
        st.tuples(st.just("fact"), st.sampled_from("123"), st.lists(small, max_size=3)),
        st.tuples(st.just("edge"), small, small),
        st.tuples(st.just("forget"), st.sampled_from("123")),
    ),
    max_size=12,
)


@given(steps)
def test_forgetting_every_fact_leaves_only_what_none_was_ever_about(
    shared_store: Store, script: list[tuple[str, ...]]
) -> None:
    """Whatever was built and forgotten in between: no dead ends, no orphans, counts exact."""
    store, vector = shared_store, np.ones(4, np.float32) / 2
    topics: dict[str, set[str]] = {}
    for step in script:
        with store.transaction():
            if step[0] == "fact":
                store.put_facts([FactRecord(Fact(int(step[1]), step[1]), vector)])
                entities.connect(store, [Mention(int(step[1]), list(step[2]))])
                topics.setdefault(step[1], set()).update(step[2])
            elif step[0] == "edge" and step[1] != step[2]:
                entities.connect(store, [], [Relation(step[1], "r", step[2])])
            elif step[0] == "forget":
                entities.forget(store, int(step[1]))
                topics.pop(step[1], None)
    mentioned = set().union(*topics.values()) if topics else set()
    assert {name for name in "abcde" if entities.view(store, name).found} >= mentioned
    ends = {fact.id for fact in store.scan_facts(None, 99, internal=True)}
    edges: list[Edge] = store.edges_from(sorted(ends), 99)
    assert all({edge.source, edge.target} <= ends for edge in edges)
    assert store.count().edges == len(edges)
    with store.transaction():
        for text in list(topics):
            entities.forget(store, int(text))
    left = store.scan_facts(None, 99, internal=True)
    assert all(fact.kind == "entity" for fact in left)
    for hub in left:  # made by a relation alone, and still at one end of it or never touched
        assert not [e for e in store.edges_to([hub.id], 99) if e.relation == "about"]
    store.delete_facts([fact.id for fact in left])
