"""Calls as clients really make them: stringified, with nulls, with rounded ids."""

from typing import Any

import pytest

INVALID = -32602


@pytest.fixture
def forty(client: Any) -> list[dict[str, Any]]:
    return [client.call("remember", fact=f"probe note {number}") for number in range(1, 41)]


def listed(client: Any, **arguments: Any) -> list[dict[str, Any]]:
    """All memories, page by page."""
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = client.call("list_memories", cursor=cursor, **arguments)
        assert len(page["memories"]) <= arguments.get("limit", 50)
        found += page["memories"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found
        assert isinstance(cursor, str)
        assert cursor.isdigit()


def test_arguments_that_arrive_as_json_text(client: Any) -> None:
    first = client.call(
        "remember",
        fact="The staging cluster has six nodes",
        metadata='{"env":"staging"}',
        ttl_seconds="86400",
    )["id_str"]
    client.call("remember", fact='{"nodes": 6}')
    links = f'[{{"target":"{first}","relation":"explains"}}]'
    client.call("remember", fact="Six nodes were ordered", links=links)
    filters = '[{"field":"env","op":"eq","value":"staging"}]'
    for found in (
        client.call("recall", query="staging nodes", k="1", filter='{"env":"staging"}'),
        client.call("recall_where", query="staging", filters=filters),
    ):
        (memory,) = found["memories"]
        assert memory["id_str"] == first
        assert memory["metadata"]["env"] == "staging"
    assert client.call("memory_status")["memory"] == {"facts": 3, "edges": 1}
    assert client.call("feedback", id=first, success="true")["confidence"] == 0.6
    assert '{"nodes": 6}' in [memory["content"] for memory in listed(client)]

    for tool, arguments, slot in [
        ("recall", {"query": "x", "k": "1.5"}, "k"),
        ("recall", {"query": "x", "k": "many"}, "k"),
        ("recall", {"query": "x", "k": [3]}, "k"),
        ("remember", {"fact": "y", "metadata": "[1,2]"}, "metadata"),
        ("remember", {"fact": "y", "links": "{}"}, "links"),
        ("feedback", {"id": first, "success": "yes"}, "success"),
    ]:
        error = client.refused(tool, **arguments)
        assert (error.code, error.data["field"]) == (INVALID, slot)
    assert client.call("memory_status")["memory"]["facts"] == 3


def test_null_for_an_optional_slot_is_absence(client: Any) -> None:
    client.call("remember", fact="Backups run at two", links=None, metadata=None, ttl_seconds=None)
    found = client.call("recall", query="backups", k=None, filter=None)["memories"]
    assert [memory["content"] for memory in found] == ["Backups run at two"]
    page = client.call("list_memories", cursor=None, limit=None, filter=None, include_internal=None)
    assert (len(page["memories"]), page["next_cursor"]) == (1, None)
    fused = client.call(
        "recall_fused", query="backups", hops=None, pool=None, graph_boost=None, date_field=None
    )
    assert fused.keys() == {"memories"}
    error = client.refused("recall", query=None)
    assert (error.code, error.data["field"]) == (INVALID, "query")


def test_ids_that_a_client_rounded_hit_nothing_else(
    client: Any, forty: list[dict[str, Any]]
) -> None:
    assert all(each["id_str"] == str(each["id"]) for each in forty)
    victim = next(each for each in forty if int(float(each["id"])) != each["id"])
    rounded = int(float(victim["id"]))
    assert client.call("forget", id=rounded)["found"] is False
    assert victim["id"] in [memory["id"] for memory in listed(client)]
    for wrong in (1.8446744e19, True, "-1", "+5", "1e3", "18446744073709551616"):
        error = client.refused("forget", id=wrong)
        assert (error.code, error.data["field"]) == (INVALID, "id")
    gone = client.call("forget", id=victim["id_str"])
    assert gone == {"id": victim["id"], "id_str": victim["id_str"], "found": True}


def test_a_walk_lists_every_memory_once_by_ascending_id(
    client: Any, forty: list[dict[str, Any]]
) -> None:
    ids = [memory["id"] for memory in listed(client, limit=7)]
    assert ids == sorted({each["id"] for each in forty})


def test_the_former_name_of_k_works_alone(client: Any, forty: list[dict[str, Any]]) -> None:
    assert len(forty) == 40
    assert len(client.call("recall", query="probe", limit=3)["memories"]) == 3
    filters = [{"field": "absent", "op": "ne", "value": 1}]
    assert len(client.call("recall_where", query="x", filters=filters, limit=3)["memories"]) == 3
    assert len(client.call("recall_fused", query="probe", limit=3)["memories"]) == 3
    error = client.refused("recall", query="probe", limit=3, k=3)
    assert (error.code, error.data["field"]) == (INVALID, "limit")


def test_an_unknown_argument_and_an_unknown_tool_name_their_neighbours(client: Any) -> None:
    error = client.refused("recall", qurey="x")
    assert (error.code, error.data["field"]) == (INVALID, "qurey")
    assert "did you mean query?" in error.message
    error = client.refused("recal", query="x")
    assert error.code == INVALID
    assert "did you mean recall?" in error.message


def test_every_tool_answers_what_it_advertises(client: Any) -> None:
    called = set()

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        called.add(tool)
        answer: dict[str, Any] = client.call(tool, **arguments)
        return answer

    cause = call("remember", fact="Locks were poisoned in May", metadata={"n": [1, {"a": None}]})
    links = [{"target": cause["id_str"], "relation": "caused_by"}]
    decision = call("remember", fact="We chose parking_lot", links=links)
    edge = {"from": decision["id_str"], "to": cause["id_str"], "relation": "after"}
    filters = [{"field": "_veles_date", "op": "ge", "value": 20000101}]
    call("recall", query="parking_lot")
    call("recall_where", query="locks", filters=filters)
    call("recall_fused", query="locks", date_field="_veles_date")
    call("relate", **edge)
    call("unrelate", **edge)
    call("feedback", id=cause["id_str"], success=True)
    call("why", decision="why parking_lot")
    call("memory_status")
    call("list_memories", limit=1)
    call("list_memories")
    call("forget", id=cause["id_str"])

    text = "fact: Locks are slow | Lock\nedge: Lock | part of | Kernel"
    receipt = call("remember_extracted", text=text, extractor="outline")
    call("extraction_status", request_id=receipt["request_id"])
    call("entity", name="lock")

    request = {"query": "x", "token_budget": 99, "fragments": [{"content": "a b c"}]}
    (source,) = call("compile_context", **request)["sources"]
    call("explain_compilation", request=request, fragment_id=source["fragment_id"])
    call("retrieve_context_source", handle=source["handle"])
    call("compile_transcript", query="x", token_budget=99, transcript="User: a\nAI: b\n")
    call("context_savings")
    call("suggest_budget", target_model="gpt-4o")
    session = {"project": "p", "session": "s"}
    call("load_working_context", **session)
    call("save_working_context", **session, working={"goal": "g"})
    call("load_working_context", **session)
    call("list_working_contexts", project="p")

    call("migration_status")
    for tool, arguments in [
        ("migration_start", {"target_backend": "hash", "pause_budget_ms": 1000}),
        ("migration_cancel", {}),
        ("migration_recover", {}),
    ]:
        called.add(tool)  # what they answer takes another model, see tests/tools
        assert client.refused(tool, **arguments).code == INVALID
    assert called == {tool.name for tool in client.tools()}


def test_every_id_of_an_answer_has_its_string_twin(client: Any) -> None:
    cause = client.call("remember", fact="Locks were poisoned in May")
    links = [{"target": cause["id_str"], "relation": "caused_by"}]
    client.call("remember", fact="We chose parking_lot", links=links)
    trail = client.call("why", decision="We chose parking_lot")
    assert [node["hop"] for node in trail["nodes"]] == [0, 1]
    assert all(node["id_str"] == str(node["id"]) for node in trail["nodes"])
    (edge,) = trail["edges"]
    assert edge["from_str"] == str(edge["from"]) == trail["nodes"][0]["id_str"]
    assert edge["to_str"] == str(edge["to"]) == cause["id_str"]
    fused = client.call("recall_fused", query="locks", date_field="_veles_date")
    assert all(memory["id_str"] == str(memory["id"]) for memory in fused["memories"])
    assert fused["dated_context"].startswith(f"- [{fused['now']}] ")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("remember", {"fact": "ab\ud800"}),
        ("remember", {"fact": "a", "metadata": {"a": "\ud800"}}),
        ("recall", {"query": "\udfff"}),
        ("forget", {"id": "\ud800"}),
    ],
)
def test_lone_surrogates_are_refused(client: Any, tool: str, arguments: dict[str, Any]) -> None:
    assert client.refused(tool, **arguments).code == INVALID
    assert client.call("memory_status")["memory"]["facts"] == 0
