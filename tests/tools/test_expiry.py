"""Expired facts: gone from every tool from their second on."""

from typing import Any

from tests.serving import check_refusal
from veles_core.testing.clock import SettableClock

PERMANENT = [
    "Deploy queue alarms at depth 500",
    "Deploy queue is drained nightly",
    "Deploy queue owner is the platform group",
]


def note(number: int) -> str:
    return f"Queue depth note {number}: check the deploy queue"


def contents(answer: dict[str, Any]) -> list[str]:
    return sorted(memory["content"] for memory in answer["memories"])


def test_expired_facts_are_in_no_answer(timed: Any, clock: SettableClock) -> None:
    ids = [timed.call("remember", fact=note(n), ttl_seconds=2)["id_str"] for n in range(1, 31)]
    owner, *_ = [timed.call("remember", fact=fact)["id_str"] for fact in PERMANENT]
    timed.call("relate", **{"from": owner, "to": ids[8], "relation": "see"})
    clock.advance(1.999)
    assert timed.call("memory_status")["memory"] == {"facts": 33, "edges": 1}
    clock.advance(1)
    question = "deploy queue depth note"
    assert contents(timed.call("recall", query=question, k=3)) == PERMANENT
    assert contents(timed.call("recall_fused", query=question, k=3)) == PERMANENT
    assert contents(timed.call("recall_where", query=question, filters=[])) == PERMANENT
    assert timed.call("memory_status")["memory"] == {"facts": 3, "edges": 0}
    assert contents(timed.call("list_memories", include_internal=True)) == PERMANENT
    trail = timed.call("why", decision=PERMANENT[0])
    assert (len(trail["nodes"]), trail["edges"], trail["truncated"]) == (1, [], False)

    seventh, eighth = ids[6], ids[7]
    for tool, arguments, field in [
        ("relate", {"from": owner, "to": seventh, "relation": "see"}, "to"),
        ("relate", {"from": seventh, "to": owner, "relation": "see"}, "from"),
        ("feedback", {"id": seventh, "success": True}, "id"),
        ("remember", {"fact": "x", "links": [{"target": seventh, "relation": "see"}]}, "links"),
    ]:
        check_refusal(timed, tool, arguments, seventh, field=field, category="NotFound")
    assert timed.call("forget", id=eighth)["found"] is False

    assert timed.call("remember", fact=note(7))["id_str"] == seventh
    assert timed.call("remember", fact=note(9))["id_str"] == ids[8]
    assert timed.call("feedback", id=seventh, success=True)["confidence"] == 0.6
    assert timed.call("memory_status")["memory"]["edges"] == 0
    clock.advance(3)
    assert contents(timed.call("list_memories")) == [*PERMANENT, note(7), note(9)]
