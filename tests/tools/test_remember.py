"""remember: what it answers, what it keeps, and what it refuses."""

import unicodedata
from typing import Any

import pytest

from tests.serving import check_refusal
from veles_core.ids import fact_id
from veles_core.testing.clock import SettableClock

NESTED: dict[str, Any] = {}
for _ in range(101):
    NESTED = {"a": NESTED}


def test_a_fact_with_all_that_belongs_to_it(client: Any) -> None:
    ticket = client.call("remember", fact="Ticket 7 reports poisoned locks")
    fact = "we chose parking_lot to avoid lock poisoning"
    stored = client.call(
        "remember",
        fact=fact,
        metadata={"project": "checkout"},
        links=[{"target": ticket["id_str"], "relation": "decided_in"}],
        ttl_seconds=604800,
    )
    assert stored == {"id": fact_id(fact), "id_str": str(fact_id(fact))}
    (memory,) = client.call("list_memories", filter={"project": "checkout"})["memories"]
    assert memory["content"] == fact
    assert memory["metadata"].keys() == {"project", "_veles_date"}
    (edge,) = client.call("why", decision=fact)["edges"]
    assert (edge["to_str"], edge["relation"]) == (ticket["id_str"], "decided_in")


def test_the_same_text_is_one_memory_with_the_newest_metadata(client: Any) -> None:
    text = "The café opens at nine"
    first = client.call("remember", fact=text, metadata={"a": 1, "_veles_date": 20260610})
    again = client.call("remember", fact=f" {unicodedata.normalize('NFD', text)}\n", metadata={})
    assert again == first
    (memory,) = client.call("list_memories")["memories"]
    assert memory["content"] == text
    assert memory["metadata"] == {"_veles_date": 20260610}


def test_inner_space_and_case_tell_two_facts_apart(client: Any) -> None:
    for fact in ("Ship on Friday", "ship on Friday", "Ship  on Friday"):
        client.call("remember", fact=fact)
    assert client.call("memory_status")["memory"]["facts"] == 3


def test_the_longest_fact_is_kept_whole(client: Any) -> None:
    client.call("remember", fact=" " + "é" * 1024 + "\n")
    (memory,) = client.call("list_memories")["memories"]
    assert memory["content"] == "é" * 1024


def test_a_lifetime_is_what_the_last_call_said(timed: Any, clock: SettableClock) -> None:
    timed.call("remember", fact="short", ttl_seconds=2)
    timed.call("remember", fact="short")
    timed.call("remember", fact="long")
    timed.call("remember", fact="long", ttl_seconds=2)
    clock.advance(2)
    assert [each["content"] for each in timed.call("list_memories")["memories"]] == ["short"]


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({}, "fact", ["required"], {}),
        ({"fact": None}, "fact", ["required"], {}),
        ({"fact": 6}, "fact", ["must be a string", "6"], {}),
        ({"fact": ["a"]}, "fact", ["must be a string", "an array"], {}),
        ({"fact": ""}, "fact", ["empty"], {}),
        ({"fact": " \n\t "}, "fact", ["empty"], {}),
        ({"fact": "x" * 2049}, "fact", ["2049 bytes", "at most 2048", "split it"],
         {"limit": 2048, "actual": 2049}),
        ({"fact": "é" * 1025}, "fact", ["2050 bytes"], {"limit": 2048, "actual": 2050}),
        ({"fact": "a", "facts": "b"}, "facts", ["did you mean fact?"], {}),
    ],
)  # fmt: skip
def test_bad_text_is_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], data: dict[str, Any]
) -> None:
    check_refusal(refusing, "remember", arguments, *words, field=field, **data)


@pytest.mark.parametrize(
    ("metadata", "words", "data"),
    [
        ("not JSON", ["must be an object"], {}),
        ([], ["must be an object"], {}),
        ({"content": 1}, ["reserved", "content"], {"actual": "content"}),
        ({"_veles_kind": 1}, ["reserved", "_veles_kind", "_veles_date"], {}),
        ({"_veles_date": 20260230}, ["calendar date", "YYYYMMDD", "20260230"], {}),
        ({"_veles_date": "20260610"}, ["YYYYMMDD"], {}),
        ({"_veles_date": 20260610.0}, ["YYYYMMDD"], {}),
        ({"_veles_date": True}, ["YYYYMMDD"], {}),
        ('{"a": NaN}', ["finite"], {}),
        ('{"a": [{"b": -1e999}]}', ["finite"], {}),
        (NESTED, ["nested", "100"], {"limit": 100}),
        ({"a": "x" * 65_536}, ["65544 bytes", "at most 65536", "into facts"],
         {"limit": 65_536, "actual": 65_544}),
    ],
)  # fmt: skip
def test_bad_metadata_is_refused(
    refusing: Any, metadata: Any, words: list[str], data: dict[str, Any]
) -> None:
    arguments = {"fact": "a fact", "metadata": metadata}
    check_refusal(refusing, "remember", arguments, *words, field="metadata", **data)


@pytest.mark.parametrize(
    ("ttl", "words", "data"),
    [
        (0, ["from 1 to", "leave it out"], {"limit": 200_000_000_000, "actual": "0"}),
        (-1, ["at least 0", "-1"], {"limit": 0, "actual": "-1"}),
        (200_000_000_001, ["from 1 to 200000000000"], {"actual": "200000000001"}),
        (2**70, ["from 1 to"], {}),
        (1.5, ["must be an integer", "1.5"], {}),
        ("soon", ["must be an integer", '"soon"'], {}),
        (True, ["must be an integer", "true"], {}),
    ],
)
def test_bad_lifetimes_are_refused(
    refusing: Any, ttl: Any, words: list[str], data: dict[str, Any]
) -> None:
    arguments = {"fact": "a fact", "ttl_seconds": ttl}
    check_refusal(refusing, "remember", arguments, *words, field="ttl_seconds", **data)


@pytest.mark.parametrize(
    ("link", "words", "category"),
    [
        ({"target": "42", "relation": "needs"}, ["no memory 42", "nothing was stored"], "NotFound"),
        ({"target": str(fact_id("a fact")), "relation": "needs"}, ["to itself"], "InvalidInput"),
        ({"target": "42", "relation": " "}, ["1 to 512 bytes", "has 0"], "InvalidInput"),
        ({"target": "42", "relation": "r" * 513}, ["512", "has 513"], "InvalidInput"),
        ({"target": "42", "relation": "a\nb"}, ["control characters"], "InvalidInput"),
        ({"target": "4 2", "relation": "a"}, ["links[1].target must be an id"], "InvalidInput"),
        ({"target": 1.0, "relation": "a"}, ["links[1].target must be an id"], "InvalidInput"),
        ({"target": "42"}, ["links[1].relation is required"], "InvalidInput"),
        ({"target": "42", "relation": "a", "to": 1}, ["links[1].to is not"], "InvalidInput"),
        ("42", ["links[1] must be an object"], "InvalidInput"),
    ],
)
def test_one_bad_link_refuses_the_whole_call(
    refusing: Any, link: Any, words: list[str], category: str
) -> None:
    known = refusing.call("remember", fact="known")["id_str"]
    links = [{"target": known, "relation": "needs"}, link]
    arguments = {"fact": "a fact", "links": links}
    check_refusal(refusing, "remember", arguments, *words, field="links", category=category)
