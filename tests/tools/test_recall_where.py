"""recall_where: comparisons that are strict about types, and what is no comparison."""

from typing import Any

import pytest

from tests.serving import check_refusal

BIG = 9_007_199_254_740_993  # 2^53 + 1, which no double holds
VALUES: dict[str, dict[str, Any]] = {
    "A": {"n": 50},
    "B": {"n": "50"},
    "C": {"n": True},
    "D": {"n": None},
    "E": {},
    "F": {"n": 50.5},
    "G": {"n": BIG},
}


def names(answer: dict[str, Any]) -> str:
    """The names of the facts found, in alphabetical order."""
    return "".join(sorted(memory["content"][-1] for memory in answer["memories"]))


@pytest.fixture
def seven(client: Any) -> Any:
    for name, metadata in VALUES.items():
        client.call("remember", fact=f"fact {name}", metadata=metadata)
    return client


def test_values_of_two_types_are_never_equal(seven: Any) -> None:
    for op, value, expected in [
        ("eq", 50, "A"),
        ("eq", 50.0, "A"),
        ("eq", "50", "B"),
        ("eq", True, "C"),
        ("eq", 1, ""),
        ("ge", 50, "AFG"),
        ("lt", "6", "B"),
        ("ne", "other", "ABCDEFG"),
        ("ne", 50, "BCDEFG"),
        ("ne", True, "ABDEFG"),
        ("eq", BIG - 1, ""),
        ("gt", BIG - 1, "G"),
        ("le", BIG, "AFG"),
        ("lt", 50.5, "A"),
    ]:
        filters = [{"field": "n", "op": op, "value": value}]
        found = seven.call("recall_where", query="x", k=20, filters=filters)
        assert names(found) == expected, (op, value)
    for value, expected in [(50.0, "A"), (True, "C"), ("50", "B")]:
        found = seven.call("recall", query="x", k=20, filter={"n": value})
        assert names(found) == expected, value


def test_no_comparison_is_plain_recall_and_all_must_hold(seven: Any) -> None:
    assert names(seven.call("recall_where", query="x", filters=[])) == "ABCDEFG"
    since = {"field": "_veles_date", "op": "ge", "value": 20000101}
    assert names(seven.call("recall_where", query="x", filters=[since])) == "ABCDEFG"
    number = {"field": "n", "op": "gt", "value": 50}
    assert names(seven.call("recall_where", query="x", filters=[since, number])) == "FG"
    none = {"field": "_veles_date", "op": "lt", "value": 20000101}
    assert names(seven.call("recall_where", query="x", filters=[none])) == ""


def test_a_field_is_any_metadata_key(client: Any) -> None:
    for key in ("a.b", "with space", "§"):
        client.call("remember", fact=f"fact {key}", metadata={key: 1})
    for key in ("a.b", "with space", "§"):
        filters = [{"field": key, "op": "eq", "value": 1}]
        (found,) = client.call("recall_where", query="fact", filters=filters)["memories"]
        assert found["content"] == f"fact {key}"


def test_a_range_of_dates_and_the_most_similar_first(client: Any) -> None:
    for day in (20251231, 20260105, 20260131, 20260201):
        metadata = {"_veles_date": day}
        client.call("remember", fact=f"incident {day} in checkout", metadata=metadata)
    client.call("remember", fact="lunch", metadata={"_veles_date": 20260110})
    filters = [
        {"field": "_veles_date", "op": "ge", "value": 20260101},
        {"field": "_veles_date", "op": "le", "value": 20260131},
    ]
    question = "incident 20260131 in checkout"
    found = client.call("recall_where", query=question, filters=filters)["memories"]
    assert [memory["metadata"]["_veles_date"] for memory in found] == [20260131, 20260105, 20260110]
    scores = [memory["score"] for memory in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(1, abs=1e-3)


def test_scaffolding_is_never_returned(client: Any) -> None:
    client.call("remember", fact="fact A")
    client.call("save_working_context", project="p", session="s", working={"goal": "g"})
    client.call("compile_context", query="x", token_budget=9, fragments=[{"content": "text"}])
    filters = [{"field": "absent", "op": "ne", "value": 1}]
    assert names(client.call("recall_where", query="g", filters=filters)) == "A"


@pytest.mark.parametrize(
    ("comparison", "words"),
    [
        ({"field": "n", "op": "gt", "value": True}, ["booleans have no order", "eq or ne"]),
        ({"field": "n", "op": "eq", "value": None}, ["filters[0].value is required"]),
        ({"field": "n", "op": "eq", "value": [50]}, ["filters[0].value", "an array"]),
        ({"field": "n", "op": "eq", "value": {"a": 1}}, ["filters[0].value", "an object"]),
        ('{"field": "n", "op": "eq", "value": Infinity}', ["finite"]),
        ({"field": "n", "op": "like", "value": 1}, ["filters[0].op must be one of", '"like"']),
        ({"field": "n", "op": "eq"}, ["filters[0].value is required"]),
        ({"op": "eq", "value": 1}, ["filters[0].field is required"]),
        ({"field": 1, "op": "eq", "value": 1}, ["filters[0].field must be a string"]),
        ({"field": "content", "op": "eq", "value": 1}, ["'content'", "reserved"]),
        ({"field": "_veles_kind", "op": "ne", "value": 1}, ["reserved", "_veles_date"]),
        ({"field": "n", "op": "eq", "value": 1, "val": 1}, ["did you mean value?"]),
        ("n eq 1", ["filters[0] must be an object"]),
    ],
)
def test_what_is_no_comparison_is_refused(refusing: Any, comparison: Any, words: list[str]) -> None:
    arguments = {"query": "x", "filters": [comparison]}
    check_refusal(refusing, "recall_where", arguments, *words, field="filters")


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({"query": "x"}, "filters", ["required"], {}),
        ({"filters": []}, "query", ["required"], {}),
        ({"query": "x", "filters": {}}, "filters", ["must be an array"], {}),
        ({"query": "x", "filters": "[1"}, "filters", ["must be an array"], {}),
        ({"query": "x", "filters": [{"field": "n", "op": "ne", "value": n} for n in range(65)]},
         "filters", ["65 conditions", "at most 64"], {"limit": 64, "actual": 65}),
        ({"query": "x" * (2**20 + 1), "filters": []}, "query", ["1048577 bytes"],
         {"limit": 2**20}),
        ({"query": "x", "filters": [], "k": "ten"}, "k", ["must be an integer"], {}),
        ({"query": "x", "filter": {}}, "filter", ["did you mean filters?"], {}),
    ],
)  # fmt: skip
def test_bad_questions_are_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], data: dict[str, Any]
) -> None:
    check_refusal(refusing, "recall_where", arguments, *words, field=field, **data)
