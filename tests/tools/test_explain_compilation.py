"""explain_compilation: one decision of the same compilation, and nothing recorded."""

from typing import Any

import pytest

from tests.serving import check_refusal

REQUEST: dict[str, Any] = {
    "query": "queue alarm",
    "token_budget": 12,
    "fragments": [
        {"content": "a short note"},
        {"content": "the queue alarm " * 200},
        {"content": "a short note"},
    ],
}


def test_each_decision_is_explained_as_it_was_made(client: Any) -> None:
    answer = client.call("compile_context", **REQUEST)
    kept, aside, twin = answer["decisions"]
    for decision in (kept, aside):
        for form in (decision["fragment_id"], str(decision["fragment_id"])):
            found = client.call("explain_compilation", request=REQUEST, fragment_id=form)
            assert found == decision
    assert (kept["action"], aside["action"], twin["action"]) == ("preserve", "retrieve", "drop")


def test_an_index_finds_a_twin_that_its_id_does_not(client: Any) -> None:
    kept, aside, twin = client.call("compile_context", **REQUEST)["decisions"]
    assert kept["fragment_id"] == twin["fragment_id"]
    for index, decision in enumerate((kept, aside, twin)):
        found = client.call(
            "explain_compilation", request=REQUEST, fragment_id="0", fragment_index=index
        )
        assert found == decision


def test_an_id_is_answered_in_the_form_that_the_request_asks_for(client: Any) -> None:
    request = REQUEST | {"policy": {"ids_as_strings": True, "slim_response": True}}
    (source, *_) = client.call("compile_context", **request)["sources"]
    found = client.call("explain_compilation", request=request, fragment_id=source["fragment_id"])
    assert found["fragment_id"] == found["content_hash"] == source["fragment_id"]
    assert isinstance(source["fragment_id"], str)


def test_a_pulled_memory_is_explained_by_its_id(client: Any) -> None:
    memory = client.call("remember", fact="The queue alarm rings at 500")["id"]
    request = {"query": "queue alarm", "token_budget": 99, "fragments": [], "memory_scope": {}}
    (decision,) = client.call("compile_context", **request)["decisions"]
    assert decision["memory_id"] == memory
    found = client.call("explain_compilation", request=request, fragment_id=decision["fragment_id"])
    assert found == decision


def test_nothing_is_recorded(client: Any) -> None:
    found = client.call("explain_compilation", request=REQUEST, fragment_id="0", fragment_index=1)
    assert client.call("context_savings")["events"] == 0
    error = client.refused("retrieve_context_source", handle=found["handle"])
    assert error.data["category"] == "NotFound"


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({"fragment_id": None}, "fragment_id", ["required"], {}),
        ({"fragment_id": "first"}, "fragment_id", ["must be an id", '"first"'], {}),
        ({"fragment_id": 1.5}, "fragment_id", ["must be an id"], {}),
        ({"fragment_id": "7"}, "fragment_id", ["7 is not in this request", "fragment_index"],
         {"category": "NotFound", "actual": "7"}),
        ({"fragment_index": 3}, "fragment_index", ["3 is out of range", "3 fragments"],
         {"limit": 2, "actual": 3}),
        ({"fragment_index": -1}, "fragment_index", ["at least 0"], {"limit": 0}),
        ({"fragment_index": 2**64}, "fragment_index", ["out of range"], {}),
        ({"fragment_index": "first"}, "fragment_index", ["must be an integer"], {}),
        ({"request": None}, "request", ["required"], {}),
        ({"request": "the last one"}, "request", ["must be an object"], {}),
        ({"request": {"query": "x", "token_budget": 9}}, "request",
         ["request.fragments is required"], {}),
        ({"request": REQUEST | {"token_budget": "x"}}, "request",
         ["request.token_budget must be an integer"], {}),
        ({"request": REQUEST | {"fragments": [{}]}}, "fragments[0]", ["exactly one"], {}),
        ({"request": REQUEST | {"token_budget": 0}}, "token_budget", ["leaves no room"], {}),
        ({"index": 1}, "index", ["did you mean fragment_index?"], {}),
    ],
)  # fmt: skip
def test_what_cannot_be_explained_is_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], data: dict[str, Any]
) -> None:
    request = {"request": REQUEST, "fragment_id": "7"} | arguments
    check_refusal(refusing, "explain_compilation", request, *words, field=field, **data)
