"""The worker behind ``remember_extracted``: one at a time among all processes of a memory.

What a job has reached is written down before it goes on, so that whichever process takes
over after a death continues there: a generation that is stored is never asked for again,
and facts, graph and outcome are one transaction.
"""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from veles_core.clock import Clock
from veles_core.errors import BackendUnavailable, StoreError, VelesError
from veles_core.findings import checked
from veles_core.limits import MAX_EMBEDDABLE_TEXT_BYTES
from veles_core.memory import entities, facts, jobs, provenance
from veles_core.memory.entities import Mention
from veles_core.memory.extractors import Extractors
from veles_core.memory.facts import Draft
from veles_core.memory.jobs import Job, Waiting
from veles_core.memory.live import Live, Memory
from veles_core.records import Extraction

POLL_SECONDS: Final = 1.0  # how soon other processes' jobs, and a dead worker's, are seen
RETRY_SECONDS: Final = (1.0, 5.0, 25.0, 60.0)  # pauses after passing failures; then it fails
ABANDONED_SECONDS: Final = 3600.0  # then a job fails whose extractor is configured nowhere

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Attempts:
    """Passing failures of one job in this process, and when it may be tried again."""

    failed: int = 0
    due: float = 0.0


class ExtractionWorker:
    """A thread that extracts what waits while this process holds the duty."""

    def __init__(
        self,
        memory: Memory,
        extractors: Extractors,
        clock: Clock,
        default_ttl: int | None,
        retry_seconds: Sequence[float],
    ) -> None:
        self._memory = memory
        self._extractors = extractors
        self._clock = clock
        self._default_ttl = default_ttl
        self._retry_seconds = retry_seconds
        self._attempts: dict[str, _Attempts] = {}
        self._stopped = False
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name="veles-extraction", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Look at the queue now."""
        self._woken.set()

    def stop(self, patience: float = 0.5) -> None:
        """Stop after the current step. One that waits for a model is left to end by itself."""
        self._stopped = True
        self._woken.set()
        self._thread.join(patience)

    def _run(self) -> None:
        while True:
            self._woken.wait(POLL_SECONDS)
            self._woken.clear()
            if self._stopped:
                return
            try:
                self._work()
            except Exception:  # the thread must outlive one failure: a full disk, a locked store
                if not self._stopped:
                    log.exception("extracting failed; trying again later")

    def _work(self) -> None:
        if self._next() is None:
            return
        claim = self._memory.live().store.claim("extraction")
        if claim is None:
            return
        with claim:
            while not self._stopped and (entry := self._next()) is not None:
                self._do(entry)

    def _next(self) -> Waiting | None:
        """The oldest waiting job that can be worked on here and now."""
        queue = jobs.waiting(self._memory.live().store)
        self._attempts = {
            entry.request_id: self._attempts[entry.request_id]
            for entry in queue
            if entry.request_id in self._attempts
        }
        now = time.monotonic()
        for entry in queue:
            attempts = self._attempts.get(entry.request_id)
            if self._is_ours(entry) and (attempts is None or attempts.due <= now):
                return entry
        return None

    def _is_ours(self, entry: Waiting) -> bool:
        """Whether this process can extract it, or must give it up because none can."""
        waited = self._clock.now() - entry.accepted_at
        return self._extractors.offers(entry.extractor) or waited > ABANDONED_SECONDS

    def _do(self, entry: Waiting) -> None:
        """Bring one job to its end, or as far as it goes now."""
        job = jobs.find(self._memory.live().store, entry.request_id)
        if job is None or job.ended:
            self._memory.write(partial(_drop, entry=entry))
            return
        try:
            self._carry_out(job)
        except (BackendUnavailable, StoreError) as error:
            self._try_later(job, error)
        except VelesError as error:
            self._fail(job, error.message)
        except Exception as error:  # whatever a stranger's extractor raises ends this job only
            if self._stopped:
                return
            log.exception("extracting %s failed", job.request_id)
            self._fail(job, f"the extraction failed unexpectedly ({type(error).__name__})")

    def _carry_out(self, job: Job) -> None:
        if not self._extractors.offers(job.extractor):
            self._fail(job, f"the extractor {job.extractor!r} is not configured any more")
            return
        if job.state == "accepted":
            job = self._saved(replace(job, state="running"))
        store = self._memory.live().store
        passage, found = jobs.passage(store, job), jobs.generation(store, job)
        if found is None:
            found = checked(self._extractors.get(job.extractor).extract(passage.text))
            self._memory.write(partial(_keep, job=job, found=found))
        self._memory.write(partial(self._commit, job, passage.metadata, found))

    def _commit(self, job: Job, metadata: Mapping[str, Any], found: Extraction, live: Live) -> None:
        """Store what was found and the job's outcome: one transaction, after the embedding."""
        drafts, mentions, skipped = self._drafted(job, metadata, found)
        vectors = live.embedder.embed([d.content for d in drafts]) if drafts else None
        with live.store.transaction():
            current = jobs.find(live.store, job.request_id)
            if current is None or current.ended:
                return  # a worker of an earlier epoch was faster
            if vectors is not None:
                provenance.confirm(live.store, live.embedder.identity, vectors.shape[1])
                facts.write(live.store, drafts, vectors)
            until = facts.expiry(self._default_ttl, _at(job))
            entities.connect(live.store, mentions, found.relations, found.attributes, until)
            ids = tuple(drafted.id for drafted in drafts)
            jobs.save(
                live.store, replace(job, state="committed", ids=ids, skipped_over_cap=skipped)
            )

    def _drafted(
        self, job: Job, metadata: Mapping[str, Any], found: Extraction
    ) -> tuple[list[Draft], list[Mention], int]:
        """The facts that fit, each once, with their topics; and how many didn't fit."""
        drafts: dict[int, Draft] = {}
        topics: dict[int, list[str]] = {}
        skipped = 0
        for fact in found.facts:
            if len(fact.content.encode()) > MAX_EMBEDDABLE_TEXT_BYTES:
                skipped += 1
                continue
            drafted = facts.draft(
                fact.content,
                clock=_at(job),
                metadata=metadata,
                ttl_seconds=self._default_ttl,
            )
            drafts.setdefault(drafted.id, drafted)
            topics.setdefault(drafted.id, []).extend(fact.topics)
        mentions = [Mention(d.id, topics[d.id], d.expires_at) for d in drafts.values()]
        return list(drafts.values()), mentions, skipped

    def _try_later(self, job: Job, error: VelesError) -> None:
        """Leave a job in the queue after a passing failure, until its attempts are used up."""
        if self._stopped:
            return
        attempts = self._attempts.setdefault(job.request_id, _Attempts())
        if attempts.failed == len(self._retry_seconds):
            self._fail(job, f"{error.message} (given up after {attempts.failed + 1} attempts)")
            return
        attempts.due = time.monotonic() + self._retry_seconds[attempts.failed]
        attempts.failed += 1
        log.info("extracting %s is put off: %s", job.request_id, error.message)

    def _fail(self, job: Job, reason: str) -> None:
        self._saved(replace(job, state="failed", error=reason))

    def _saved(self, job: Job) -> Job:
        def save(live: Live) -> Job:
            with live.store.transaction():
                jobs.save(live.store, job)
            return job

        return self._memory.write(save)


def _drop(live: Live, entry: Waiting) -> None:
    with live.store.transaction():
        jobs.drop(live.store, entry.request_id, entry.place)


def _keep(live: Live, job: Job, found: Extraction) -> None:
    with live.store.transaction():
        jobs.generated(live.store, job, found)


def _at(job: Job) -> Clock:
    """The clock of a job: its facts are dated, and live, from when it was accepted."""
    return Clock(lambda: job.accepted_at)
