"""The reference's two invariants, over whatever a live server advertises.

No tool and no slot is named here: the schemas are walked, so a new slot is covered the
day it is advertised.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import mcp_types as mcp

Path = tuple[str | int, ...]

ANY = "any name"  # a member of an object whose members are named by the caller

# 200 is an integer that every slot takes, whatever else its tool asks of it.
SAMPLES: dict[str, Any] = {"integer": 200, "number": 0.5, "boolean": True}
INCOMPATIBLE: dict[str, list[Any]] = {
    "integer": ["abc", 1.5, 6.0, True, [6], {"a": 6}],
    "number": ["abc", True, [0.5], {"a": 0.5}],
    "boolean": ["yes", 1, 0, 1.5, [True], {"a": True}],
}
NEVER = ["", "null", "tru", "[", "{}", "[]", '"6"', '"true"', "NaN", "Infinity", "1e999"]


def scalar_slots(schema: dict[str, Any], path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every slot of one scalar type in an input schema, with its path."""
    if schema["type"] == "array":
        yield from scalar_slots(schema["items"], (*path, 0))
    elif schema["type"] == "object":
        for name, slot in members(schema).items():
            yield from scalar_slots(slot, (*path, name))
    elif isinstance(schema["type"], str):
        yield path, schema["type"]


def members(schema: dict[str, Any]) -> dict[str, Any]:
    """The schemas of an object's members by name."""
    if isinstance(schema.get("additionalProperties"), dict):
        return {ANY: schema["additionalProperties"]}
    return schema.get("properties", {})


def sample(schema: dict[str, Any]) -> Any:
    """A value of a schema with its required members only."""
    match schema["type"]:
        case "object":
            slots = schema.get("properties", {})
            return {name: sample(slots[name]) for name in schema.get("required", [])}
        case "array":
            return [sample(schema["items"])]
        case "string":
            return schema.get("enum", ["1"])[0]
        case str() as kind:
            return SAMPLES[kind]
        case _:
            return "x"


def arguments(schema: dict[str, Any], path: Path, value: Any) -> Any:
    """Arguments that are valid but for ``value`` at ``path``."""
    if not path:
        return value
    head, *rest = path
    if isinstance(head, int):
        return [arguments(schema["items"], tuple(rest), value)]
    inner = arguments(members(schema)[head], tuple(rest), value)
    return sample(schema) | {head: inner}


def accepts(client: Any, tool: Any, path: Path, value: Any) -> bool:
    """Whether the wire takes a value: the call answers, or fails for another reason."""
    outcome = client.outcome(tool.name, arguments(tool.input_schema, path, value))
    if not isinstance(outcome, mcp.ErrorData):
        return True
    assert outcome.code == -32602, outcome.message
    return outcome.data["category"] != "InvalidInput" or outcome.data["field"] != path[0]


def test_same_named_scalar_input_slots_share_wire_tolerance(client: Any) -> None:
    tolerance: dict[tuple[Any, str], list[tuple[bool, ...]]] = defaultdict(list)
    for tool in client.tools():
        for path, kind in scalar_slots(tool.input_schema):
            if kind == "string":
                continue
            forms = [SAMPLES[kind], json.dumps(SAMPLES[kind]), *NEVER]
            seen = tuple(accepts(client, tool, path, form) for form in forms)
            tolerance[path[-1], kind].append(seen)
    assert len(tolerance) >= 8
    for slot, seen_in_each_tool in tolerance.items():
        assert len(set(seen_in_each_tool)) == 1, slot
        assert seen_in_each_tool[0] == (True, True, *[False] * len(NEVER)), slot


def test_every_non_string_scalar_input_rejects_incompatible_forms(client: Any) -> None:
    probed = 0
    for tool in client.tools():
        for path, kind in scalar_slots(tool.input_schema):
            if kind == "string":
                continue
            probed += 1
            assert accepts(client, tool, path, SAMPLES[kind])
            for value in INCOMPATIBLE[kind]:
                assert not accepts(client, tool, path, value), (tool.name, path, value)
                assert not accepts(client, tool, path, json.dumps(value)), (tool.name, path, value)
    assert probed >= 10


def test_no_string_slot_decodes_json(client: Any) -> None:
    fact = client.call("remember", fact='{"nodes": 6}')
    (memory,) = client.call("recall", query='{"nodes": 6}', k=1)["memories"]
    assert (memory["id"], memory["content"]) == (fact["id"], '{"nodes": 6}')
