"""why: the subgraph behind a decision, bounded and honest about it."""

from typing import Any

import pytest

from tests.serving import check_refusal


def remember(client: Any, fact: str, **more: Any) -> str:
    identity: str = client.call("remember", fact=fact, **more)["id_str"]
    return identity


def hops(trail: dict[str, Any]) -> dict[str, int]:
    return {node["content"]: node["hop"] for node in trail["nodes"]}


@pytest.fixture
def chain(client: Any) -> Any:
    ids = [remember(client, fact) for fact in ("a benchmark", "a pull request", "a ticket")]
    decided = [{"target": ids[1], "relation": "decided_in"}]
    decision = remember(client, "we chose parking_lot", links=decided)
    client.call("relate", **{"from": ids[1], "to": ids[0], "relation": "measured_by"})
    client.call("relate", **{"from": ids[1], "to": ids[2], "relation": "closes"})
    client.call("relate", **{"from": ids[0], "to": decision, "relation": "about"})
    return client


def test_everything_that_links_reach_is_there_with_its_distance(chain: Any) -> None:
    trail = chain.call("why", decision="why did we choose parking_lot", max_hops=2)
    assert hops(trail) == {
        "we chose parking_lot": 0,
        "a pull request": 1,
        "a benchmark": 2,
        "a ticket": 2,
    }
    assert trail["nodes"][0]["hop"] == 0
    labels = {edge["relation"] for edge in trail["edges"]}
    assert labels == {"decided_in", "measured_by", "closes"}
    assert trail["truncated"] is False


def test_hops_bound_the_walk_and_cycles_end_it(chain: Any) -> None:
    question = "we chose parking_lot"
    assert hops(chain.call("why", decision=question, max_hops=0)) == {question: 0}
    assert set(hops(chain.call("why", decision=question, max_hops=1)).values()) == {0, 1}
    whole = chain.call("why", decision=question, max_hops=10**9)
    assert len(whole["nodes"]) == 4
    assert "about" in {edge["relation"] for edge in whole["edges"]}
    assert whole["truncated"] is False


def test_a_filter_scopes_where_the_walk_begins(client: Any) -> None:
    evidence = remember(client, "evidence of another project", metadata={"project": "b"})
    links = [{"target": evidence, "relation": "by"}]
    for project in ("a", "b"):
        remember(client, f"we chose {project}", metadata={"project": project}, links=links)
    trail = client.call("why", decision="we chose", filter={"project": "a"})
    assert hops(trail) == {"we chose a": 0, "evidence of another project": 1}
    nothing = client.call("why", decision="we chose", filter={"project": "c"})
    assert nothing == {"nodes": [], "edges": [], "truncated": False}


@pytest.mark.parametrize(("links", "truncated"), [(64, False), (65, True)])
def test_a_cut_is_told(client: Any, links: int, truncated: bool) -> None:
    targets = [
        {"target": remember(client, f"evidence {number}"), "relation": "by"}
        for number in range(links)
    ]
    remember(client, "the decision", links=targets)
    trail = client.call("why", decision="the decision", max_hops=1)
    assert (len(trail["nodes"]), len(trail["edges"])) == (65, 64)
    assert trail["truncated"] is truncated


@pytest.mark.parametrize("decision", ["", "  \n"])
def test_a_blank_question_and_an_empty_memory_have_no_reasons(client: Any, decision: str) -> None:
    nothing = {"nodes": [], "edges": [], "truncated": False}
    assert client.call("why", decision="anything") == nothing
    remember(client, "a fact")
    assert client.call("why", decision=decision) == nothing


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({}, "decision", ["required"], {}),
        ({"query": "x"}, "query", ["known: decision, filter, max_hops"], {}),
        ({"decision": {"a": 1}}, "decision", ["must be a string", "an object"], {}),
        ({"decision": "x" * (2**20 + 1)}, "decision", ["1048577 bytes", "at most 1048576"],
         {"limit": 2**20, "actual": 2**20 + 1}),
        ({"decision": "x", "max_hops": -2}, "max_hops", ["at least 0", "-2"], {"limit": 0}),
        ({"decision": "x", "max_hops": "two"}, "max_hops", ["must be an integer"], {}),
        ({"decision": "x", "filter": []}, "filter", ["must be an object"], {}),
        ({"decision": "x", "filter": {"content": 1}}, "filter", ["reserved"], {}),
        ({"decision": "x", "hops": 2}, "hops", ["did you mean max_hops?"], {}),
    ],
)  # fmt: skip
def test_bad_questions_are_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], data: dict[str, Any]
) -> None:
    refusing.call("remember", fact="a fact")
    check_refusal(refusing, "why", arguments, *words, field=field, **data)
