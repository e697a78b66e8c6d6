"""recall: what it finds, in which order, and what it refuses."""

from typing import Any

import pytest

from tests.serving import check_refusal

FIELD_NOTES = [
    "Run the pre-deploy checklist before every push",
    "The link carries 12 GB/s at peak",
    "The flag lives at api.v2.users in the config",
    "We don't restart the broker by hand",
    "parking_lot replaced the standard mutex",
]


def contents(answer: dict[str, Any]) -> list[str]:
    return [memory["content"] for memory in answer["memories"]]


def test_memories_come_whole_and_best_first(client: Any) -> None:
    billing = {"project": "checkout"}
    stored = client.call("remember", fact="Billing retries stop after five", metadata=billing)
    client.call("remember", fact="The canteen serves soup", metadata=billing)
    client.call("remember", fact="Billing is owned by platform", metadata={"project": "other"})
    found = client.call("recall", query="billing retries", k=5, filter=billing)["memories"]
    assert [memory["content"] for memory in found] == [
        "Billing retries stop after five",
        "The canteen serves soup",
    ]
    best = found[0]
    assert best.keys() == {"id", "id_str", "score", "content", "metadata"}
    assert (best["id"], best["id_str"]) == (stored["id"], stored["id_str"])
    assert best["metadata"]["project"] == "checkout"


def test_k_limits_the_answer(client: Any) -> None:
    for number in range(12):
        client.call("remember", fact=f"note {number}")
    assert len(contents(client.call("recall", query="note"))) == 10
    assert len(contents(client.call("recall", query="note", k=1))) == 1
    assert contents(client.call("recall", query="note", k=0)) == []
    assert len(contents(client.call("recall", query="note", k=1_000_000))) == 12


def test_feedback_moves_a_memory_but_not_its_score(client: Any) -> None:
    for fact in ("deploy on monday", "deploy on tuesday"):
        client.call("remember", fact=fact)
    before = client.call("recall", query="deploy")["memories"]
    for _ in range(3):
        client.call("feedback", id=before[0]["id_str"], success=False)
        client.call("feedback", id=before[1]["id_str"], success=True)
    after = client.call("recall", query="deploy")["memories"]
    assert after == before[::-1]


def test_a_filter_that_few_facts_pass_hides_none_of_them(client: Any, service: Any) -> None:
    for number in range(500):
        service.remember(f"Canteen menu item {number} is a burger", metadata={"site": "north"})
    south = ["Canteen menu of the south has soup", "Canteen menu of the south has bread"]
    for fact in south:
        client.call("remember", fact=fact, metadata={"site": "south"})
    only = {"site": "south"}
    for tool in ("recall", "recall_fused"):
        found = client.call(tool, query="burger", k=5, filter=only)
        assert sorted(contents(found)) == sorted(south)
    filters = [{"field": "site", "op": "eq", "value": "south"}]
    (where,) = contents(client.call("recall_where", query="burger", k=1, filters=filters))
    assert where in south
    assert contents(client.call("recall", query="burger", k=5, filter={"site": "west"})) == []
    listed, cursor = [], None
    while True:
        page = client.call("list_memories", filter=only, limit=3, cursor=cursor)
        listed += contents(page)
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert sorted(listed) == sorted(south)


def test_punctuation_in_a_query_is_text(client: Any) -> None:
    for fact in FIELD_NOTES:
        client.call("remember", fact=fact)
    for query, place in [
        ("pre-deploy", 0),
        ("GB/s", 1),
        ("api.v2.users", 2),
        ("don't restart", 3),
        ('"pre-deploy', 0),
        ("parking_lot", 4),
        ("mutex)", 4),
    ]:
        assert contents(client.call("recall", query=query, k=1)) == [FIELD_NOTES[place]], query
    for query in ("NOT NEAR/3 ^col: AND (", "*", "'; DROP TABLE facts; --"):
        found = client.call("recall", query=query, k=5)
        assert sorted(contents(found)) == sorted(FIELD_NOTES)
    assert contents(client.call("recall", query="   ")) == []
    assert client.call("memory_status")["memory"]["facts"] == 5


def test_a_query_of_a_mebibyte_is_taken(client: Any) -> None:
    client.call("remember", fact="a note")
    assert contents(client.call("recall", query="note " * 200_000)) == ["a note"]


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({}, "query", ["required"], {}),
        ({"query": 5}, "query", ["must be a string", "5"], {}),
        ({"query": "x" * (2**20 + 1)}, "query", ["1048577 bytes", "at most 1048576", "shorter"],
         {"limit": 2**20, "actual": 2**20 + 1}),
        ({"query": "x", "k": -1}, "k", ["at least 0", "-1"], {"limit": 0}),
        ({"query": "x", "k": 6.0}, "k", ["must be an integer", "6.0"], {}),
        ({"query": "x", "k": {}}, "k", ["must be an integer", "an object"], {}),
        ({"query": "x", "filter": [1]}, "filter", ["must be an object"], {}),
        ({"query": "x", "filter": {"content": "y"}}, "filter", ["reserved", "content"], {}),
        ({"query": "x", "filter": {"_veles_kind": 1}}, "filter", ["reserved"], {}),
        ({"query": "x", "filter": '{"a": NaN}'}, "filter", ["finite"], {}),
        ({"query": "x", "filter": {str(n): n for n in range(65)}}, "filter",
         ["65 conditions", "at most 64"], {"limit": 64, "actual": 65}),
        ({"query": "x", "filter": {"a": "y" * 65_536}}, "filter", ["65544 bytes"],
         {"limit": 65_536}),
        ({"query": "x", "top": 3}, "top", ["known: filter, k, query"], {}),
    ],
)  # fmt: skip
def test_bad_questions_are_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], data: dict[str, Any]
) -> None:
    refusing.call("remember", fact="a note")
    check_refusal(refusing, "recall", arguments, *words, field=field, **data)
