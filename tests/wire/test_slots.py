"""Slots: one advertised type, its JSON text as well where that can't be mistaken, nothing else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core.errors import InvalidInput
from veles_core.limits import MAX_ID, MAX_JSON_DEPTH
from veles_core.wire.arguments import Arguments, read
from veles_core.wire.slots import (
    Boolean,
    Byte,
    DecimalId,
    Id,
    Items,
    JsonObject,
    Named,
    Natural,
    Number,
    Scalar,
    Text,
)


class Slots(Arguments):
    text: Text | None = None
    id: Id | None = None
    decimal_id: DecimalId | None = None
    natural: Natural | None = None
    byte: Byte | None = None
    number: Number | None = None
    boolean: Boolean | None = None
    object: JsonObject | None = None
    texts: Items[Text] | None = None
    named: Named[Natural] | None = None
    scalar: Scalar = None


def accepted(slot: str, value: object) -> Any:
    return getattr(read(Slots, {slot: value}), slot)


def outcome(slot: str, value: object) -> Any:
    try:
        return accepted(slot, value)
    except InvalidInput as error:
        return error


def refused(slot: str, value: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        read(Slots, {slot: value})
    assert caught.value.field == slot
    return caught.value


def nested(depth: int) -> dict[str, Any]:
    inner: dict[str, Any] = {}
    for _ in range(depth):
        inner = {"a": inner}
    return inner


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize("value", [6, "6", " 6 ", "6\n"])
def test_an_integer_slot_takes_an_integer_in_both_forms(value: object) -> None:
    assert accepted("natural", value) == 6


@pytest.mark.parametrize(
    "value",
    [6.0, "6.0", "6e0", 1.5, "1.5", "many", "", "null", "06", "0x6", "+6", "６", True, "true",
     [6], "[6]", {}, "{}", '"6"', float("nan"), "9" * 5000],
)  # fmt: skip
def test_an_integer_slot_refuses_everything_else(value: object) -> None:
    assert "must be an integer" in refused("natural", value).message


def test_a_bound_is_told_with_the_value_and_the_limit() -> None:
    error = refused("natural", "-1")
    assert error.message == "natural must be at least 0, not -1"
    assert error.limit == 0


@pytest.mark.parametrize(
    ("value", "number"), [(1, 1.0), (0.5, 0.5), ("0.5", 0.5), ("-1e-3", -1e-3)]
)
def test_a_number_slot_takes_any_finite_number(value: object, number: float) -> None:
    assert accepted("number", value) == number


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "NaN", "Infinity", "-Infinity", "1e999", 10**400, "half", "null",
     True, "true", [], {}],
)  # fmt: skip
def test_a_number_slot_refuses_what_is_not_a_finite_number(value: object) -> None:
    assert "must be a" in refused("number", value).message


@pytest.mark.parametrize(("value", "truth"), [(True, True), ("true", True), ("false", False)])
def test_a_boolean_slot_takes_a_boolean_in_both_forms(value: object, truth: bool) -> None:
    assert accepted("boolean", value) is truth


@pytest.mark.parametrize("value", ["yes", "True", "1", 1, 0, "null", "", [], {}])
def test_a_boolean_slot_refuses_everything_else(value: object) -> None:
    assert "must be a boolean" in refused("boolean", value).message


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_an_object_slot_takes_an_object_in_both_forms(value: dict[str, Any]) -> None:
    assert accepted("object", value) == value
    assert accepted("object", json.dumps(value)) == value


@pytest.mark.parametrize("value", ["[1,2]", "null", "6", "{", "text", "", [], 6, True])
def test_an_object_slot_refuses_everything_else(value: object) -> None:
    assert "must be an object" in refused("object", value).message


@pytest.mark.parametrize(
    "value", [{"a": float("nan")}, {"a": [float("inf")]}, '{"a": NaN}', '{"a": -1e999}']
)
def test_an_object_holds_finite_numbers_only(value: object) -> None:
    assert "finite" in refused("object", value).message


def test_an_object_is_refused_below_the_depth_limit_in_both_forms() -> None:
    assert accepted("object", nested(MAX_JSON_DEPTH)) == nested(MAX_JSON_DEPTH)
    for deep in (nested(MAX_JSON_DEPTH + 1), json.dumps(nested(MAX_JSON_DEPTH + 1))):
        error = refused("object", deep)
        assert error.limit == MAX_JSON_DEPTH
    assert "object" in refused("object", "[" * 100_000).message
    refused("object", nested(50_000))


def test_an_array_slot_takes_an_array_in_both_forms() -> None:
    assert accepted("texts", ["6", "x"]) == ("6", "x")
    assert accepted("texts", '["6", "x"]') == ("6", "x")
    assert accepted("texts", []) == ()


@pytest.mark.parametrize("value", ["{}", "null", "x", {}, 6, True])
def test_an_array_slot_refuses_everything_else(value: object) -> None:
    assert "must be an array" in refused("texts", value).message


@given(st.text())
def test_a_string_slot_is_never_decoded(text: str) -> None:
    assert accepted("text", text) == text


@pytest.mark.parametrize("text", ['{"nodes": 6}', "null", "6", "true", '"quoted"', "[1]", " x "])
def test_a_string_that_looks_like_json_is_a_string(text: str) -> None:
    assert accepted("text", text) == text


@pytest.mark.parametrize("value", [6, 1.5, True, [], {}])
def test_a_string_slot_refuses_other_types(value: object) -> None:
    assert "must be a string" in refused("text", value).message


@pytest.mark.parametrize(
    ("slot", "value"),
    [("text", "ab\ud800"), ("object", {"a": "\udfff"}), ("object", {"\ud800": 1}),
     ("object", '{"a": "\\ud800"}'), ("texts", ["\ud800"]), ("scalar", "\ud800")],
)  # fmt: skip
def test_lone_surrogates_are_refused_by_name(slot: str, value: object) -> None:
    message = refused(slot, value).message
    assert "lone surrogate" in message
    message.encode()


@pytest.mark.parametrize("value", [0, MAX_ID, "0", str(MAX_ID), " 42 "])
def test_an_id_slot_takes_an_integer_or_its_digits(value: int | str) -> None:
    assert accepted("id", value) == int(value)


@pytest.mark.parametrize("value", [7, "7", " 7 ", "007"])
def test_an_id_may_be_kept_as_its_digits(value: int | str) -> None:
    assert accepted("decimal_id", value) == "7"
    assert "must be an id" in refused("decimal_id", f"x{value}").message


def test_a_byte_is_an_integer_up_to_255() -> None:
    assert (accepted("byte", "0"), accepted("byte", 255)) == (0, 255)
    error = refused("byte", 256)
    assert error.message == "byte must be at most 255, not 256"
    assert error.limit == 255


def test_an_object_with_members_of_any_name_checks_each_of_them() -> None:
    assert accepted("named", '{"a": "6", "ü": 7}') == {"a": 6, "ü": 7}
    assert refused("named", {"a": "x"}).message == 'named.a must be an integer, not "x"'
    assert "must be an object" in refused("named", [6]).message
    assert "lone surrogate" in refused("named", {"\ud800": 6}).message


@pytest.mark.parametrize(
    "value",
    [-1, "-1", "+5", "1e3", "1_000", "٣", "", "x", MAX_ID + 1, str(MAX_ID + 1), 1.8446744e19, 1.0,
     True, [], {}, [10**5000], "\ud800"],
)  # fmt: skip
def test_an_id_slot_refuses_everything_else(value: object) -> None:
    error = refused("id", value)
    assert "must be an id" in error.message
    assert len(error.message) < 300


def test_an_integer_too_long_to_print_is_refused_all_the_same() -> None:
    assert "more than 70 digits" in refused("id", 10**5000).message


@pytest.mark.parametrize("value", ["x", "null", '{"a":1}', 50, 50.5, True, 2**53 + 1])
def test_a_scalar_slot_keeps_its_value_and_type(value: object) -> None:
    kept = accepted("scalar", value)
    assert kept == value
    assert type(kept) is type(value)


@pytest.mark.parametrize("value", [[50], {"a": 1}, float("nan")])
def test_a_scalar_slot_refuses_containers_and_nan(value: object) -> None:
    refused("scalar", value)


@given(json_values.filter(lambda value: value is not None))
def test_any_value_is_taken_or_refused_in_short(value: object) -> None:
    for slot in Slots.model_fields:
        for form in (value, json.dumps(value)):
            error = outcome(slot, form)
            if isinstance(error, InvalidInput):
                assert error.field == slot
                assert len(error.message) < 300


def test_a_long_value_is_not_repeated() -> None:
    assert len(refused("natural", "x" * 10_000).message) < 200
