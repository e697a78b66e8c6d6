"""Moving a memory to another store: everything, or a refusal."""

from collections.abc import Callable
from pathlib import Path

import pytest

from veles_core.errors import InvalidInput
from veles_core.hookspecs import Host
from veles_core.memory.service import MemoryService
from veles_core.memory.transfer import export_lines
from veles_core.migration.move import Moved, move
from veles_core.plugins import discover
from veles_core.protocols import Store


@pytest.fixture
def empty(tmp_path: Path) -> Store:
    store: Store = discover(()).open("store", "exact", Host(tmp_path, epoch="other"))
    return store


def test_everything_arrives_with_its_vectors(
    open_memory: Callable[[], MemoryService], empty: Store
) -> None:
    memory = open_memory()
    ids = [memory.remember(f"fact {n} of many", metadata={"n": n}).id for n in range(1200)]
    memory.relate(ids[0], ids[1], "see")
    memory.feedback(ids[2], True)
    memory.save_working_context("ops", "s", {"goal": "move"})
    source, told = memory.live().store, []
    moved = move(source, empty, lambda done, total: told.append((done, total)))
    assert moved == Moved(facts=1200, edges=1, documents=2)
    assert told == [(500, 1200), (1000, 1200), (1200, 1200)]
    assert list(export_lines(empty, True)) == list(export_lines(source, True))
    assert empty.provenance() == source.provenance()
    vector = memory.live().embedder.embed(["fact 7 of many"])[0]
    assert empty.search(vector, 1)[0].id == ids[7]
    empty.close()


def test_a_store_that_holds_something_is_refused(
    open_memory: Callable[[], MemoryService], empty: Store
) -> None:
    memory = open_memory()
    memory.remember("a fact")
    move(memory.live().store, empty, lambda _done, _total: None)
    with pytest.raises(InvalidInput, match="empty store"):
        move(memory.live().store, empty, lambda _done, _total: None)
    empty.close()
