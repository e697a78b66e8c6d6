"""Every failure reaches the client as a JSON-RPC error that says what it may say."""

import logging
from collections.abc import Iterator

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from veles_core import errors
from veles_core.errors import VelesError
from veles_core.server.errors import on_the_wire, to_wire

INVALID = {errors.InvalidInput, errors.NotFound}


def tree(root: type[VelesError]) -> Iterator[type[VelesError]]:
    for kind in root.__subclasses__():
        yield kind
        yield from tree(kind)


@pytest.mark.parametrize("kind", list(tree(VelesError)), ids=lambda kind: kind.__name__)
def test_each_class_of_the_tree_is_mapped(kind: type[VelesError]) -> None:
    error = to_wire(kind("what was refused", field="slot", limit=3, actual="four")).error
    expected = INVALID_PARAMS if set(kind.__mro__) & INVALID else INTERNAL_ERROR
    assert error.code == expected
    assert error.message == "what was refused"
    assert error.data == {
        "category": kind.category, "field": "slot", "limit": 3, "actual": "four"
    }  # fmt: skip


def test_the_tree_drawn_in_the_docstring_is_the_tree() -> None:
    assert errors.__doc__ is not None
    for kind in tree(VelesError):
        assert f" {kind.__name__} " in errors.__doc__.replace("\n", " \n")


def test_absent_parts_of_an_error_are_absent_from_its_data() -> None:
    assert to_wire(errors.NotFound("gone")).error.data == {"category": "NotFound"}


def test_an_unforeseen_failure_tells_a_reference_that_the_log_repeats(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(MCPError) as caught, on_the_wire():
        raise KeyError("a secret")
    error = caught.value.error
    assert error.code == INTERNAL_ERROR
    assert "secret" not in error.model_dump_json()
    assert error.data["reference"] in error.message
    assert error.data["reference"] in caplog.text
    assert "a secret" in caplog.text
