"""An import goes on where the memory moved to while it ran."""

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

from veles_core.ids import edge_id, fact_id
from veles_core.memory.service import MemoryService
from veles_core.memory.transfer import PAGE, Item, Transferred
from veles_core.migration.job import Limits
from veles_core.records import Edge, Fact


def migrate(memory: MemoryService) -> None:
    memory.migration_start("letters", Limits(pause_budget_ms=2000))
    deadline = time.monotonic() + 30
    while (job := memory.migration_status().job) is None or job.phase != "committed":
        assert time.monotonic() < deadline, job
        threading.Event().wait(0.005)


def test_an_import_follows_a_hand_over(open_memory: Callable[..., MemoryService]) -> None:
    memory = open_memory()
    texts = [f"note number {n} of a long import" for n in range(2 * PAGE)]
    ids = [fact_id(text) for text in texts]

    def items() -> Iterator[Item]:
        for number, text in enumerate(texts):
            if number == PAGE + 1:  # the first page is written, the second one being read
                migrate(memory)
            yield Fact(ids[number], text)
        for source, target in pairwise(ids):
            yield Edge(edge_id(source, "next", target), source, "next", target)

    done = memory.import_items(items(), lambda *_: None)
    assert done == Transferred(facts=2 * PAGE, edges=2 * PAGE - 1)
    assert memory.memory_status().embedder.model == "letters-64"
    assert memory.memory_status().memory.facts == 2 * PAGE
    assert memory.recall(texts[-1], 1).memories[0].id == ids[-1]
    assert memory.check() == []
