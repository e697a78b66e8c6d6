"""The control plane: start, watch, cancel and recover the one migration of a memory."""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from veles_core.errors import InvalidInput, VelesError
from veles_core.migration import control, duty, journal
from veles_core.migration.epochs import Epochs, Live
from veles_core.migration.job import RECOVERABLE, TERMINAL, Job, Limits, Target
from veles_core.migration.recovery import recover_cutover
from veles_core.migration.retire import retire_predecessor
from veles_core.migration.verify import same_witness, witness
from veles_core.migration.worker import Worker, remove
from veles_core.protocols import Embedder, Store
from veles_core.records import EmbeddingIdentity

GRACE_SECONDS: Final = 30.0  # readers of other processes have left the old store by then


@dataclass(frozen=True, slots=True)
class MigrationView:
    """What every migration tool answers; ``configured`` is False without a control plane."""

    configured: bool
    job: Job | None = None
    running: bool = False


class Migrations:
    """Runs at most one migration of the memory behind ``epochs``, in a thread."""

    def __init__(self, epochs: Epochs, grace_seconds: float = GRACE_SECONDS) -> None:
        """Put right what a kill during a cutover left, then free what a finished one left."""
        self._epochs = epochs
        self._grace = grace_seconds
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        recover_cutover(epochs.live().store.inner)
        job = self._job()
        if job is not None and job.phase == "committed" and not job.retired:
            self._begin(self._retire)

    def close(self) -> None:
        """Stop after the current batch; the job stays where it is. Idempotent."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def start(self, target_backend: str, limits: Limits, again: bool = False) -> MigrationView:
        """Prepare a job and its destination durably, then work on it in the background.

        With ``again`` a memory may be embedded anew with the model that filled it.
        """
        limits = limits.checked()
        with self._lock:
            live = self._epochs.live()
            self._check_none_running(live)
            embedder = self._target_embedder(target_backend)
            proof = witness(embedder.embed)
            identity = EmbeddingIdentity(
                embedder.identity.model, len(proof), embedder.identity.semantic
            )
            if not again:
                self._check_other(live, identity)
            epoch = f"e{secrets.token_hex(8)}"
            job = Job(
                epoch_id=epoch,
                source=live.epoch,
                target=Target(
                    target_backend, identity.model, len(proof), identity.semantic, f"stores/{epoch}"
                ),
                limits=limits,
                witness=proof,
            )
            target = self._prepare(job, identity)
            with live.store.transaction():
                self._check_none_running(live)
                journal.clear(live.store.inner)
                control.write_job(live.store.inner, job)
            self._work(live, target, embedder)
        return self.status()

    def status(self) -> MigrationView:
        """The job of the memory as it stands, with what its journal holds now."""
        found = self._view(running=False)
        if found.job is None or found.job.phase in TERMINAL:
            return found
        # Read again after asking: a job that ends in between would look stopped without a reason.
        running = self._taken()
        return self._view(running)

    def cancel(self) -> MigrationView:
        """Ask a running job to end at its next batch; end a stopped one at once."""
        with self._lock:
            live = self._epochs.live()
            store = live.store.inner
            with store.transaction():
                job = self._required(store)
                if job.phase not in RECOVERABLE:
                    raise InvalidInput(
                        f"the migration is {job.phase} and can't be cancelled: "
                        + (job.recovery_action or "wait for it to end, or restart the server")
                    )
                control.write_job(store, replace(job, cancellation_requested=True))
            claim = None if self._alive() else duty.take(store)
            if claim is not None:
                with claim:
                    if self._required(store).phase in RECOVERABLE:  # it may just have ended
                        remove(store, self._epochs.open_store(job.epoch_id, None))
        return self.status()

    def recover(self) -> MigrationView:
        """Go on with a stopped job, after its target proves to be the one it began with."""
        with self._lock:
            live = self._epochs.live()
            store = live.store.inner
            job = self._required(store)
            if job.phase not in RECOVERABLE:
                raise InvalidInput(
                    f"a migration that is {job.phase} can't be resumed"
                    + ("" if job.phase in TERMINAL else ": restart the server, which recovers it")
                )
            if self._taken(duty.TRIES):
                raise InvalidInput("the migration is running; there is nothing to recover")
            embedder = self._target_embedder(job.target.backend)
            if embedder.identity.model != job.target.model or not same_witness(
                job.witness, embedder.embed
            ):
                raise InvalidInput(
                    f"the backend {job.target.backend!r} now embeds with "
                    f"{embedder.identity.model!r}, differently than when this migration began "
                    f"with {job.target.model!r}: configure that model again, or cancel"
                )
            target = self._epochs.open_store(job.epoch_id, embedder.identity)
            self._epochs.keep(target)
            with store.transaction():
                resumed = replace(
                    self._required(store),
                    last_error=None,
                    recovery_action=None,
                    cancellation_requested=False,
                )
                control.write_job(store, resumed)
            self._work(live, target, embedder)
        return self.status()

    def _view(self, running: bool) -> MigrationView:
        store = self._epochs.live().store.inner
        job = control.read(store).job
        if job is None or job.phase in TERMINAL:
            return MigrationView(True, job)
        now = journal.counters(store)
        job = job.progressed(
            input_watermark=now.written,
            output_watermark=now.replayed,
            distinct_dirty_facts=now.facts,
            distinct_edge_sources=now.edge_sources,
            pending_journal_bytes=now.bytes,
        )
        return MigrationView(True, job, running)

    def _work(self, live: Live, target: Store, embedder: Embedder) -> None:
        source = live.store.inner
        worker = Worker(source, live.embedder, target, embedder, self._stopped, self._retire)

        def work() -> None:
            claim = duty.take(source)
            if claim is None:
                return
            with claim:
                worker.run()

        self._begin(work)

    def _begin(self, work: Callable[[], None]) -> None:
        self._thread = threading.Thread(target=work, name="veles-migration", daemon=True)
        self._thread.start()

    def _retire(self) -> None:
        """Free the old store once nobody can still be reading it."""
        if not self._stopped.wait(self._grace):
            retire_predecessor(self._epochs)

    def _prepare(self, job: Job, identity: EmbeddingIdentity) -> Store:
        target = self._epochs.open_store(job.epoch_id, identity)
        if target.count().facts or target.provenance() is not None or target.namespaces():
            target.close()
            raise InvalidInput(f"the destination {job.target.destination} exists already")
        self._epochs.keep(target)
        with target.transaction():
            target.set_provenance(identity)
            control.write_job(target, job)
        return target

    def _target_embedder(self, backend: str) -> Embedder:
        try:
            embedder = self._epochs.open_embedder(backend)
        except VelesError as error:
            raise InvalidInput(
                f"target_backend {backend[:80]!r} can't be used: {error.message}",
                field="target_backend",
                actual=backend[:80],
            ) from None
        self._epochs.keep(embedder)
        return embedder

    def _check_other(self, live: Live, identity: EmbeddingIdentity) -> None:
        filled = live.store.provenance()
        if filled and (filled.model, filled.dimension) == (identity.model, identity.dimension):
            raise InvalidInput(
                f"the memory is already filled by {identity.model!r} with {identity.dimension} "
                "dimensions; there is nothing to migrate",
                field="target_backend",
            )

    def _check_none_running(self, live: Live) -> None:
        job = control.read(live.store.inner).job
        if job is not None and job.phase not in TERMINAL:
            raise InvalidInput(
                f"a migration to {job.target.model!r} is {job.phase}; one runs at a time: see "
                "migration_status, or end it with migration_cancel"
            )

    def _alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _taken(self, tries: int = 1) -> bool:
        return self._alive() or duty.is_taken(self._epochs.live().store.inner, tries)

    def _job(self) -> Job | None:
        return control.read(self._epochs.live().store.inner).job

    def _required(self, store: Store) -> Job:
        job = control.read(store).job
        if job is None:
            raise InvalidInput("there is no migration; begin one with migration_start")
        return job
