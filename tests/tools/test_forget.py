"""forget: a memory and all that hung on it are gone, once."""

from typing import Any

import pytest

from tests.serving import check_refusal


def test_a_memory_goes_with_its_links(client: Any) -> None:
    names = ("start", "middle", "end")
    start, middle, end = (client.call("remember", fact=fact)["id_str"] for fact in names)
    client.call("relate", **{"from": start, "to": middle, "relation": "to"})
    client.call("relate", **{"from": middle, "to": end, "relation": "to"})
    gone = client.call("forget", id=middle)
    assert gone == {"id": int(middle), "id_str": middle, "found": True}
    assert client.call("memory_status")["memory"] == {"facts": 2, "edges": 0}
    assert [node["content"] for node in client.call("why", decision="start")["nodes"]] == ["start"]
    found = client.call("recall", query="middle")["memories"]
    assert "middle" not in [memory["content"] for memory in found]


@pytest.mark.parametrize("form", [int, str, lambda id: f" {id}\n"])
def test_an_id_that_nothing_has_is_told_apart_and_no_error(client: Any, form: Any) -> None:
    gone = client.call("remember", fact="a fact")["id"]
    assert client.call("forget", id=form(gone))["found"] is True
    assert client.call("forget", id=form(gone)) == {
        "id": gone,
        "id_str": str(gone),
        "found": False,
    }


def test_what_is_remembered_again_starts_anew(client: Any) -> None:
    first = client.call("remember", fact="a fact", metadata={"a": 1})["id_str"]
    client.call("feedback", id=first, success=True)
    client.call("forget", id=first)
    assert client.call("remember", fact="a fact")["id_str"] == first
    assert client.call("feedback", id=first, success=True)["confidence"] == 0.6
    (memory,) = client.call("list_memories")["memories"]
    assert "a" not in memory["metadata"]


@pytest.mark.parametrize(
    ("arguments", "field", "words"),
    [
        ({}, "id", ["required"]),
        ({"id": None}, "id", ["required"]),
        ({"id": "the last one"}, "id", ["must be an id", "2^64-1", "id_str", '"the last one"']),
        ({"id": "٣"}, "id", ["must be an id"]),
        ({"id": -1}, "id", ["must be an id", "-1"]),
        ({"id": 2**64}, "id", ["must be an id"]),
        ({"id": 12.0}, "id", ["must be an id", "12.0"]),
        ({"id": ["1"]}, "id", ["must be an id", "an array"]),
        ({"id": "1", "ids": ["2"]}, "ids", ["did you mean id?"]),
    ],
)
def test_what_is_no_id_is_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str]
) -> None:
    refusing.call("remember", fact="a fact")
    check_refusal(refusing, "forget", arguments, *words, field=field)
