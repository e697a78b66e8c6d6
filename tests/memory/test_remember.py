"""Remembering: what is refused, what is merged, what expires."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core.errors import InvalidInput, NotFound
from veles_core.memory.answers import Link
from veles_core.memory.dates import is_date
from veles_core.memory.service import MemoryService
from veles_core.testing.clock import SettableClock

DAY = 86_400


def only(memory: MemoryService) -> dict[str, object]:
    (found,) = memory.list_memories(include_internal=True).memories
    return dict(found.metadata)


def test_the_same_text_is_one_memory(memory: MemoryService) -> None:
    first = memory.remember("The café opens at nine")
    again = memory.remember(unicodedata.normalize("NFD", "  The café opens at nine\n"))
    assert first == again
    (kept,) = memory.list_memories().memories
    assert kept.content == "The café opens at nine"


def test_content_is_kept_byte_for_byte_but_for_its_edges(memory: MemoryService) -> None:
    text = "Ship 🚀 «مرحبا» cafe\u0301 a\u2028b\u0085c\td\r\ne\x00f"
    memory.remember(f" {text} ")
    assert memory.list_memories().memories[0].content == text


@pytest.mark.parametrize(
    ("fact", "words"),
    [("", "empty"), (" \n ", "empty"), ("x" * 2049, "2049 bytes; at most 2048"),
     ("é" * 1025, "2050 bytes"), ("\ud800", "surrogate")],
)  # fmt: skip
def test_bad_text_is_refused_and_nothing_stored(
    memory: MemoryService, fact: str, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        memory.remember(fact)
    assert caught.value.field == "fact"
    assert memory.memory_status().memory.facts == 0


def test_the_longest_fact_is_measured_after_trimming(memory: MemoryService) -> None:
    memory.remember("  " + "x" * 2048 + "  ")
    assert memory.memory_status().memory.facts == 1


@pytest.mark.parametrize(
    ("metadata", "words"),
    [({"content": 1}, "reserved"), ({"_veles_kind": 1}, "reserved"), ({"_veles_": 1}, "reserved"),
     ({"_veles_date": "20260101"}, "YYYYMMDD"), ({"_veles_date": 20260230}, "YYYYMMDD"),
     ({"_veles_date": True}, "YYYYMMDD"), ({"_veles_date": None}, "YYYYMMDD"),
     ({"_veles_date": 20260101.0}, "YYYYMMDD"), ({"a": float("nan")}, "JSON"),
     ({"a": "x" * 65_536}, "at most 65536"), ({"a": "\ud800"}, "surrogate"),
     ({"a": {1, 2}}, "JSON")],
)  # fmt: skip
def test_bad_metadata_is_refused_and_nothing_stored(
    memory: MemoryService, metadata: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        memory.remember("a fact", metadata=metadata)
    assert caught.value.field == "metadata"
    assert memory.memory_status().memory.facts == 0


def test_metadata_nested_beyond_reason_is_refused(memory: MemoryService) -> None:
    nested: dict[str, object] = {}
    for _ in range(100_000):
        nested = {"a": nested}
    with pytest.raises(InvalidInput):
        memory.remember("a fact", metadata=nested)


def test_metadata_of_exactly_the_limit_is_kept(memory: MemoryService) -> None:
    metadata = {"a": "x" * (65_536 - len('{"a":""}'))}
    memory.remember("a fact", metadata=metadata)
    assert memory.list_memories().memories[0].metadata["a"] == metadata["a"]


@pytest.mark.parametrize("ttl", [0, -1, 10**30, True])
def test_bad_lifetimes_are_refused(memory: MemoryService, ttl: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        memory.remember("a fact", ttl_seconds=ttl)
    assert caught.value.field == "ttl_seconds"


def test_each_fact_is_dated_today_unless_the_caller_says(
    memory: MemoryService, clock: SettableClock
) -> None:
    memory.remember("today")
    memory.remember("then", metadata={"_veles_date": 20260610})
    dates = {m.content: m.metadata["_veles_date"] for m in memory.list_memories().memories}
    assert dates == {"today": clock.today(), "then": 20260610}


def test_a_given_date_survives_remembering_again_and_a_stamp_does_not(
    memory: MemoryService, clock: SettableClock
) -> None:
    memory.remember("given", metadata={"_veles_date": 20260610})
    memory.remember("stamped")
    clock.advance(3 * DAY)
    memory.remember("given", metadata={"project": "x"})
    memory.remember("stamped")
    dates = {m.content: m.metadata["_veles_date"] for m in memory.list_memories().memories}
    assert dates == {"given": 20260610, "stamped": clock.today()}


def test_a_new_given_date_replaces_an_earlier_one(memory: MemoryService) -> None:
    memory.remember("given", metadata={"_veles_date": 20260610})
    memory.remember("given", metadata={"_veles_date": 20250101})
    assert only(memory)["_veles_date"] == 20250101


def test_remembering_again_replaces_metadata_and_keeps_confidence_and_links(
    memory: MemoryService,
) -> None:
    target = memory.remember("the cause").id
    id = memory.remember("the effect", metadata={"a": 1}, links=[Link(target, "caused_by")]).id
    memory.feedback(id, True)
    memory.remember("the effect", metadata={"b": 2})
    (found,) = (m for m in memory.list_memories().memories if m.id == id)
    assert set(found.metadata) == {"b", "_veles_date"}
    assert memory.feedback(id, False).confidence == 0.55
    assert [node.hop for node in memory.why("the effect").nodes] == [0, 1]


def test_remembering_again_without_a_lifetime_makes_permanent(
    memory: MemoryService, clock: SettableClock
) -> None:
    memory.remember("note", ttl_seconds=10)
    memory.remember("note")
    clock.advance(1000)
    assert memory.memory_status().memory.facts == 1


def test_a_fact_is_gone_from_the_second_it_expires(
    memory: MemoryService, clock: SettableClock
) -> None:
    other = memory.remember("a permanent fact").id
    id = memory.remember("a passing fact", ttl_seconds=10, links=[Link(other, "see")]).id
    memory.relate(other, id, "back")
    clock.advance(9.999)
    assert memory.memory_status().memory.facts == 2
    clock.advance(0.001)
    assert (memory.memory_status().memory.facts, memory.memory_status().memory.edges) == (1, 0)
    assert [m.id for m in memory.recall("a passing fact").memories] == [other]
    assert [n.id for n in memory.why("a permanent fact").nodes] == [other]
    with pytest.raises(NotFound):
        memory.relate(other, id, "again")
    with pytest.raises(NotFound):
        memory.feedback(id, True)
    assert memory.forget(id).found is False


def test_an_expired_fact_starts_anew(memory: MemoryService, clock: SettableClock) -> None:
    other = memory.remember("a permanent fact").id
    id = memory.remember("a passing fact", ttl_seconds=10, links=[Link(other, "see")]).id
    memory.feedback(id, True)
    clock.advance(10)
    assert memory.remember("a passing fact").id == id
    assert memory.memory_status().memory.edges == 0
    assert memory.feedback(id, True).confidence == 0.6


def test_unknown_link_targets_refuse_the_whole_call(memory: MemoryService) -> None:
    known = memory.remember("known").id
    with pytest.raises(NotFound, match="42"):
        memory.remember("third", links=[Link(known, "needs"), Link(42, "needs")])
    status = memory.memory_status().memory
    assert (status.facts, status.edges) == (1, 0)


def test_a_fact_cannot_link_to_itself(memory: MemoryService) -> None:
    id = memory.remember("self").id
    with pytest.raises(InvalidInput, match="itself"):
        memory.remember("self", links=[Link(id, "see")])


@pytest.mark.parametrize("relation", ["", "  ", "x" * 513, "a\nb", "a\x00b", "\ud800"])
def test_relate_and_unrelate_refuse_the_same_labels(memory: MemoryService, relation: str) -> None:
    a, b = memory.remember("a").id, memory.remember("b").id
    messages = []
    for verb in (memory.relate, memory.unrelate):
        with pytest.raises(InvalidInput) as caught:
            verb(a, b, relation)
        messages.append(caught.value.message)
    assert messages[0] == messages[1]


def test_confidence_moves_exactly_and_stays_in_bounds(memory: MemoryService) -> None:
    id = memory.remember("useful").id
    assert [memory.feedback(id, True).confidence for _ in range(7)] == [
        0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0,
    ]  # fmt: skip
    assert memory.feedback(id, False).confidence == 0.95
    for _ in range(30):
        last = memory.feedback(id, False).confidence
    assert last == 0.0


@given(st.integers())
def test_dates_are_real_calendar_dates(value: int) -> None:
    if is_date(value):
        text = f"{value:08d}"
        assert 1 <= int(text[-4:-2]) <= 12
        assert 1 <= int(text[-2:]) <= 31
