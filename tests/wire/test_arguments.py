"""Arguments: members by name, null as absence, and refusals that show the way out."""

from typing import Any, ClassVar

import pytest

from veles_core.errors import InvalidInput
from veles_core.wire.arguments import Arguments, read
from veles_core.wire.memory import Recall, RecallWhere, Relate, Remember
from veles_core.wire.slots import Items, Natural, Text


class Inner(Arguments):
    name: Text
    size: Natural = 1


class Outer(Arguments):
    deprecated: ClassVar[dict[str, str]] = {"amount": "count"}

    one: Inner | None = None
    many: Items[Inner] = ()
    count: Natural = 7


def refusal(model: type[Arguments], arguments: dict[str, Any]) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        read(model, arguments)
    return caught.value


def test_null_is_absence_at_every_depth() -> None:
    given = read(Outer, {"one": {"name": "a", "size": None}, "many": None, "count": None})
    assert given == read(Outer, {"one": {"name": "a"}})


def test_null_in_metadata_is_a_value() -> None:
    assert read(Remember, {"fact": "x", "metadata": {"n": None}}).metadata == {"n": None}


def test_a_required_slot_is_named_when_it_is_missing_or_null() -> None:
    for arguments in ({}, {"query": None}):
        error = refusal(Recall, arguments)
        assert (error.message, error.field) == ("query is required", "query")


def test_an_unknown_argument_is_refused_with_the_nearest_known_one() -> None:
    error = refusal(Recall, {"qurey": "x"})
    assert error.message == "qurey is not a known argument; did you mean query?"
    assert error.field == "qurey"


def test_an_unknown_argument_without_a_near_one_lists_all() -> None:
    assert "known: filter, k, query" in refusal(Recall, {"query": "x", "zzz": 1}).message


def test_an_unknown_argument_is_refused_even_if_null() -> None:
    assert refusal(Recall, {"query": "x", "zzz": None}).field == "zzz"


def test_an_unknown_member_inside_a_slot_is_told_with_its_path() -> None:
    error = refusal(Outer, {"many": [{"name": "a"}, {"name": "b", "sise": 2}]})
    assert error.message == "many[1].sise is not a known argument; did you mean size?"
    assert error.field == "many"


def test_a_fault_inside_a_slot_is_told_with_its_path_and_the_slot() -> None:
    error = refusal(Remember, {"fact": "x", "links": [{"target": "-1", "relation": "a"}]})
    assert error.message.startswith("links[0].target must be an id")
    assert error.field == "links"
    assert refusal(Remember, {"fact": "x", "links": [{"target": "1"}]}).message == (
        "links[0].relation is required"
    )


def test_object_slots_and_items_may_come_as_json_text() -> None:
    whole = read(Outer, {"one": '{"name":"a"}', "many": '[{"name":"b"}]'})
    items = read(Outer, {"one": {"name": "a"}, "many": ['{"name":"b"}']})
    assert whole == items
    assert [inner.name for inner in items.many] == ["b"]


def test_a_former_name_is_accepted_but_not_together_with_the_present_one() -> None:
    assert read(Recall, {"query": "x", "limit": 3}).k == 3
    assert read(Recall, {"query": "x", "limit": "3"}).k == 3
    assert read(Recall, {"query": "x", "limit": None, "k": 4}).k == 4
    error = refusal(Recall, {"query": "x", "limit": 3, "k": 3})
    assert error.message == "limit is a former name of k; send k only"
    assert refusal(Outer, {"amount": "x"}).field == "count"


def test_slots_named_by_a_keyword_are_read_by_their_own_name() -> None:
    edge = read(Relate, {"from": "1", "to": 2, "relation": "a"})
    assert (edge.source, edge.target) == (1, 2)
    assert refusal(Relate, {"source": "1", "to": 2, "relation": "a"}).field == "source"


def test_an_operator_is_one_of_the_known() -> None:
    arguments = {"query": "x", "filters": [{"field": "n", "op": "like", "value": 1}]}
    message = refusal(RecallWhere, arguments).message
    assert message.startswith("filters[0].op must be one of 'eq', 'ne'")
    assert message.endswith('not "like"')


def test_a_comparison_with_null_has_no_value() -> None:
    arguments = {"query": "x", "filters": [{"field": "n", "op": "eq", "value": None}]}
    assert refusal(RecallWhere, arguments).message == "filters[0].value is required"


def test_long_names_are_not_repeated_whole() -> None:
    assert len(refusal(Recall, {"query": "x", "z" * 10_000: 1}).message) < 200
