"""Recall: what comes back, in which order, and never what a filter excludes."""

import pytest

from veles_core.errors import InvalidInput
from veles_core.memory.answers import Link
from veles_core.memory.service import MemoryService
from veles_core.records import Predicate

ENGLISH = [
    "Tomatoes want full sun and a stake", "Water the roses early in the morning",
    "Prune the apple tree in late winter", "Compost needs air as well as water",
    "Slugs avoid copper rings around pots", "Sow carrots thinly in loose soil",
    "Mulch keeps the ground moist in July", "Basil and tomatoes share a bed well",
    "Lavender thrives in poor dry ground", "Cut the hedge after the birds have left",
]  # fmt: skip


def contents(memory: MemoryService, query: str, k: int = 10, **filter: object) -> list[str]:
    return [m.content for m in memory.recall(query, k, filter or None).memories]


def test_the_fact_itself_scores_one(memory: MemoryService) -> None:
    memory.remember("we chose parking_lot to avoid lock poisoning")
    (found,) = memory.recall("we chose parking_lot to avoid lock poisoning").memories
    assert found.score == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("k", [0, -3])
def test_asking_for_nothing_gets_nothing(memory: MemoryService, k: int) -> None:
    memory.remember("something")
    assert memory.recall("something", k).memories == ()
    assert memory.recall_fused("something", k).memories == ()


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_a_blank_query_gets_nothing(memory: MemoryService, query: str) -> None:
    memory.remember("something")
    assert memory.recall(query).memories == ()
    assert memory.recall_where(query, []).memories == ()
    assert memory.recall_fused(query).memories == ()
    assert memory.why(query).nodes == ()


def test_results_fill_up_to_k_with_what_has_nothing_in_common(memory: MemoryService) -> None:
    for text in ENGLISH:
        memory.remember(text)
    found = contents(memory, "tomatoes", 10)
    assert len(found) == 10
    assert set(found[:2]) == {ENGLISH[0], ENGLISH[7]}


def test_a_query_as_long_as_a_book_is_answered(memory: MemoryService) -> None:
    memory.remember("the needle")
    assert contents(memory, "the needle " + "hay " * 250_000) == ["the needle"]
    with pytest.raises(InvalidInput, match="at most 1048576"):
        memory.recall("x" * (1 << 20) + "x")


def test_filters_that_few_facts_pass_hide_nothing(memory: MemoryService) -> None:
    for number in range(500):
        memory.remember(f"Canteen menu item {number} is a burger", metadata={"site": "north"})
    south = {"Canteen menu of the south has soup", "Canteen menu of the south has bread"}
    for text in south:
        memory.remember(text, metadata={"site": "south"})
    assert set(contents(memory, "burger", 5, site="south")) == south
    fused = memory.recall_fused("burger", 5, {"site": "south"}).memories
    assert {m.content for m in fused} == south
    where = memory.recall_where("burger", [Predicate("site", "eq", "south")], 1).memories
    assert {m.content for m in where} < south
    assert contents(memory, "burger", 5, site="west") == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [(50, "A"), (50.0, "A"), ("50", "B"), (True, "C"), (None, "D"), (1, ""),
     ({"x": [1, 2]}, "F"), ({"x": [1.0, 2]}, "F"), ({"x": [2, 1]}, "")],
)  # fmt: skip
def test_filters_compare_type_and_structure(
    memory: MemoryService, value: object, expected: str
) -> None:
    facts = {"A": 50, "B": "50", "C": True, "D": None, "F": {"x": [1, 2]}}
    for name, n in facts.items():
        memory.remember(f"fact {name}", metadata={"n": n})
    memory.remember("fact E")
    found = memory.recall("x", 20, {"n": value}).memories
    assert {m.content for m in found} == {f"fact {name}" for name in expected}


@pytest.mark.parametrize("key", ["content", "_veles_date_given", "_veles_kind"])
def test_reserved_keys_are_no_filter(memory: MemoryService, key: str) -> None:
    with pytest.raises(InvalidInput, match="reserved"):
        memory.recall("x", filter={key: 1})
    with pytest.raises(InvalidInput, match="reserved"):
        memory.recall_where("x", [Predicate(key, "ne", 1)])


