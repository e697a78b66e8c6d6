"""Snapshots keep close to the ledger in the background, and nobody waits for them."""

import time
from functools import partial
from pathlib import Path

import pytest

from tests.storing import Open, records, vector
from veles_core.store import LedgerStore, snapshots, upkeep
from veles_core.testing import waiting

until = partial(waiting.until, seconds=30.0)


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "DUE_FLOOR", 20)
    monkeypatch.setattr(upkeep, "QUIET_SECONDS", 0.02)


def position(tmp_path: Path) -> int:
    """Where the older of both snapshots stands; 0 if there is none."""
    found = [
        snapshots.read(path, kind)
        for kind, name in (("vectors 1", "vectors"), ("words 1", "words"))
        for path in tmp_path.rglob(f"{name}.snapshot")
    ]
    return min((0 if each is None else each.position for each in found), default=0)


def test_a_store_that_only_writes_is_saved(store: LedgerStore, tmp_path: Path) -> None:
    for n in range(25):
        store.put_facts(records(n))
    until(lambda: position(tmp_path) >= 20)
    assert store.check() == []


def test_a_live_index_goes_on_from_the_snapshot(store: LedgerStore, tmp_path: Path) -> None:
    store.search(vector(1), 1)
    before = store._derived
    store.put_facts(records(*range(25)))
    until(lambda: store._derived is not before)
    assert position(tmp_path) == 25
    assert len(store.search(vector(1), 99)) == 25
    assert store.check() == []


def test_what_another_process_saved_is_adopted(open_store: Open, tmp_path: Path) -> None:
    reader, writer = open_store(), open_store()
    reader.search(vector(1), 1)
    before = reader._derived
    writer.put_facts(records(*range(25)))
    until(lambda: position(tmp_path) == 25)
    assert len(reader.search(vector(1), 99)) == 25  # it notes how far it has fallen behind
    until(lambda: reader._derived is not before)
    assert len(reader.search(vector(1), 99)) == 25


def test_one_process_saves_for_all(open_store: Open, tmp_path: Path) -> None:
    busy, store = open_store(), open_store()
    held = busy.claim("snapshot")
    assert held is not None
    with held:
        store.put_facts(records(*range(25)))
        until(lambda: not store._upkeep._wanted.is_set())
        store.save()
        assert position(tmp_path) == 0
    store.put_facts(records(*range(100, 130)))
    until(lambda: position(tmp_path) == 55)


def test_closing_does_not_wait_for_catching_up(
    open_store: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "SLICE", 1)
    monkeypatch.setattr(upkeep, "PAUSE_SECONDS", 60.0)
    store = open_store()
    store.put_facts(records(*range(25)))
    until(lambda: store._upkeep._thread is not None)
    store._written = 0  # else it would save in the foreground
    started = time.monotonic()
    store.close()
    assert time.monotonic() - started < 5


def test_a_failure_is_tried_again_later(
    store: LedgerStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "write", full)
        store.put_facts(records(*range(25)))
        until(lambda: "No space left" in caplog.text)
    assert position(tmp_path) == 0
    store.put_facts(records(*range(30, 60)))
    until(lambda: position(tmp_path) == 55)


def test_how_often_grows_with_the_store() -> None:
    assert upkeep.due(0) == 20
    assert upkeep.due(100_000) == 12_500
