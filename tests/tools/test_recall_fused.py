"""recall_fused: similarity and links in one ranking, and the dated rendering."""

from typing import Any

import pytest

from tests.serving import check_refusal

QUESTION = "why did we choose parking_lot"


def contents(answer: dict[str, Any]) -> list[str]:
    return [memory["content"] for memory in answer["memories"]]


def remember(client: Any, fact: str, day: int | None = None, **more: Any) -> str:
    dated = {} if day is None else {"_veles_date": day}
    identity: str = client.call("remember", fact=fact, metadata=dated | more)["id_str"]
    return identity


@pytest.fixture
def chain(client: Any) -> Any:
    """A decision, its cause two links away, and facts that resemble the question more."""
    decision = remember(client, "we chose parking_lot")
    ticket = remember(client, "ticket 88", site="north")
    cause = remember(client, "a poisoned mutex stopped checkout", site="south")
    client.call("relate", **{"from": decision, "to": ticket, "relation": "tracked_in"})
    client.call("relate", **{"from": ticket, "to": cause, "relation": "caused_by"})
    for number in range(12):
        client.call("remember", fact=f"we chose lunch option {number} at a parking spot")
    return client


def test_links_bring_in_what_does_not_resemble_the_question(chain: Any) -> None:
    plain = contents(chain.call("recall", query=QUESTION, k=4))
    fused = contents(chain.call("recall_fused", query=QUESTION, k=4, graph_boost=2))
    assert "a poisoned mutex stopped checkout" not in plain
    assert {"we chose parking_lot", "ticket 88", "a poisoned mutex stopped checkout"} < set(fused)


def test_hops_and_boost_say_how_far_and_how_much(chain: Any) -> None:
    def found(**more: Any) -> set[str]:
        answer = chain.call("recall_fused", query=QUESTION, k=4, **{"graph_boost": 2} | more)
        return set(contents(answer)) & {"ticket 88", "a poisoned mutex stopped checkout"}

    assert found(hops=0) == set()
    assert found(hops=1) == {"ticket 88"}
    assert found(hops=1_000_000) == {"ticket 88", "a poisoned mutex stopped checkout"}
    assert found(graph_boost=0) == set()
    assert found(graph_boost=-5) == set()
    assert found(graph_boost=1e308) == {"ticket 88", "a poisoned mutex stopped checkout"}
    assert found(graph_boost=-1e308) == set()


def test_a_filter_holds_for_what_links_reach(chain: Any) -> None:
    found = chain.call("recall_fused", query=QUESTION, graph_boost=2, filter={"site": "south"})
    assert contents(found) == ["a poisoned mutex stopped checkout"]


def test_the_pool_is_bounded_both_ways(chain: Any) -> None:
    assert len(contents(chain.call("recall_fused", query="lunch", pool=0, hops=0, k=50))) >= 1
    assert len(contents(chain.call("recall_fused", query="lunch", pool=10**9, k=50))) == 15
    assert contents(chain.call("recall_fused", query="lunch", k=0)) == []
    assert contents(chain.call("recall_fused", query="  ")) == []


def test_dated_memories_are_told_in_their_order(client: Any) -> None:
    remember(client, "the pump\r\nwas replaced", 20260311)
    remember(client, "the pump failed", 20260305)
    client.call("remember", fact="the pump is blue", metadata={"when": "last week"})
    remember(client, "the pump was ordered", 20260311, when=20250101)
    answer = client.call("recall_fused", query="pump", date_field="when")
    lines = answer["dated_context"].splitlines()
    assert lines[0] == "- [2025-01-01] the pump was ordered"
    assert sorted(lines[1:]) == [
        "- the pump failed",
        "- the pump is blue",
        "- the pump was replaced",
    ]
    assert answer["now"] == "2025-01-01"
    answer = client.call("recall_fused", query="pump", date_field="_veles_date", k=50)
    assert answer["dated_context"].splitlines()[0] == "- [2026-03-05] the pump failed"


def test_without_a_dated_memory_there_is_no_timeline(client: Any) -> None:
    client.call("remember", fact="the pump is blue")
    for date_field in (None, "when"):
        answer = client.call("recall_fused", query="pump", date_field=date_field)
        assert answer.keys() == {"memories"}


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({}, "query", ["required"], {}),
        ({"query": "x" * (2**20 + 1)}, "query", ["1048577 bytes", "at most 1048576"],
         {"limit": 2**20}),
        ({"query": "x", "graph_boost": "NaN"}, "graph_boost", ["must be a", "number"], {}),
        ({"query": "x", "graph_boost": "Infinity"}, "graph_boost", ["must be a", "number"], {}),
        ({"query": "x", "graph_boost": "-1e999"}, "graph_boost", ["finite number"], {}),
        ({"query": "x", "graph_boost": True}, "graph_boost", ["must be a number", "true"], {}),
        ({"query": "x", "graph_boost": "lots"}, "graph_boost", ["must be a number"], {}),
        ({"query": "x", "hops": -1}, "hops", ["at least 0"], {"limit": 0}),
        ({"query": "x", "hops": 2.5}, "hops", ["must be an integer"], {}),
        ({"query": "x", "pool": "all"}, "pool", ["must be an integer"], {}),
        ({"query": "x", "k": []}, "k", ["must be an integer"], {}),
        ({"query": "x", "filter": "x"}, "filter", ["must be an object"], {}),
        ({"query": "x", "filter": {"_veles_x": 1}}, "filter", ["reserved"], {}),
        ({"query": "x", "date_field": 5}, "date_field", ["must be a string"], {}),
        ({"query": "x", "filters": []}, "filters", ["did you mean filter?"], {}),
    ],
)  # fmt: skip
def test_bad_questions_are_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], data: dict[str, Any]
) -> None:
    check_refusal(refusing, "recall_fused", arguments, *words, field=field, **data)
