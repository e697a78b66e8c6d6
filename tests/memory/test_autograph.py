"""Autograph: remembered facts get their graph in the background, counted where they don't."""

import threading
from collections.abc import Iterator

import pytest

from veles_core import ids
from veles_core.builtin.outline_extractor import OutlineExtractor
from veles_core.errors import BackendUnavailable
from veles_core.limits import MAX_AUTOGRAPH_QUEUE
from veles_core.memory import entities
from veles_core.memory.autograph import Autograph
from veles_core.memory.extractors import Extractors
from veles_core.memory.service import MemoryService
from veles_core.protocols import Extractor
from veles_core.records import Attribute, ExtractedFact, Extraction, Relation
from veles_core.testing.clock import SettableClock
from veles_core.testing.waiting import until


class Reader:
    """Finds the same in every text, once it may; fails for a text that says so."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def extract(self, text: str) -> Extraction:
        self.read.append(text)
        self.may_answer.wait(30)
        if text == "fail":
            raise BackendUnavailable("down")
        return Extraction(
            (ExtractedFact("another wording", ("pump",)), ExtractedFact("more", ("Theo", "pump"))),
            (Relation("Camille", "sister of", "Theo"),),
            (Attribute("valve", "size", 3),),
        )

    def close(self) -> None:
        self.may_answer.set()


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def autograph(memory: MemoryService, reader: Reader) -> Iterator[Autograph]:
    autograph = Autograph(memory, Extractors(lambda _: reader, ["r"], "r"), "r")
    yield autograph
    reader.may_answer.set()
    autograph.stop()


def remember(memory: MemoryService, autograph: Autograph, fact: str, ttl: int | None = None) -> int:
    id = memory.remember(fact, ttl_seconds=ttl).id
    autograph.offer(id, fact)
    return id


def test_a_remembered_fact_is_about_every_entity_in_it(
    memory: MemoryService, autograph: Autograph
) -> None:
    fact = remember(memory, autograph, "Theo, Camille's brother, repaired the pump and the valve")
    store = memory.live().store
    until(lambda: memory.memory_status().memory.edges == 2 * 4 + 1)
    about = {edge.target for edge in store.edges_from([fact], 99)}
    assert about == {ids.entity_id(name) for name in ("theo", "camille", "pump", "valve")}
    assert entities.view(store, "valve").attributes == {"size": 3}
    assert [r.name for r in entities.view(store, "theo").relations_in] == ["camille"]
    assert memory.memory_status().memory.facts == 1  # it links what was said, and adds no wording
    memory.forget(fact)
    assert memory.memory_status().memory.edges == 0
    assert store.scan_facts(None, 9, internal=True) == []


def test_the_same_text_again_changes_nothing(memory: MemoryService, autograph: Autograph) -> None:
    remember(memory, autograph, "f")
    until(lambda: memory.memory_status().memory.edges == 9)
    remember(memory, autograph, "f")
    remember(memory, autograph, "g")
    until(lambda: memory.memory_status().memory.edges == 17)


def test_what_does_not_fit_the_queue_is_counted(
    memory: MemoryService, autograph: Autograph, reader: Reader
) -> None:
    reader.may_answer.clear()
    autograph.offer(0, "held")
    until(lambda: reader.read == ["held"])
    for number in range(MAX_AUTOGRAPH_QUEUE + 3):
        autograph.offer(number, str(number))
    assert (autograph.dropped, autograph.failed) == (3, 0)
    reader.may_answer.set()
    until(lambda: len(reader.read) == 1 + MAX_AUTOGRAPH_QUEUE)
    assert memory.memory_status().memory.edges == 0  # none of them was ever remembered


def test_failures_are_counted_and_end_nothing(memory: MemoryService, autograph: Autograph) -> None:
    remember(memory, autograph, "fail")
    remember(memory, autograph, "f")
    until(lambda: memory.memory_status().memory.edges == 9)
    assert (autograph.dropped, autograph.failed) == (0, 1)


def test_a_fact_that_was_forgotten_meanwhile_leaves_no_graph(
    memory: MemoryService, autograph: Autograph, reader: Reader
) -> None:
    reader.may_answer.clear()
    fact = remember(memory, autograph, "f")
    until(lambda: reader.read == ["f"])
    memory.forget(fact)
    reader.may_answer.set()
    remember(memory, autograph, "g")
    until(lambda: memory.memory_status().memory.edges == 9)
    assert not memory.live().store.get_facts([fact])


def test_the_graph_lives_as_long_as_its_fact(
    memory: MemoryService, autograph: Autograph, clock: SettableClock
) -> None:
    remember(memory, autograph, "f", ttl=60)
    until(lambda: memory.memory_status().memory.edges == 9)
    clock.advance(60)
    assert not entities.view(memory.live().store, "pump").found
    assert memory.memory_status().memory.edges == 0


def test_an_outline_is_a_fact_like_any_other(memory: MemoryService) -> None:
    def open_outline(_: str) -> Extractor:
        return OutlineExtractor()

    autograph = Autograph(memory, Extractors(open_outline, ["outline"], "outline"), "outline")
    remember(memory, autograph, "fact: The pump leaks | pump; plant")
    until(lambda: memory.memory_status().memory.edges == 4)
    autograph.stop()


def test_stopping_leaves_a_waiting_model_alone(
    memory: MemoryService, autograph: Autograph, reader: Reader
) -> None:
    reader.may_answer.clear()
    remember(memory, autograph, "f")
    until(lambda: reader.read == ["f"])
    autograph.stop()
    reader.may_answer.set()
