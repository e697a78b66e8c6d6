"""Whatever arguments a client makes up: a valid answer or -32602, and a live server after it."""

import json
from collections.abc import Iterator
from typing import Any

import mcp_types as mcp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veles_core.ids import fact_id, source_id
from veles_core.server.app import open_memory
from veles_core.server.tools import TOOLS, Tool

# Ids, a backend that migrates, an extractor, and other strings that lead further than any.
KNOWN = [
    "1",
    "0",
    "18446744073709551615",
    str(fact_id("x")),
    f"ctx://source/{source_id(b'x')}",
    "hash",
    "outline",
    "gpt-4o",
    "x",
    "",
]

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(st.characters(codec=None), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


def plausible(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Mostly values that a slot accepts, some as JSON text, some of any other kind."""
    strange = st.one_of(st.none(), json_values)
    match schema["type"]:
        case "string" if "enum" in schema:
            good = st.sampled_from(schema["enum"])
        case "string":
            good = st.sampled_from(KNOWN) | st.text()
        case "integer":
            good = st.integers(0, 40) | st.integers(0, 2**64)
        case "number":
            good = st.floats(allow_nan=False, allow_infinity=False)
        case "boolean":
            good = st.booleans()
        case "array":
            good = st.lists(plausible(schema["items"]), max_size=3)
        case "object" if schema.get("properties"):
            good = objects(schema)
        case "object" if isinstance(schema["additionalProperties"], dict):
            inner = plausible(schema["additionalProperties"])
            good = st.dictionaries(st.text(max_size=5), inner, max_size=2)
        case "object":
            good = st.dictionaries(st.text(max_size=5), json_values, max_size=3)
        case _:
            good = st.integers() | st.text() | st.booleans() | st.floats(allow_nan=False)
    encoded = good.map(lambda value: json.dumps(value))
    return st.integers(0, 9).flatmap(lambda n: strange if n == 0 else encoded if n == 1 else good)


def objects(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    slots = schema.get("properties", {})
    required = {name: plausible(slots[name]) for name in schema.get("required", ())}
    optional = {name: plausible(slots[name]) for name in slots if name not in required}
    whole = st.fixed_dictionaries(required, optional=optional)
    # The client can't send a null under a lone surrogate; test_stdio does.
    present = json_values.filter(lambda value: value is not None)
    stray = st.dictionaries(st.text(st.characters(codec=None), max_size=5), present, max_size=2)
    return whole | st.builds(lambda a, b: a | b, whole, stray) | stray


@pytest.fixture
def one_client(connect: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("VELESDB_MEMORY_EXTRACTOR", "outline")
    with open_memory() as service, connect(lambda: service) as client:
        one = client.call("remember", fact="x", metadata={"n": 1})["id_str"]
        client.call("remember", fact="x 1", links=[{"target": one, "relation": "after"}])
        client.call("compile_context", query="x", token_budget=9, fragments=[{"content": "x"}])
        client.call("save_working_context", project="x", session="x", working={"goal": "x"})
        yield client


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_any_arguments_are_answered_or_refused(one_client: Any, tool: Tool) -> None:
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(objects(tool.input_schema))
    def call(arguments: dict[str, Any]) -> None:
        outcome = one_client.outcome(tool.name, arguments)
        if isinstance(outcome, mcp.ErrorData):
            assert outcome.code == -32602, outcome.message
            assert outcome.data["category"] in ("InvalidInput", "NotFound")
            assert len(outcome.message) < 600

    call()
    one_client.call("memory_status")
