"""What a store promises of predicates: type-strict, exact, never coerced."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from veles_core.protocols import Store
from veles_core.records import ABOUT, MENTIONS, Edge, Op, Predicate
from veles_core.testing.store.fixtures import EAST, HIGH, StoreFixtures, hub, ids, record

_EQUALITIES: Final[tuple[Op, ...]] = ("eq", "ne")
_ORDER: Final[Mapping[Op, Callable[[Any, Any], bool]]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}

# The letters are facts 0 to 6; each row is an operator, a value and the facts that match.
TYPES: Final[dict[str, dict[str, Any]]] = {
    "A": {"n": 50},
    "B": {"n": "50"},
    "C": {"n": True},
    "D": {"n": None},
    "E": {},
    "F": {"n": 50.5},
    "G": {"n": 9007199254740993},
}
COMPARISONS: Final[list[tuple[Op, Any, str]]] = [
    ("eq", 50, "A"),
    ("eq", 50.0, "A"),
    ("eq", "50", "B"),
    ("eq", True, "C"),
    ("eq", 1, ""),
    ("eq", None, "D"),
    ("ge", 50, "AFG"),
    ("lt", "6", "B"),
    ("gt", "", "B"),
    ("ne", "other", "ABCDEFG"),
    ("ne", 50, "BCDEFG"),
    ("ne", True, "ABDEFG"),
    ("ne", None, "ABCEFG"),
    ("eq", 9007199254740992, ""),
    ("gt", 9007199254740992, "G"),
    ("eq", 9007199254740993, "G"),
    ("le", 9007199254740992.0, "AF"),
    ("lt", 50.5, "A"),
]

VALUES: Final[list[Any]] = [
    *(None, True, False, 0, -0.0, 1, 1.0, -1, 0.1, 0.5, 5e-324, -5e-324, 1e300, -1e300),
    *(2**53, 2**53 + 1, float(2**53), -(2**53) - 1, 2**63 - 1, 2**63, float(2**63), 2**64),
    *(-(2**63), -(2**63) - 1, 10**30, 1e30, "", "1", "a", "A", "ab", "é", "e\u0301", "true"),
    *("null", "\x00", "a\x00", "\uffff", "😀", [], [1], [1.0], [True], [[1]], ["1"], {}),
    *({"a": 1}, {"a": 1.0, "b": 2}, {"b": 2, "a": 1}, {"a": None}, {"a": {"b": [2**63]}}),
]

FIELDS: Final = ["a.b", "a b", "", "$eq", "_veles_date", "'\"\\", "ключ", "a\x00b", "n" * 3000]


def equal(left: Any, right: Any) -> bool:
    """Structural JSON equality: 1 is 1.0, True is neither."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[k], right[k]) for k in left)
    return bool(left == right)


def matches(metadata: Mapping[str, Any], predicate: Predicate) -> bool:
    """The promise itself, in Python, whose integers and floats compare exactly."""
    present = predicate.field in metadata
    value = metadata.get(predicate.field)
    if predicate.op in ("eq", "ne"):
        return (present and equal(value, predicate.value)) is (predicate.op == "eq")
    same_type = present and any(
        isinstance(value, kind) and isinstance(predicate.value, kind)
        for kind in (str, (int, float))
    )
    if not same_type or isinstance(value, bool):
        return False
    return _ORDER[predicate.op](value, predicate.value)


