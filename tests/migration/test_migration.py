"""A migration from start to hand-over, on real stores."""

import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from letters import open_memory as on_disk

from veles_core.errors import BackendUnavailable, InvalidInput, StoreError
from veles_core.hookspecs import Host
from veles_core.memory import duties
from veles_core.memory.answers import Link
from veles_core.memory.service import MemoryService
from veles_core.memory.transfer import export_lines
from veles_core.migration import journal
from veles_core.migration.cutover import BackedOut, cut_over
from veles_core.migration.duty import DUTY
from veles_core.migration.job import TERMINAL, Job, Limits, Target
from veles_core.migration.plane import MigrationView
from veles_core.plugins import discover

Opening = Callable[..., MemoryService]
LIMITS = Limits(pause_budget_ms=2000)


def filled(memory: MemoryService, count: int = 60) -> list[int]:
    ids = [
        memory.remember(f"fact number {n} about {'rain' if n % 2 else 'sun'}", metadata={"n": n}).id
        for n in range(count)
    ]
    for source, target in zip(ids[1:], ids, strict=False):
        memory.relate(source, target, "follows")
    memory.feedback(ids[0], True)
    return ids


def awaited(
    memory: MemoryService, done: Callable[[MigrationView], bool], seconds: float = 30
) -> MigrationView:
    deadline = time.monotonic() + seconds
    while not done(view := memory.migration_status()):
        assert time.monotonic() < deadline, view
        threading.Event().wait(0.005)
    return view


def phase(*names: str) -> Callable[[MigrationView], bool]:
    return lambda view: view.job is not None and view.job.phase in names


def stopped(view: MigrationView) -> bool:
    return not view.running


def contents(memory: MemoryService) -> list[str]:
    return sorted(export_lines(memory.live().store, include_internal=True))


def test_everything_arrives_under_the_new_model(open_memory: Opening) -> None:
    memory = open_memory()
    ids = filled(memory)
    before = contents(memory)
    started = memory.migration_start("letters", LIMITS)
    assert started.configured
    assert started.job is not None
    view = awaited(memory, phase("committed"))
    assert view.job is not None
    assert contents(memory) == before
    assert memory.memory_status().embedder.model == "letters-64"
    assert memory.memory_status().provenance == memory.memory_status().embedder
    assert memory.recall("fact number 7 about rain", 1).memories[0].id == ids[7]
    assert view.job.progress.base_facts == 60
    assert view.job.progress.base_edge_sets == 59
    assert view.job.progress.measured_cutover_ms is not None
    assert view.job.progress.measured_cutover_ms <= LIMITS.pause_budget_ms
    assert view.job.quality is not None
    assert 0 <= view.job.quality.overlap_at_10 <= 1
    assert memory.check() == []


def test_a_new_start_opens_the_new_store(open_memory: Opening) -> None:
    memory = open_memory()
    filled(memory)
    before = contents(memory)
    memory.migration_start("letters", LIMITS)
    awaited(memory, phase("committed"))
    memory.close()
    again = open_memory()
    assert contents(again) == before
    assert again.memory_status().embedder.model == "letters-64"
    assert again.recall("rain", 3).memories


def test_other_processes_follow_without_a_restart(open_memory: Opening) -> None:
    one, other = open_memory(grace=60.0), open_memory()
    filled(one)
    one.migration_start("letters", LIMITS)
    awaited(one, phase("committed"))
    id = other.remember("written by the other after the hand-over").id
    assert other.memory_status().embedder.model == "letters-64"
    assert one.recall("written by the other after the hand-over", 1).memories[0].id == id


