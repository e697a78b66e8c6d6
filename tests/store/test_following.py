"""The indexes follow the ledger, whoever wrote and whatever became of their snapshots."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.storing import Open, records, vector, word
from veles_core.builtin.exact_index import ExactIndex
from veles_core.hookspecs import Host
from veles_core.ledger import changes
from veles_core.records import Hit, Predicate
from veles_core.store import LedgerStore, snapshots, upkeep
from veles_core.testing.clock import NOON, SettableClock


def answers(store: LedgerStore) -> list[list[Hit]]:
    """What several searches give, by similarity and by words."""
    odd = [Predicate("odd", "eq", True)]
    return [
        *(store.search(vector(n), 20, wanted) for n in (3, 500) for wanted in ((), odd)),
        *(store.search_words(query, 20) for query in (word(3), f"many facts {word(9)}")),
    ]


def test_each_store_sees_the_others_at_its_next_call(open_store: Open) -> None:
    one, other = open_store(), open_store()
    assert one.search(vector(1), 5) == other.search(vector(1), 5) == []
    for writer, reader, n in ((one, other, 1), (other, one, 2), (one, other, 3)):
        writer.put_facts(records(n))
        assert reader.search(vector(n), 1) == [Hit(n, 1.0)]
        assert [hit.id for hit in reader.search_words(word(n), 5)] == [n]
    other.put_facts(records(2, text="changed"))
    other.delete_facts([1])
    assert answers(one) == answers(other)
    assert [hit.id for hit in one.search_words("changed", 5)] == [2]
    assert {hit.id for hit in one.search(vector(1), 5)} == {2, 3}


def test_a_search_inside_a_transaction_sees_it_and_forgets_it_if_it_fails(
    store: LedgerStore, open_store: Open
) -> None:
    store.put_facts(records(1, 2))
    before = answers(store)
    with pytest.raises(ZeroDivisionError), store.transaction():  # noqa: PT012
        store.put_facts(records(3))
        store.put_facts(records(1, text="other"))
        store.delete_facts([2])
        assert {hit.id for hit in store.search(vector(3), 9)} == {1, 3}
        assert {hit.id for hit in store.search_words(f"other {word(3)}", 9)} == {1, 3}
        raise ZeroDivisionError
    assert answers(store) == before
    open_store().put_facts(records(4))  # takes the sequence that was rolled back
    assert {hit.id for hit in store.search(vector(3), 9)} == {1, 2, 4}
    assert store.check() == []


def test_a_restored_backup_is_followed_backwards(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    store.put_facts(records(*range(10)))
    store.save()
    expected = answers(store)
    store.close()
    folder = tmp_path / "stores" / "main"
    shutil.copytree(folder, tmp_path / "backup")
    store = open_store()
    store.put_facts(records(*range(10, 30)))
    store.delete_facts([3])
    store.save()
    store.close()
    for name in ("ledger.db",):
        shutil.copy(tmp_path / "backup" / name, folder / name)
    store = open_store()
    assert answers(store) == expected
    assert store.check() == []


def test_the_snapshots_of_another_ledger_are_not_ours(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    store.put_facts(records(*range(10)))
    store.save()
    store.close()
    for file in (tmp_path / "stores" / "main").glob("ledger.db*"):
        file.unlink()
    store = open_store()
    store.put_facts(records(*range(100, 130)))
    assert {hit.id for hit in store.search(vector(3), 99)} == set(range(100, 130))
    assert store.check() == []


def test_whoever_is_too_far_behind_rebuilds(
    open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "HISTORY", 20)
    store, late = open_store(), open_store()
    store.put_facts(records(*range(60)))
    assert len(late.search(vector(1), 99)) == 60
    for n in range(1, 50):
        store.delete_facts([n])
    assert {hit.id for hit in late.search(vector(1), 99)} == {0, *range(50, 60)}
    assert answers(store) == answers(late)
    assert late.check() == []


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip(data: bytes) -> bytes:
    middle = len(data) // 3
    return data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]


def age(data: bytes) -> bytes:
    """The same arrays under the format before this one."""
    length, _, magic = snapshots._TAIL.unpack(data[-snapshots._TAIL.size :])
    footer = json.loads(data[-snapshots._TAIL.size - length : -snapshots._TAIL.size])
    footer["kind"] = footer["kind"][:-1] + "0"
    encoded = json.dumps(footer).encode()
    tail = snapshots._TAIL.pack(len(encoded), snapshots.zlib.crc32(encoded), magic)
    return data[: -snapshots._TAIL.size - length] + encoded + tail


@pytest.mark.parametrize(
    "damage",
    [None, lambda _: b"", lambda _: b"text" * 99, cut, flip, age],
    ids=["gone", "empty", "text", "cut", "flipped", "old"],
)
@pytest.mark.parametrize("names", [["vectors"], ["words"], ["vectors", "words"]], ids="-".join)
def test_a_damaged_snapshot_changes_no_answer(
    open_store: Open, tmp_path: Path, damage: Callable[[bytes], bytes] | None, names: list[str]
) -> None:
    store = open_store()
    store.put_facts(records(*range(50)))
    store.delete_facts([7])
    store.save()
    store.put_facts(records(60))
    expected = answers(store)
    store.close()
    for name in names:
        (file,) = tmp_path.rglob(f"{name}.snapshot")
        if damage is None:
            file.unlink()
        else:
            file.write_bytes(damage(file.read_bytes()))
    store = open_store()
    assert answers(store) == expected
    store.save()
    assert store.check() == []
    store.close()
    assert answers(open_store()) == expected


def test_a_snapshot_spares_the_next_its_work(
    open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store()
    store.put_facts(records(*range(40)))
    store.save()
    store.put_facts(records(50, 51))
    expected = answers(store)
    store.close()
    read: list[int] = []
    original = changes.put

    def counted(db: changes.Database, *where: int) -> changes.Changed | None:
        batch = original(db, *where)
        read.append(0 if batch is None else len(batch.ids))
        return batch

    monkeypatch.setattr(changes, "put", counted)
    assert answers(open_store()) == expected
    assert sum(read) == 2


def test_the_damaged_file_is_reported_and_repaired(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    store.put_facts(records(*range(20)))
    store.save()
    (file,) = tmp_path.rglob("words.snapshot")
    file.write_bytes(flip(file.read_bytes()))
    found = store.check()  # the file is mapped, so what is in use is damaged too
    assert [problem.code for problem in found] == ["snapshot-damaged", "word-index"]
    assert "words.snapshot" in found[0].message
    assert all(problem.repaired for problem in store.check(repair=True))
    assert store.check() == []
    assert [hit.id for hit in store.search_words(word(3), 9)] == [3]


@pytest.mark.parametrize("half", ["vector-index", "word-index"])
def test_an_index_that_differs_is_found_and_made_anew(store: LedgerStore, half: str) -> None:
    store.put_facts(records(*range(20)))
    expected = answers(store)
    derived = store._derived
    assert derived is not None
    if half == "vector-index":
        derived.vectors.add(np.array([3], np.uint64), vector(99)[None])
    else:
        derived.words.add(np.array([3], np.uint64), ["something else"], np.array([np.inf]))
    assert answers(store) != expected
    assert [problem.code for problem in store.check()] == [half]
    assert [(p.code, p.repaired) for p in store.check(repair=True)] == [(half, True)]
    assert store.check() == []
    assert answers(store) == expected


def test_an_entry_too_many_is_found(store: LedgerStore) -> None:
    store.put_facts(records(1))
    store.search(vector(1), 1)
    assert store._derived is not None
    store._derived.vectors.add(np.array([5], np.uint64), vector(5)[None])
    assert [problem.code for problem in store.check()] == ["vector-index"]


def test_a_missing_vector_hides_a_fact_from_similarity_alone(store: LedgerStore) -> None:
    store.put_facts(records(*range(20)))
    store.search(vector(1), 1)
    with store._db.transaction():
        store._db.run("DELETE FROM vectors WHERE changed <= 10")
    found = store.check()
    assert [problem.code for problem in found] == ["vector-missing", "vector-index"]
    assert found[0].ids == tuple(range(10))
    store.check(repair=True)
    assert {hit.id for hit in store.search(vector(1), 99)} == set(range(10, 20))
    assert [hit.id for hit in store.search_words(word(3), 9)] == [3]
    similarities = store.similarities(vector(15), [3, 15])
    assert similarities[1] == 1.0
    assert np.isnan(similarities[0])
    store.put_facts(records(*range(10)))
    assert store.check() == []
    assert len(store.search(vector(1), 99)) == 20


def test_much_that_had_to_be_built_is_saved_at_once(
    open_store: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "DUE_FLOOR", 10)
    store = open_store()
    store.put_facts(records(*range(9)))
    store.search(vector(1), 1)
    assert not list(tmp_path.rglob("*.snapshot"))
    store.close()
    store = open_store()
    store.put_facts(records(9, 10))
    with store.transaction():
        store.search(vector(1), 1)
        assert not list(tmp_path.rglob("*.snapshot"))  # what isn't committed is nobody's
    store.close()
    store = open_store()
    store.search(vector(1), 1)
    assert len(list(tmp_path.rglob("*.snapshot"))) == 2


def test_whoever_wrote_much_saves_when_it_closes(
    tmp_path: Path, clock: SettableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "DUE_FLOOR", 10)
    store = LedgerStore(Host(tmp_path, clock), ExactIndex)
    monkeypatch.setattr(upkeep.Upkeep, "see", lambda *_: None)
    store.put_facts(records(*range(5)))
    store.close()
    assert not list(tmp_path.rglob("*.snapshot"))
    store = LedgerStore(Host(tmp_path, clock), ExactIndex)
    store.put_facts(records(*range(5, 30)))
    store.close()
    assert len(list(tmp_path.rglob("*.snapshot"))) == 2


def test_expired_facts_leave_every_search_before_they_are_reclaimed(
    store: LedgerStore, clock: SettableClock
) -> None:
    store.put_facts(records(*range(10), expires_at=NOON + 5))
    store.put_facts(records(20, 21))
    assert len(store.search_words("fact", 99)) == 12
    clock.set(NOON + 5)
    for _ in range(2):
        assert {hit.id for hit in store.search(vector(3), 99)} == {20, 21}
        assert {hit.id for hit in store.search_words("fact", 99)} == {20, 21}
        assert store.word_scores("fact", [3, 20])[0] == 0.0
        assert [hit.id for hit in store.search(vector(3), 99, [Predicate("n", "ne", 20)])] == [21]
        assert store.count().facts == 2
        store.reclaim(99)