@pytest.mark.parametrize(
    ("op", "value", "words"),
    [("gt", True, "no order"), ("eq", None, "number, a string or a boolean"),
     ("eq", [50], "number, a string or a boolean"), ("eq", {}, "number"),
     ("lt", float("nan"), "JSON"), ("like", "x", "no operator")],
)  # fmt: skip
def test_bad_comparisons_are_refused(
    memory: MemoryService, op: str, value: object, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        memory.recall_where("x", [Predicate("n", op, value)])  # type: ignore[arg-type]
    assert caught.value.field == "filters"


def test_dates_can_be_compared(memory: MemoryService) -> None:
    memory.remember("early", metadata={"_veles_date": 20260105})
    memory.remember("late", metadata={"_veles_date": 20260205})
    january = [Predicate("_veles_date", "ge", 20260101), Predicate("_veles_date", "le", 20260131)]
    assert [m.content for m in memory.recall_where("x", january).memories] == ["early"]


def test_feedback_lifts_a_fact_from_beyond_the_answer(memory: MemoryService) -> None:
    for number in range(30):
        memory.remember(f"Deploy note {number}: the queue is drained before a release")
    query = "deploy note queue drained release"
    order = memory.recall(query, 30).memories
    chosen = order[15].id
    for _ in range(5):
        memory.feedback(chosen, True)
    assert chosen in {m.id for m in memory.recall(query, 10).memories}


def test_where_orders_by_similarity_alone(memory: MemoryService) -> None:
    for text in ENGLISH:
        memory.remember(text)
    before = [m.id for m in memory.recall_where("tomatoes in a bed", []).memories]
    for _ in range(5):
        memory.feedback(before[-1], True)
    assert [m.id for m in memory.recall_where("tomatoes in a bed", []).memories] == before


def test_equal_scores_are_ordered_by_id(memory: MemoryService) -> None:
    for text in ("alpha beta gamma", "gamma beta alpha", "beta gamma alpha"):
        memory.remember(text)
    answers = [[m.id for m in memory.recall_where("delta", []).memories] for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("超时", 0), ("締め切り", 1), ("화요일", 2), ("billing-worker", 3), ("恢复正常", 3)],
)
def test_text_without_spaces_is_found_by_its_parts(
    memory: MemoryService, query: str, expected: int
) -> None:
    facts = ["会议室预订系统的超时设置为八秒", "結合テストの締め切りは金曜日です",
             "배포는 매주 화요일에 진행한다", "重启billing-worker后恢复正常"]  # fmt: skip
    for text in facts + ENGLISH:
        memory.remember(text)
    assert contents(memory, query, 1) == [facts[expected]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("pre-deploy", 0), ("GB/s", 1), ("api.v2.users", 2), ("don't restart", 3), ('"pre-deploy', 0),
     ("parking_lot", 4), ("mutex)", 4)],
)  # fmt: skip
def test_punctuation_is_text_and_not_syntax(
    memory: MemoryService, query: str, expected: int
) -> None:
    facts = ["Run the pre-deploy checklist before every push", "The link carries 12 GB/s at peak",
             "The flag lives at api.v2.users in the config", "We don't restart the broker by hand",
             "parking_lot replaced the standard mutex"]  # fmt: skip
    for text in facts:
        memory.remember(text)
    assert contents(memory, query, 1) == [facts[expected]]
    for odd in ("NOT NEAR/3 ^col: AND (", "*", "'; DROP TABLE facts; --"):
        assert len(contents(memory, odd, 5)) == 5


def test_fused_recall_folds_in_what_links_reach(memory: MemoryService) -> None:
    cause = memory.remember("Zebra crossings were repainted", metadata={"kind": "log"}).id
    hidden = memory.remember("Completely unrelated words", metadata={"kind": "other"}).id
    memory.remember(
        "The deploy was postponed",
        links=[Link(cause, "caused_by"), Link(hidden, "see")],
        metadata={"kind": "log"},
    )
    for number in range(80):
        memory.remember(f"A deploy note about the queue, number {number}", metadata={"kind": "log"})
    fused = memory.recall_fused(
        "why was the deploy postponed", 5, {"kind": "log"}, graph_boost=1.0, pool=5
    )
    found = {m.id for m in fused.memories}
    assert cause in found
    assert hidden not in found
    assert cause not in {m.id for m in memory.recall("why was the deploy postponed", 5).memories}


def test_dates_are_rendered_oldest_first_and_undated_last(memory: MemoryService) -> None:
    memory.remember("second\nline", metadata={"when": 20260201})
    memory.remember("first", metadata={"when": 20260101})
    memory.remember("never", metadata={"when": "20260101"})
    fused = memory.recall_fused("first second never", date_field="when")
    assert fused.dated_context == "- [2026-01-01] first\n- [2026-02-01] second line\n- never"
    assert fused.now == "2026-02-01"


def test_without_a_dated_fact_there_is_no_timeline(memory: MemoryService) -> None:
    memory.remember("undated")
    fused = memory.recall_fused("undated", date_field="when")
    assert (fused.dated_context, fused.now) == (None, None)


@pytest.mark.parametrize("boost", [float("nan"), float("inf")])
def test_a_boost_that_is_no_number_is_refused(memory: MemoryService, boost: float) -> None:
    with pytest.raises(InvalidInput, match="finite") as caught:
        memory.recall_fused("x", graph_boost=boost)
    assert caught.value.field == "graph_boost"