def test_a_duty_follows_a_hand_over_amid_it(
    open_memory: Opening, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(duties, "RECLAIM_SECONDS", 0.001)
    one, other = open_memory(grace=60.0), open_memory(grace=60.0)
    filled(one, 5)
    old, committed, followed = other.live().store, threading.Event(), threading.Event()
    claimed = old.claim

    def claim(duty: str) -> Any:
        """The duty, of which the rest is done only after the hand-over."""
        assert committed.wait(30)
        return claimed(duty)

    monkeypatch.setattr(old, "claim", claim)
    monkeypatch.setattr(one.live().store, "claim", lambda *_: None)
    one.migration_start("letters", LIMITS)
    awaited(one, phase("committed"))
    new = one.live().store
    monkeypatch.setattr(new, "claim", lambda *_: None)
    monkeypatch.setattr(type(new), "claim", lambda *_: followed.set())
    committed.set()
    assert followed.wait(30)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_changes_during_the_copy_arrive(open_memory: Opening, letters: Any) -> None:
    memory = open_memory()
    ids = filled(memory, 400)
    gate, reached = threading.Event(), threading.Event()
    embed = letters.embed

    def gated(texts: Any) -> Any:
        if len(texts) > 1:
            reached.set()
            assert gate.wait(30)
        return embed(texts)

    letters.embed = gated
    memory.migration_start("letters", Limits(pause_budget_ms=2000, fact_batch=50))
    assert reached.wait(30)
    memory.forget(ids[3])
    memory.feedback(ids[5], True)
    memory.remember("fact number 6 about sun", metadata={"n": "changed"})
    fresh = memory.remember("a fresh fact", links=[Link(ids[7], "see")]).id
    memory.unrelate(ids[9], ids[8], "follows")
    memory.unrelate(ids[11], ids[10], "follows")
    memory.relate(ids[11], ids[10], "follows")
    memory.live().store.put_documents("notes", [])
    expected = contents(memory)
    gate.set()
    view = awaited(memory, phase("committed"))
    assert contents(memory) == expected
    assert view.job is not None
    assert view.job.progress.input_watermark == view.job.progress.output_watermark > 0
    assert [node.id for node in memory.why("a fresh fact", 1).nodes] == [fresh, ids[7]]


def test_the_old_store_is_freed_and_still_leads_to_the_new(open_memory: Opening) -> None:
    memory = open_memory()
    filled(memory)
    before = contents(memory)
    memory.migration_start("letters", LIMITS)
    awaited(memory, lambda view: view.job is not None and view.job.retired)
    memory.close()
    assert contents(open_memory()) == before


def test_a_full_journal_refuses_the_write_and_loses_nothing(
    open_memory: Opening, letters: Any
) -> None:
    memory = open_memory()
    ids = filled(memory, 50)
    gate, reached = threading.Event(), threading.Event()
    embed = letters.embed

    def gated(texts: Any) -> Any:
        if len(texts) > 1:
            reached.set()
            assert gate.wait(30)
        return embed(texts)

    letters.embed = gated
    memory.migration_start("letters", Limits(pause_budget_ms=2000, journal_max_bytes=100))
    assert reached.wait(30)
    memory.feedback(ids[0], True)
    with pytest.raises(StoreError, match="journal is full"):
        [memory.feedback(id, True) for id in ids]
    expected = contents(memory)
    gate.set()
    awaited(memory, phase("committed"))
    assert contents(memory) == expected


@pytest.mark.parametrize(
    ("backend", "limits", "words"),
    [("nobody", LIMITS, "can't be used"), ("letters", Limits(pause_budget_ms=0), "at least 1"),
     ("letters", Limits(pause_budget_ms=100), "leaves nothing"),
     ("letters", Limits(pause_budget_ms=1000, fact_batch=0), "fact_batch"),
     ("letters", Limits(pause_budget_ms=1000, edge_cap=-1), "edge_cap")],
)  # fmt: skip
def test_bad_starts_are_refused_and_leave_nothing(
    open_memory: Opening, backend: str, limits: Limits, words: str
) -> None:
    memory = open_memory()
    filled(memory, 3)
    with pytest.raises(InvalidInput, match=words):
        memory.migration_start(backend, limits)
    assert memory.migration_status().job is None


def test_only_one_runs_at_a_time(open_memory: Opening, letters: Any) -> None:
    memory = open_memory()
    filled(memory, 3)
    letters.fail = None
    gate = threading.Event()
    embed = letters.embed
    letters.embed = lambda texts: embed(texts) if len(texts) == 1 or gate.wait(30) else None
    memory.migration_start("letters", LIMITS)
    with pytest.raises(InvalidInput, match="one runs at a time"):
        memory.migration_start("letters", LIMITS)
    gate.set()
    awaited(memory, phase("committed"))
    with pytest.raises(InvalidInput, match="nothing to migrate"):
        memory.migration_start("letters", LIMITS)


def test_a_failing_target_stops_the_job_and_recover_goes_on(
    open_memory: Opening, letters: Any
) -> None:
    memory = open_memory()
    filled(memory, 300)
    embed, calls = letters.embed, []

    def failing(texts: Any) -> Any:
        calls.append(len(texts))
        if len(calls) > 4:
            raise BackendUnavailable("the embedding service didn't answer")
        return embed(texts)

    letters.embed = failing
    memory.migration_start("letters", Limits(pause_budget_ms=2000, fact_batch=50))
    view = awaited(memory, stopped)
    assert view.job is not None
    assert view.job.phase == "capturing"
    assert view.job.last_error == "the embedding service didn't answer"
    assert "migration_recover" in str(view.job.recovery_action)
    assert memory.memory_status().embedder.model == "hash-v1"
    copied = view.job.progress.base_facts
    expected = contents(memory)
    letters.embed = embed
    memory.migration_recover()
    view = awaited(memory, phase("committed"))
    assert view.job is not None
    assert view.job.last_error is None
    assert 0 < copied < view.job.progress.base_facts == 300
    assert contents(memory) == expected


def test_a_target_of_another_dimension_than_it_said_stops_the_job(
    open_memory: Opening, letters: Any
) -> None:
    memory = open_memory()
    filled(memory, 200)
    before = contents(memory)
    embed, calls = letters.embed, []

    def cut(texts: Any) -> Any:
        calls.append(len(texts))
        return embed(texts)[:, : 64 if len(calls) < 4 else 32]

    letters.embed = cut
    memory.migration_start("letters", Limits(pause_budget_ms=2000, fact_batch=50))
    view = awaited(memory, stopped)
    assert view.job is not None
    assert "32" in str(view.job.last_error)
    assert "64" in str(view.job.last_error)
    assert view.job.recovery_action
    assert memory.memory_status().embedder.model == "hash-v1"
    assert contents(memory) == before
    memory.migration_cancel()
    assert memory.check() == []


def test_a_job_that_stops_while_it_is_asked_after_says_why(
    open_memory: Opening, letters: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    filled(memory, 100)
    asked, embed, counters = threading.Event(), letters.embed, journal.counters

    def failing(texts: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            assert asked.wait(30)
            raise BackendUnavailable("away")
        return embed(texts)

    def let_it_fail(store: Any) -> Any:  # it is asked for after the job has been read
        if threading.current_thread() is threading.main_thread():
            asked.set()
            for thread in threading.enumerate():
                if thread.name == "veles-migration":
                    thread.join(30)
        return counters(store)

    letters.embed = failing
    memory.migration_start("letters", LIMITS)
    monkeypatch.setattr(journal, "counters", let_it_fail)
    view = memory.migration_status()
    assert view.job is not None
    assert not view.running
    assert view.job.last_error == "away"


def test_asking_whether_a_job_runs_keeps_nobody_from_running_it(
    open_memory: Opening,
) -> None:
    """Another process that asks holds the duty for a moment; here it is held at the start."""
    memory = open_memory()
    filled(memory, 30)
    held = memory.live().store.claim(DUTY)
    assert held is not None
    with held:
        memory.migration_start("letters", LIMITS)
    awaited(memory, phase("committed"))


def test_a_full_disk_stops_the_job_and_leaves_the_source_whole(
    tmp_path: Path, letters: Any
) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "small", str(tmp_path)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        with on_disk(tmp_path, letters) as memory:
            ids = filled(memory, 900)
            before = contents(memory)
            with (tmp_path / "filler").open("wb", buffering=0) as filler:
                while shutil.disk_usage(tmp_path).free > 500_000:
                    filler.write(b"x" * 4096)
            memory.migration_start("letters", LIMITS)
            view = awaited(memory, stopped)
            assert view.job is not None
            assert view.job.phase == "capturing"
            assert "full" in str(view.job.last_error)
            assert memory.memory_status().embedder.model == "hash-v1"
            assert contents(memory) == before
            (tmp_path / "filler").unlink()
            assert memory.feedback(ids[1], True).confidence == 0.6
            expected = contents(memory)
            memory.migration_recover()
            awaited(memory, phase("committed"))
            assert contents(memory) == expected
            assert memory.check() == []
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_model_changed_in_place_is_not_resumed(open_memory: Opening, letters: Any) -> None:
    memory = open_memory()
    filled(memory, 100)
    embed, calls = letters.embed, []

    def failing(texts: Any) -> Any:
        calls.append(len(texts))
        if len(calls) > 1:
            raise BackendUnavailable("gone")
        return embed(texts)

    letters.embed = failing
    memory.migration_start("letters", LIMITS)
    awaited(memory, stopped)
    letters.embed = type(letters)("other seed").embed
    with pytest.raises(InvalidInput, match="differently than when"):
        memory.migration_recover()


def test_cancelling_a_running_job_removes_what_it_made(
    open_memory: Opening, letters: Any, tmp_path: Any
) -> None:
    memory = open_memory()
    filled(memory, 100)
    expected = contents(memory)
    gate, reached = threading.Event(), threading.Event()
    embed = letters.embed

    def gated(texts: Any) -> Any:
        if len(texts) > 1:
            reached.set()
            assert gate.wait(30)
        return embed(texts)

    letters.embed = gated
    view = memory.migration_start("letters", Limits(pause_budget_ms=2000, fact_batch=10))
    assert view.job is not None
    destination = tmp_path / view.job.target.destination
    assert destination.exists()
    assert reached.wait(30)
    asked = memory.migration_cancel()
    assert asked.job is not None
    assert asked.job.cancellation_requested
    gate.set()
    view = awaited(memory, phase("cancelled"))
    awaited(memory, stopped)
    assert not destination.exists()
    assert contents(memory) == expected
    with pytest.raises(InvalidInput, match="can't be cancelled"):
        memory.migration_cancel()
    with pytest.raises(InvalidInput, match="can't be resumed"):
        memory.migration_recover()


def test_a_stopped_job_is_cancelled_at_once(open_memory: Opening, letters: Any) -> None:
    memory = open_memory()
    filled(memory, 100)
    embed = letters.embed

    def failing(texts: Any) -> Any:
        if len(texts) > 1:
            raise BackendUnavailable("gone")
        return embed(texts)

    letters.embed = failing
    memory.migration_start("letters", LIMITS)
    awaited(memory, stopped)
    view = memory.migration_cancel()
    assert view.job is not None
    assert view.job.phase == "cancelled"


def test_too_many_links_stop_the_job_with_the_way_out(open_memory: Opening) -> None:
    memory = open_memory()
    ids = filled(memory, 30)
    for target in ids[2:]:
        memory.relate(ids[0], target, "knows")
    memory.migration_start("letters", Limits(pause_budget_ms=2000, edge_cap=10))
    view = awaited(memory, stopped)
    assert view.job is not None
    assert "larger edge_cap" in str(view.job.last_error)


def test_an_empty_memory_migrates(open_memory: Opening) -> None:
    memory = open_memory()
    memory.migration_start("letters", LIMITS)
    awaited(memory, phase("committed"))
    memory.remember("the first fact")
    assert memory.memory_status().provenance == memory.memory_status().embedder


def test_without_a_control_plane_nothing_is_configured(
    fixed_memory: MemoryService,
) -> None:
    assert fixed_memory.migration_start("letters", LIMITS) == MigrationView(False)
    assert fixed_memory.migration_status() == MigrationView(False)


def test_there_is_nothing_to_cancel_or_recover(open_memory: Opening) -> None:
    memory = open_memory()
    assert memory.migration_status() == MigrationView(True)
    for verb in (memory.migration_cancel, memory.migration_recover):
        with pytest.raises(InvalidInput, match="there is no migration"):
            verb()


def test_writers_are_never_refused_while_it_runs(open_memory: Opening) -> None:
    memory, other = open_memory(grace=60.0), open_memory()
    filled(memory, 200)
    stop, failures, written = threading.Event(), [], []

    def writing(service: MemoryService, name: str) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            try:
                id = service.remember(f"{name} note {number}").id
                service.feedback(id, True)
                service.recall(f"{name} note {number}", 3)
                written.append(id)
            except Exception as error:
                failures.append(error)
                return

    threads = [
        threading.Thread(target=writing, args=(service, name))
        for name, service in (("one", memory), ("two", other))
    ]
    for thread in threads:
        thread.start()
    memory.migration_start("letters", LIMITS)
    view = awaited(memory, phase(*TERMINAL), 60)
    count = len(written)
    while len(written) < count + 10 and not failures:
        threading.Event().wait(0.005)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert view.job is not None
    assert view.job.phase == "committed"
    listed = {line for line in contents(memory) if '"note' in line or " note " in line}
    assert len(listed) == len(set(written))
    assert memory.check() == []


def test_a_writer_faster_than_the_copy_is_reported_and_harmless(
    open_memory: Opening, letters: Any
) -> None:
    memory = open_memory()
    filled(memory, 5)
    embed, hurry = letters.embed, threading.Event()

    def slow(texts: Any) -> Any:
        hurry.wait(0.02)
        return embed(texts)

    memory.migration_start("letters", Limits(pause_budget_ms=300, replay_batch=1))
    letters.embed = slow
    stop, count = threading.Event(), 0

    def writing() -> None:
        nonlocal count
        while not stop.is_set():
            count += 1
            memory.remember(f"written in a hurry, number {count}")

    writer = threading.Thread(target=writing)
    writer.start()
    try:
        seen = awaited(memory, phase("non_converging", *TERMINAL))
    finally:
        stop.set()
        writer.join()
    assert seen.job is not None
    assert seen.job.phase == "non_converging"
    assert seen.job.last_error is None
    hurry.set()
    awaited(memory, phase("committed"))
    assert memory.memory_status().memory.facts == 5 + count
    assert memory.check() == []


@pytest.mark.parametrize("instants", [(0.0, 0.45), (0.0, 0.1, 0.6)])
def test_a_cutover_over_its_budget_is_rolled_back_whole(
    open_memory: Opening, letters: Any, tmp_path: Any, instants: tuple[float, ...]
) -> None:
    memory = open_memory()
    filled(memory, 20)
    expected = contents(memory)
    source = memory.live().store.inner
    target = discover(()).open(
        "store", "exact", Host(tmp_path, epoch="over", identity=letters.identity)
    )
    wanted = Target("letters", "letters-64", 64, False, "stores/over")
    job = Job("over", "main", wanted, Limits(pause_budget_ms=500), phase="quiescing")
    for fact in source.scan_facts(None, 100):
        journal.record(source, "fact", [str(fact.id)], 10_000)
        journal.record(source, "edges", [str(fact.id)], 10_000)
    pending = journal.counters(source)
    seconds = iter([*instants, 9.9])
    with pytest.raises(BackedOut):
        cut_over(source, target, letters.embed, job, elapsed=lambda: next(seconds))
    assert journal.counters(source) == pending
    assert memory.live().epoch == "main"
    assert contents(memory) == expected
    paused = cut_over(source, target, letters.embed, job, elapsed=lambda: 0.0)
    assert paused.milliseconds == 0
    assert memory.live().epoch == "over"
    assert contents(memory) == expected
    target.close()
