"""Sort keys: comparing the bytes is comparing the values, exactly and within one type."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core.predicates import matches
from veles_core.records import Predicate
from veles_core.scalars import sort_key, type_range

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
strings = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.none() | st.booleans() | numbers | strings
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3)
)


def compared(left: object, right: object) -> int:
    return (left > right) - (left < right)  # type: ignore[operator]


@given(numbers, numbers)
def test_numbers_order_exactly_whatever_their_size_and_kind(left: float, right: float) -> None:
    assert compared(sort_key(left), sort_key(right)) == compared(Fraction(left), Fraction(right))


@given(st.integers(-(2**70), 2**70), st.integers(-2, 2))
def test_neighbours_beyond_double_precision_stay_apart(number: int, step: int) -> None:
    assert compared(sort_key(number), sort_key(number + step)) == compared(0, step)


@given(strings, strings)
def test_strings_order_by_code_point(left: str, right: str) -> None:
    assert compared(sort_key(left), sort_key(right)) == compared(left, right)


def same(left: object, right: object) -> bool:
    """Structural equality of JSON, where true is not 1 and 1 is 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return left == right


@given(json_values, json_values)
def test_keys_are_equal_exactly_if_the_values_are(left: object, right: object) -> None:
    assert (sort_key(left) == sort_key(right)) == same(left, right)


@given(json_values)
def test_a_key_lies_in_the_range_of_its_type(value: object) -> None:
    low, high = type_range(sort_key(value))
    assert low <= sort_key(value) < high


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), object(), {1, 2}])
def test_what_is_no_json_has_no_key(value: object) -> None:
    with pytest.raises(ValueError, match="JSON"):
        sort_key(value)


FACTS = {
    "A": {"n": 50},
    "B": {"n": "50"},
    "C": {"n": True},
    "D": {"n": None},
    "E": {},
    "F": {"n": 50.5},
    "G": {"n": 9007199254740993},
}


@pytest.mark.parametrize(
    ("op", "value", "expected"),
    [
        ("eq", 50, "A"), ("eq", 50.0, "A"), ("eq", "50", "B"), ("eq", True, "C"), ("eq", 1, ""),
        ("ge", 50, "AFG"), ("lt", "6", "B"), ("ne", "other", "ABCDEFG"), ("ne", 50, "BCDEFG"),
        ("ne", True, "ABDEFG"), ("eq", 9007199254740992, ""), ("gt", 9007199254740992, "G"),
        ("le", 50.5, "AF"), ("gt", "4", "B"),
    ],
)  # fmt: skip
def test_predicates_are_strict_about_types(op: str, value: object, expected: str) -> None:
    predicate = Predicate("n", op, value)  # type: ignore[arg-type]
    assert "".join(name for name, fact in FACTS.items() if matches(fact, [predicate])) == expected
