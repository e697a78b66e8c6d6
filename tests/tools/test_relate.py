"""relate: typed edges between memories that are there, and what is no such edge."""

from typing import Any

import pytest

from tests.serving import check_refusal
from veles_core.ids import fact_id

PAIR = str(fact_id("one")), str(fact_id("other"))


@pytest.fixture
def pair(client: Any) -> tuple[str, str]:
    one, other = (client.call("remember", fact=fact)["id_str"] for fact in ("one", "other"))
    return one, other


def edge(source: Any, target: Any, relation: Any = "needs") -> dict[str, Any]:
    return {"from": source, "to": target, "relation": relation}


def test_a_link_is_followed_from_its_start(client: Any, pair: tuple[str, str]) -> None:
    one, other = pair
    related = client.call("relate", **edge(one, other, "depends_on"))
    assert related == {"edge_id": related["edge_id"], "edge_id_str": str(related["edge_id"])}
    (found,) = client.call("why", decision="one")["edges"]
    assert (found["from_str"], found["relation"], found["to_str"]) == (one, "depends_on", other)
    assert client.call("why", decision="other")["edges"] == []


def test_the_same_link_is_one_edge_however_it_is_written(
    client: Any, pair: tuple[str, str]
) -> None:
    one, other = pair
    first = client.call("relate", **edge(one, other, "see"))
    assert client.call("relate", **edge(int(one), int(other), " see ")) == first
    assert client.call("memory_status")["memory"]["edges"] == 1
    assert client.call("relate", **edge(other, one, "see")) != first
    assert client.call("relate", **edge(one, other, "See")) != first
    assert client.call("memory_status")["memory"]["edges"] == 3


@pytest.mark.parametrize("relation", ["r" * 512, "é" * 256, "überholt", "depends on", "→"])
def test_a_relation_is_any_short_label(client: Any, pair: tuple[str, str], relation: str) -> None:
    client.call("relate", **edge(*pair, relation))
    assert client.call("why", decision="one")["edges"][0]["relation"] == relation


def test_an_end_that_is_not_there_is_not_found(client: Any, pair: tuple[str, str]) -> None:
    one, _ = pair
    for arguments, field in [(edge(one, "42"), "to"), (edge("42", one), "from")]:
        words = [f"{field}: there is no memory 42"]
        check_refusal(
            client, "relate", arguments, *words, field=field, category="NotFound", actual="42"
        )


@pytest.mark.parametrize("tool", ["relate", "unrelate"])
@pytest.mark.parametrize(
    ("relation", "words", "data"),
    [
        ("", ["label of 1 to 512 bytes", "caused_by", "has 0"], {"limit": 512, "actual": 0}),
        (" \t ", ["1 to 512 bytes", "has 0"], {"limit": 512, "actual": 0}),
        ("r" * 513, ["1 to 512 bytes", "has 513"], {"limit": 512, "actual": 513}),
        ("é" * 257, ["has 514"], {"limit": 512, "actual": 514}),
        ("a\nb", ["control characters"], {}),
        ("a\x00b", ["control characters"], {}),
        ("a\x7fb", ["control characters"], {}),
        (7, ["must be a string", "7"], {}),
        (None, ["required"], {}),
    ],
)
def test_bad_labels_are_refused_by_both(
    refusing: Any,
    tool: str,
    relation: Any,
    words: list[str],
    data: dict[str, Any],
) -> None:
    check_refusal(refusing, tool, edge(*PAIR, relation), *words, field="relation", **data)


@pytest.mark.parametrize("tool", ["relate", "unrelate"])
@pytest.mark.parametrize("slot", ["from", "to"])
def test_bad_ids_are_refused_by_both(refusing: Any, tool: str, slot: str) -> None:
    rule = f"{slot} must be an id: a decimal string from 0 to 2^64-1"
    for value in ("", "x", "-1", "1e3", 1.0, True, 2**64, [1]):
        check_refusal(refusing, tool, edge(*PAIR) | {slot: value}, rule, field=slot)
    check_refusal(refusing, tool, edge(*PAIR) | {slot: None}, f"{slot} is required", field=slot)


@pytest.mark.parametrize("tool", ["relate", "unrelate"])
def test_a_link_to_itself_and_an_unknown_argument_are_refused_by_both(
    refusing: Any, tool: str
) -> None:
    one, other = PAIR
    arguments = edge(one, one)
    check_refusal(refusing, tool, arguments, "linked to itself", one, field="relation", actual=one)
    arguments = edge(one, other) | {"label": "x"}
    check_refusal(refusing, tool, arguments, "known: from, relation, to", field="label")


def test_what_both_refuse_they_refuse_with_the_same_words(refusing: Any) -> None:
    one, other = PAIR
    for arguments in (edge(one, one), edge(one, other, " "), edge(one, other, "a\tb"), {}):
        relate, unrelate = (refusing.refused(tool, **arguments) for tool in ("relate", "unrelate"))
        assert relate == unrelate
