"""What ``tools/list`` advertises, slot by slot, and that every client can read it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.server.shapes import INPUTS, OUTPUTS
from veles_core.server.tools import TOOLS

READS = {
    "recall",
    "recall_where",
    "recall_fused",
    "why",
    "memory_status",
    "list_memories",
    "entity",
    "extraction_status",
    "explain_compilation",
    "retrieve_context_source",
    "context_savings",
    "suggest_budget",
    "load_working_context",
    "list_working_contexts",
    "migration_status",
}
DELETES = {"unrelate", "forget", "migration_cancel"}
COUNTS = {"feedback", "migration_start"}  # again is not the same as once


def shape(schema: dict[str, Any]) -> Any:
    """A schema in the notation of ``shapes``; anything that it can't tell is an error."""
    told = dict(schema)
    told.pop("description", None)
    if "anyOf" in told:
        value, absent = told.pop("anyOf")
        assert told == {}
        return shape(value), shape(absent)
    kind = told.pop("type")
    if kind == "array":
        items = told.pop("items")
        assert told.pop("default", []) == []
        assert told == {}
        return [shape(items)]
    if "properties" in told:
        return members(told)
    name = kind if isinstance(kind, str) else " or ".join(kind)
    match told.pop("additionalProperties", None):
        case dict() as inner:
            assert told == {}
            return {"*": shape(inner)}
        case extra:
            assert extra is ("object" in name or None)
    if "enum" in told:
        name += " of " + " ".join(told.pop("enum"))
    if "minimum" in told:
        name += f" >= {told.pop('minimum')}"
    if "maximum" in told:
        name += f" <= {told.pop('maximum')}"
    if "default" in told:
        name += f" = {json.dumps(told.pop('default'))}"
    assert told == {}
    return name


def members(told: dict[str, Any]) -> dict[str, Any]:
    """The shape of an object, whose default holds exactly those of its members."""
    required, slots = told.pop("required", []), told.pop("properties")
    defaults = {name: slot["default"] for name, slot in slots.items() if "default" in slot}
    assert told.pop("default", defaults) == defaults
    assert told == {}
    return {name + "!" * (name in required): shape(slot) for name, slot in slots.items()}


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema inside a schema, itself included; property names are not schemas."""
    if isinstance(schema, list):
        for item in schema:
            yield from nodes(item)
    elif isinstance(schema, dict):
        yield schema
        for keyword, part in schema.items():
            if keyword != "default":
                yield from nodes(list(part.values()) if keyword == "properties" else part)


def test_exactly_the_27_tools_are_advertised(client: Any) -> None:
    assert [tool.name for tool in client.tools()] == list(INPUTS)
    assert len(INPUTS) == 27


def test_the_advertised_inputs_are_exactly_these(client: Any) -> None:
    assert {tool.name: shape(tool.input_schema) for tool in client.tools()} == INPUTS


def test_the_advertised_answers_are_exactly_these(client: Any) -> None:
    assert {tool.name: shape(tool.output_schema) for tool in client.tools()} == OUTPUTS


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
        assert hints.idempotent_hint is (tool.name not in COUNTS)
        assert hints.open_world_hint is False


def test_the_instructions_teach_the_loop(client: Any) -> None:
    for word in ("recall", "remember", "links", "why", "feedback", "supersedes", "id_str"):
        assert word in client.instructions


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_has_the_name_of_its_handler(tool: Any) -> None:
    assert tool.handler.__name__ == tool.name
