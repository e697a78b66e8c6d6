"""The worker of one migration: from the first batch to the hand-over, step by durable step."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from veles_core.errors import BackendUnavailable, StoreError, VelesError
from veles_core.migration import control, journal
from veles_core.migration.capture import UNCAPTURED
from veles_core.migration.carry import carry_documents, carry_edges, carry_facts
from veles_core.migration.cutover import BackedOut, cut_over
from veles_core.migration.job import Job, Limits, Quality
from veles_core.migration.journal import Entry
from veles_core.migration.quality import compare
from veles_core.migration.replay import replay
from veles_core.migration.verify import (
    Differences,
    differences,
    same_witness,
    sampled_vectors_hold,
    still_different,
    touched,
)
from veles_core.protocols import Embedder, Store

ATTEMPTS: Final = 20  # cutovers that back out before a person is asked
GROWTHS: Final = 8  # rounds in a row that end with more pending than they began with
DOCUMENT_PAGE: Final = 256

log = logging.getLogger(__name__)


class Stopped(Exception):
    """The process ends; the job stays where it is, for migration_recover."""


class Cancelled(Exception):
    """A cancellation was requested while the source was still authoritative."""


class Worker:
    """Carries one job from the source's store to the target's. Runs in a thread."""

    def __init__(
        self,
        source: Store,
        source_embedder: Embedder,
        target: Store,
        target_embedder: Embedder,
        stopped: threading.Event,
        done: Callable[[], None],
    ) -> None:
        self._source = source
        self._source_embedder = source_embedder
        self._target = target
        self._embedder = target_embedder
        self._embed = target_embedder.embed
        self._stopped = stopped
        self._done = done
        self._entry_ms = 0.0  # what replaying one entry costs, lately

    def run(self) -> None:
        """Work until the job is committed, cancelled or stopped by an error that it records."""
        try:
            self._advance()
        except Stopped:
            return
        except Cancelled:
            remove(self._source, self._target)
        except VelesError as error:
            self._fail(error.message)
        except Exception:
            log.exception("the migration stopped")
            self._fail("an unexpected failure; the log has its trace")
        else:
            self._done()

    def _advance(self) -> None:
        job = self._job()
        if job.phase == "prepared":
            job = self._update(lambda job: job.moved("capturing"))
        if job.phase == "capturing":
            self._copy_base(job)
            job = self._update(lambda job: job.moved("base_copied", copied=None))
        if job.phase == "base_copied":
            job = self._update(lambda job: job.moved("catching_up"))
        backed_out = 0
        while backed_out < ATTEMPTS:
            self._catch_up()
            self._check_target()
            suspects = self._compared()
            if suspects is None:
                continue
            if self._cut_over(suspects):
                return
            backed_out += 1
        raise StoreError(
            f"the pause budget of {job.limits.pause_budget_ms} ms was too short {ATTEMPTS} times: "
            "cancel this migration and start it again with a larger pause_budget_ms"
        )

    def _copy_base(self, job: Job) -> None:
        """Facts, then the edges between them, then documents; goes on where it was left."""
        stage, _, after = (job.copied or "facts ").partition(" ")
        if stage == "facts":
            for ids in _fact_pages(self._source, after, job.limits.fact_batch):
                carry_facts(self._source, self._target, ids, self._embed)
                self._copied(f"facts {ids[-1]}", base_facts=len(ids), base_batches=1)
            stage, after = "edges", ""
        if stage == "edges":
            for ids in _fact_pages(self._source, after, job.limits.fact_batch):
                sets = carry_edges(self._source, self._target, ids, job.limits.edge_cap)
                self._copied(f"edges {ids[-1]}", base_edge_sets=sets)
        for namespace, keys in _document_pages(self._source):
            carry_documents(self._source, self._target, namespace, keys)
            self._copied("documents ")

    def _copied(self, copied: str, **added: int) -> None:
        def change(job: Job) -> Job:
            counts = {name: getattr(job.progress, name) + count for name, count in added.items()}
            return replace(job, copied=copied).progressed(**counts)

        self._update(change)

    def _catch_up(self) -> None:
        """Replay until enough consecutive samples fit the pause budget."""
        fitting = growing = 0
        while True:
            before = self._pending()
            limits = self._job().limits
            self._replayed(limits)
            left = self._pending()
            fits = self._fits(left, limits)
            fitting = fitting + 1 if fits else 0
            growing = growing + 1 if left > before else 0
            ready = fitting >= limits.observation_window
            estimate = round(left * self._entry_ms)
            job = self._update(_sampled(ready, fits, growing >= GROWTHS, estimate))
            if job.phase == "cutover_ready":
                return

    def _replayed(self, limits: Limits) -> list[Entry]:
        """Replay one batch, and learn what an entry costs."""
        began = time.monotonic()
        entries = replay(
            self._source, self._target, self._embed, limits.replay_batch, limits.edge_cap
        )
        if entries:
            spent = (time.monotonic() - began) * 1000 / len(entries)
            known = self._entry_ms or spent
            self._entry_ms = 0.7 * known + 0.3 * spent
        return entries

    def _fits(self, pending: int, limits: Limits) -> bool:
        """Whether replaying what is pending would fit the pause, less the reserve."""
        budget = limits.pause_budget_ms - limits.verification_reserve_ms
        return round(pending * self._entry_ms) <= budget

    def _check_target(self) -> None:
        """Refuse a target whose model isn't the one that the job began with."""
        job = self._job()
        if not same_witness(job.witness, self._embed):
            raise StoreError(
                f"the target model {job.target.model!r} embeds the witness sentence differently "
                "than when this migration began: it was changed in place; cancel this migration"
            )
        if not sampled_vectors_hold(self._target, self._embed):
            raise StoreError(
                "vectors in the target differ from what its embedder gives for the same texts: "
                "cancel this migration and start it again"
            )
        if job.quality is None:
            quality = self._quality()
            self._update(lambda job: replace(job, quality=quality))

    def _compared(self) -> Differences | None:
        """Compare everything while nobody waits; what differs because it changed meanwhile.

        Replays as long as that leaves less and less: a writer may be faster. None if what
        is pending then fits the pause no longer; the job is catching up again.
        """
        limits = self._job().limits
        found = differences(self._source, self._target)
        before, left = self._pending() + 1, self._pending()
        while 0 < left < before:
            entries = self._replayed(limits)
            found = still_different(self._source, self._target, found | touched(entries))
            self._check_going_on(self._job())
            before, left = left, self._pending()
        if not self._fits(left, limits):
            self._update(lambda job: job.moved("catching_up"))
            return None
        if found and not self._pending():  # one may just have expired
            found = still_different(self._source, self._target, found)
        if found and not self._pending():
            raise StoreError(
                f"{len(found.facts)} facts and {len(found.documents)} documents differ between "
                "source and target with nothing left to replay: cancel this migration"
            )
        return found

    def _quality(self) -> Quality | None:
        """How the two models answer the same questions; unknown while the old one is away."""
        try:
            return compare(self._source, self._source_embedder, self._target, self._embedder)
        except BackendUnavailable:
            return None

    def _cut_over(self, suspects: Differences) -> bool:
        job = self._update(lambda job: job.moved("quiescing"))
        try:
            paused = cut_over(self._source, self._target, self._embed, job, suspects)
        except BackedOut as reason:
            log.info("the cutover backed out: %s", reason)
            self._update(lambda job: job.moved("catching_up"))
            return False
        commit(self._target, paused.milliseconds)
        return True

    def _pending(self) -> int:
        return journal.counters(self._source).pending

    def _job(self) -> Job:
        job = control.read(self._source).job
        if job is None:
            raise StoreError("the migration's record is gone from its source")
        return job

    def _update(self, change: Callable[[Job], Job]) -> Job:
        """Change the job in one transaction, unless somebody wants it to end."""
        with self._source.transaction():
            job = self._job()
            self._check_going_on(job)
            return control.write_job(self._source, change(job))

    def _check_going_on(self, job: Job) -> None:
        if job.cancellation_requested and job.phase != "quiescing":
            raise Cancelled
        if self._stopped.is_set():
            raise Stopped

    def _fail(self, message: str) -> None:
        try:
            with self._source.transaction():
                job = self._job()
                phase = "catching_up" if job.phase in ("cutover_ready", "quiescing") else job.phase
                action = "mend the cause and call migration_recover, or call migration_cancel"
                control.write_job(
                    self._source,
                    replace(job, phase=phase, last_error=message, recovery_action=action),
                )
        except Exception:  # the store itself may be what failed: a full disk
            log.exception("the migration's failure can't be recorded: %s", message)


