"""What ``tools/list`` advertises, slot by slot, and that every client can read it."""

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from veles_core.server.tools import TOOLS

READS = {"recall", "recall_where", "recall_fused", "why", "memory_status", "list_memories"}
DELETES = {"unrelate", "forget"}

# A required slot ends in "!"; a list holds the shape of its items.
NATURAL = "integer >= 0"
LINK = {"target!": "string", "relation!": "string"}
EDGE = {"from!": "string", "to!": "string", "relation!": "string"}
OP = "string of eq ne lt le gt ge"
COMPARISON = {"field!": "string", "op!": OP, "value!": "number or string or boolean"}
INPUTS: dict[str, Any] = {
    "remember": {
        "fact!": "string",
        "links": [LINK],
        "metadata": "object",
        "ttl_seconds": NATURAL,
    },
    "recall": {"query!": "string", "k": NATURAL, "filter": "object"},
    "recall_where": {"query!": "string", "filters!": [COMPARISON], "k": NATURAL},
    "recall_fused": {
        "query!": "string",
        "k": NATURAL,
        "filter": "object",
        "hops": NATURAL,
        "graph_boost": "number",
        "pool": NATURAL,
        "date_field": "string",
    },
    "relate": EDGE,
    "unrelate": EDGE,
    "forget": {"id!": "string"},
    "feedback": {"id!": "string", "success!": "boolean"},
    "why": {"decision!": "string", "max_hops": NATURAL, "filter": "object"},
    "memory_status": {},
    "list_memories": {
        "cursor": "string",
        "limit": NATURAL,
        "filter": "object",
        "include_internal": "boolean",
    },
}
REQUIRED_ANSWERS = {
    "remember": {"id", "id_str"},
    "recall": {"memories"},
    "recall_where": {"memories"},
    "recall_fused": {"memories"},
    "relate": {"edge_id", "edge_id_str"},
    "unrelate": {"found", "removed"},
    "forget": {"id", "id_str", "found"},
    "feedback": {"id", "id_str", "confidence"},
    "why": {"nodes", "edges", "truncated"},
    "memory_status": {"embedder", "provenance", "extraction", "memory"},
    "list_memories": {"memories", "next_cursor"},
}


def shape(schema: dict[str, Any]) -> Any:
    """A schema in the notation above; anything that it can't tell is an error."""
    told = dict(schema)
    told.pop("description", None)
    kind = told.pop("type")
    if kind == "object" and told.get("additionalProperties") is True:
        assert told == {"additionalProperties": True}
        return "object"
    if kind == "object":
        required = told.pop("required", [])
        slots = told.pop("properties")
        assert told == {}
        return {name + "!" * (name in required): shape(slot) for name, slot in slots.items()}
    if kind == "array":
        items = told.pop("items")
        assert told == {}
        return [shape(items)]
    name = kind if isinstance(kind, str) else " or ".join(kind)
    if "enum" in told:
        name += " of " + " ".join(told.pop("enum"))
    if "minimum" in told:
        name += f" >= {told.pop('minimum')}"
    assert told == {}
    return name


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema inside a schema, itself included; property names are not schemas."""
    if isinstance(schema, list):
        for item in schema:
            yield from nodes(item)
    elif isinstance(schema, dict):
        yield schema
        for keyword, part in schema.items():
            yield from nodes(list(part.values()) if keyword == "properties" else part)


def test_exactly_the_tools_that_work_are_advertised(client: Any) -> None:
    assert [tool.name for tool in client.tools()] == list(INPUTS)


def test_the_advertised_inputs_are_exactly_these(client: Any) -> None:
    assert {tool.name: shape(tool.input_schema) for tool in client.tools()} == INPUTS


def test_the_answers_promise_these_members(client: Any) -> None:
    promised = {tool.name: set(tool.output_schema["required"]) for tool in client.tools()}
    assert promised == REQUIRED_ANSWERS


def test_input_schemas_hold_nothing_that_makes_a_client_drop_a_tool(client: Any) -> None:
    unreadable = {"anyOf", "oneOf", "allOf", "$ref", "$defs", "format", "title"}
    for tool in client.tools():
        assert tool.input_schema["type"] == "object"
        for node in nodes(tool.input_schema):
            assert not unreadable & node.keys()
            assert isinstance(node.get("required", []), list)
            # The value of a comparison is the one slot of several types.
            several = node["type"] == ["number", "string", "boolean"]
            assert isinstance(node["type"], str) or several
            assert "default" not in node


def test_output_schemas_are_objects_and_valid(client: Any) -> None:
    for tool in client.tools():
        assert tool.output_schema["type"] == "object"
        Draft202012Validator.check_schema(tool.output_schema)
        assert not any(
            {"$ref", "$defs", "title"} & node.keys() for node in nodes(tool.output_schema)
        )


def test_every_tool_and_every_slot_is_described(client: Any) -> None:
    for tool in client.tools():
        assert 40 < len(tool.description) < 500
        for node in nodes(tool.input_schema):
            for name, slot in node.get("properties", {}).items():
                assert slot.get("description"), f"{tool.name}.{name}"


def test_former_names_are_not_advertised(client: Any) -> None:
    for tool in client.tools():
        if tool.name.startswith("recall"):
            assert "limit" not in tool.input_schema["properties"]


def test_the_annotations_say_what_a_tool_may_do(client: Any) -> None:
    for tool in client.tools():
        hints = tool.annotations
        assert hints.read_only_hint is (tool.name in READS)
        assert hints.destructive_hint is (tool.name in DELETES)
        assert hints.idempotent_hint is (tool.name != "feedback")
        assert hints.open_world_hint is False


def test_the_instructions_teach_the_loop(client: Any) -> None:
    for word in ("recall", "remember", "links", "why", "feedback", "supersedes", "id_str"):
        assert word in client.instructions


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_has_the_name_of_its_handler(tool: Any) -> None:
    assert tool.handler.__name__ == tool.name