class PredicatesContract(StoreFixtures):
    """A predicate matches exactly the facts it should, in scans and in searches."""

    def test_types_are_never_mixed(self, store: Store) -> None:
        store.put_facts([record(n, metadata=m) for n, m in enumerate(TYPES.values())])
        for op, value, letters in COMPARISONS:
            predicates = [Predicate("n", op, value)]
            scanned = ids(store.scan_facts(None, 20, predicates))
            assert "".join("ABCDEFG"[n] for n in scanned) == letters, predicates
            assert ids(store.search(EAST, 20, predicates)) == scanned, predicates

    def test_every_value_compares_exactly_with_every_other(self, store: Store) -> None:
        stored: list[dict[str, Any]] = [{}, *({"v": value} for value in VALUES)]
        store.put_facts([record(n, metadata=metadata) for n, metadata in enumerate(stored)])
        equalities = [Predicate("v", op, value) for op in _EQUALITIES for value in VALUES]
        orders = [
            Predicate("v", op, value) for op in _ORDER for value in filter(_has_order, VALUES)
        ]
        wrong = []
        for predicate in [*equalities, *orders]:
            expected = [n for n, metadata in enumerate(stored) if matches(metadata, predicate)]
            found = ids(store.scan_facts(None, 1000, [predicate]))
            if found != expected:
                differing = sorted({*found} ^ {*expected})
                wrong.append((predicate, [stored[n] for n in differing]))
        assert wrong == []

    def test_any_key_is_a_field(self, store: Store) -> None:
        store.put_facts(
            [
                record(1, metadata=dict.fromkeys(FIELDS, 5)),
                record(2, metadata={**dict.fromkeys(FIELDS, 6), "a": {"b": 5}}),
                record(3),
            ]
        )
        for name in FIELDS:
            assert ids(store.scan_facts(None, 9, [Predicate(name, "eq", 5)])) == [1], name
            assert ids(store.scan_facts(None, 9, [Predicate(name, "ge", 5)])) == [1, 2], name
            assert ids(store.scan_facts(None, 9, [Predicate(name, "ne", 5)])) == [2, 3], name

    def test_long_strings_compare_to_their_last_character(self, store: Store) -> None:
        long = "long " * 12_000
        store.put_facts([record(n, metadata={"s": long + end}) for n, end in enumerate("abc")])
        assert ids(store.scan_facts(None, 9, [Predicate("s", "eq", long + "b")])) == [1]
        assert ids(store.scan_facts(None, 9, [Predicate("s", "gt", long + "a")])) == [1, 2]
        assert ids(store.scan_facts(None, 9, [Predicate("s", "le", long + "b")])) == [0, 1]

    def test_all_predicates_must_hold(self, store: Store) -> None:
        store.put_facts([record(n, metadata={"n": n, "odd": n % 2 == 1}) for n in range(10)])
        both = [Predicate("n", "ge", 3), Predicate("n", "lt", 8), Predicate("odd", "eq", True)]
        assert ids(store.scan_facts(None, 99, both)) == [3, 5, 7]
        assert ids(store.scan_facts(3, 1, both)) == [5]
        assert ids(store.search(EAST, 2, both)) == [3, 5]
        assert store.scan_facts(None, 99, [*both, Predicate("n", "eq", 4)]) == []

    def test_pages_of_matching_facts_are_full(self, store: Store) -> None:
        store.put_facts([record(n, metadata={"n": n % 10}) for n in range(200)])
        rare = [Predicate("n", "eq", 7)]
        assert ids(store.scan_facts(None, 15, rare)) == list(range(7, 150, 10))
        assert ids(store.scan_facts(147, 15, rare)) == list(range(157, 200, 10))

    def test_replaced_metadata_no_longer_matches(self, store: Store) -> None:
        store.put_facts([record(1, metadata={"a": 1, "b": 1})])
        store.put_facts([record(1, metadata={"a": 2})])
        assert store.scan_facts(None, 9, [Predicate("a", "eq", 1)]) == []
        assert store.scan_facts(None, 9, [Predicate("b", "eq", 1)]) == []
        assert ids(store.scan_facts(None, 9, [Predicate("a", "eq", 2)])) == [1]
        assert ids(store.scan_facts(None, 9, [Predicate("b", "ne", 1)])) == [1]

    def test_hubs_never_match(self, store: Store) -> None:
        store.put_facts([hub(1, "one", color="red"), record(2, metadata={"color": "red"})])
        for op in ("eq", "ge"):
            assert ids(store.scan_facts(None, 9, [Predicate("color", op, "red")])) == [2]
        assert ids(store.scan_facts(None, 9, [Predicate("color", "ne", "blue")])) == [2]
        through = [Predicate("color", "eq", "red", through_hubs=True)]
        assert ids(store.scan_facts(None, 9, through)) == [2]

    def test_attributes_of_hubs_count_if_asked(self, store: Store) -> None:
        store.put_facts(
            [
                record(1, metadata={"color": "red"}),
                record(2),
                record(3, metadata={"color": "blue"}),
                record(4),
                record(HIGH + 5),
                hub(20, "red one", color="red", size=7),
                hub(HIGH + 21, "blue one", color="blue"),
            ]
        )
        about = [(2, 20), (3, 20), (HIGH + 5, 20), (HIGH + 5, HIGH + 21)]
        store.put_edges([Edge(n, a, ABOUT, b) for n, (a, b) in enumerate(about)])

        def found(op: Op, value: Any, through: bool, field: str = "color") -> list[int]:
            predicate = Predicate(field, op, value, through_hubs=through)
            hits = ids(store.search(EAST, 9, [predicate]))
            assert ids(store.scan_facts(None, 9, [predicate])) == hits
            return hits

        assert found("eq", "red", False) == [1]
        assert found("eq", "red", True) == [1, 2, 3, HIGH + 5]
        assert found("eq", "blue", True) == [3, HIGH + 5]
        assert found("ne", "red", True) == [4]
        assert found("ne", "blue", True) == [1, 2, 4]
        assert found("gt", 6.5, True, "size") == [2, 3, HIGH + 5]
        assert found("gt", 7, True, "size") == []

    def test_only_about_edges_to_visible_hubs_count(self, store: Store) -> None:
        store.put_facts(
            [
                *(record(n) for n in (1, 2, 3, 4)),
                record(5, metadata={"color": "red"}),
                hub(20, "red one", color="red"),
                hub(21, "another", color="red"),
            ]
        )
        store.put_edges(
            [
                Edge(1, 1, ABOUT, 20),
                Edge(2, 2, "near", 20),
                Edge(3, 20, MENTIONS, 3),
                Edge(4, 4, ABOUT, 5),
                Edge(5, 20, ABOUT, 21),
                Edge(6, 2, ABOUT, 21),
            ]
        )
        red = [Predicate("color", "eq", "red", through_hubs=True)]
        assert ids(store.scan_facts(None, 9, red)) == [1, 2, 5]
        store.delete_edges([1])
        store.delete_facts([21])
        assert ids(store.scan_facts(None, 9, red)) == [5]
        not_red = [Predicate("color", "ne", "red", through_hubs=True)]
        assert ids(store.scan_facts(None, 9, not_red)) == [1, 2, 3, 4]


def _has_order(value: Any) -> bool:
    return isinstance(value, (int, float, str)) and not isinstance(value, bool)