def commit(target: Store, paused_ms: int | None) -> Job:
    """The last step, on the store that now serves: the job is over."""
    with target.transaction():
        job = control.read(target).job
        if job is None:
            raise StoreError("the migration's record is gone from the store it led to")
        if job.phase == "activated":
            job = job.moved("committed").progressed(measured_cutover_ms=paused_ms)
            control.write_job(target, job)
    return job


def remove(source: Store, target: Store) -> Job:
    """End a job as cancelled, after removing what it generated, if that is its own."""
    job = control.read(source).job
    if job is None:
        raise StoreError("there is no migration to cancel")
    made, filled = control.read(target).job, target.provenance()
    removed_already = made is None and filled is None and not target.count().facts
    own = made is not None and made.epoch_id == job.epoch_id
    if not removed_already and (not own or (filled and filled.model != job.target.model)):
        raise StoreError(
            f"the destination {job.target.destination} isn't this migration's own; it was left "
            "as it is"
        )
    target.dispose()
    with source.transaction():
        journal.clear(source)
        return control.write_job(source, replace(job.moved("cancelled"), recovery_action=None))


def _sampled(ready: bool, fits: bool, diverging: bool, estimate: int) -> Callable[[Job], Job]:
    """What one sample of the catching up does to the job."""

    def change(job: Job) -> Job:
        job = job.progressed(estimated_pause_ms=estimate)
        if job.phase == "catching_up" and ready:
            return job.moved("cutover_ready")
        if job.phase == "catching_up" and diverging:
            return job.moved("non_converging")
        if job.phase == "non_converging" and fits:
            return job.moved("catching_up")
        return job

    return change


def _fact_pages(store: Store, after: str, size: int) -> Iterator[list[int]]:
    last = int(after) if after else None
    while page := store.scan_facts(last, size, internal=True):
        yield [fact.id for fact in page]
        last = page[-1].id


def _document_pages(store: Store) -> Iterator[tuple[str, list[str]]]:
    for namespace in store.namespaces():
        if namespace in UNCAPTURED:
            continue
        after: str | None = None
        while page := store.scan_documents(namespace, after, DOCUMENT_PAGE):
            yield namespace, [document.key for document in page]
            after = page[-1].key
