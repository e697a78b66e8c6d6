"""Extraction jobs as documents: each under its request id, those not yet ended in a queue.

The queue's entries are small and at most ``MAX_PENDING_EXTRACTIONS``, so that neither
admitting a job nor finding the next one grows with the jobs that ever were.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from veles_core.errors import InvalidInput
from veles_core.limits import MAX_PENDING_EXTRACTIONS
from veles_core.protocols import Store
from veles_core.records import Attribute, Document, ExtractedFact, Extraction, Relation

JOBS: Final = "extraction"
QUEUE: Final = "extraction-queue"

State = Literal["accepted", "running", "committed", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """One accepted passage. ``fingerprint`` is the digest of everything that was asked for.

    A job that has ended holds what came of it and nothing of the passage any more.
    """

    request_id: str
    fingerprint: str
    extractor: str
    accepted_at: float
    state: State = "accepted"
    place: str = ""  # its key in the queue
    text: str | None = None
    metadata: Mapping[str, Any] | None = None
    generation: Extraction | None = None
    ids: tuple[int, ...] = ()
    skipped_over_cap: int | None = None
    error: str | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ("committed", "failed")


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry of the queue: enough to decide whether to read the job."""

    place: str
    request_id: str
    extractor: str
    accepted_at: float


def find(store: Store, request_id: str) -> Job | None:
    """The job accepted under a request id."""
    found = store.get_documents(JOBS, [request_id]).get(request_id)
    return _decoded(found.value) if found else None


def waiting(store: Store) -> list[Waiting]:
    """The jobs that have not ended, oldest first."""
    return [Waiting(entry.key, **json.loads(entry.value)) for entry in _queue(store)]


def admit(store: Store, job: Job) -> Job:
    """Inside a transaction: put a job at the queue's end; raises InvalidInput if it is full."""
    queue = _queue(store)
    if len(queue) >= MAX_PENDING_EXTRACTIONS:
        raise InvalidInput(
            f"{len(queue)} passages are waiting to be extracted, and at most "
            f"{MAX_PENDING_EXTRACTIONS} may: try again when extraction_status says that some "
            "have ended",
            limit=MAX_PENDING_EXTRACTIONS,
            actual=len(queue),
        )
    last = int(queue[-1].key) if queue else 0
    job = replace(job, place=f"{last + 1:020d}")
    entry = {
        "request_id": job.request_id,
        "extractor": job.extractor,
        "accepted_at": job.accepted_at,
    }
    store.put_documents(QUEUE, [Document(job.place, json.dumps(entry).encode())])
    save(store, job)
    return job


def save(store: Store, job: Job) -> None:
    """Inside a transaction: write a job down; one that has ended leaves the queue and its text."""
    if job.ended:
        job = replace(job, text=None, metadata=None, generation=None)
        store.delete_documents(QUEUE, [job.place])
    store.put_documents(JOBS, [Document(job.request_id, _encoded(job))])


def drop(store: Store, entry: Waiting) -> None:
    """Inside a transaction: take an entry that has no job (any more) out of the queue."""
    store.delete_documents(QUEUE, [entry.place])


def _queue(store: Store) -> list[Document]:
    return store.scan_documents(QUEUE, None, MAX_PENDING_EXTRACTIONS + 1)


def _encoded(job: Job) -> bytes:
    held = {name: value for name, value in asdict(job).items() if value is not None}
    return json.dumps(held, ensure_ascii=False, separators=(",", ":")).encode()


def _decoded(value: bytes) -> Job:
    held = json.loads(value)
    held["ids"] = tuple(held["ids"])
    if "generation" in held:
        held["generation"] = _extraction(held["generation"])
    return Job(**held)


def _extraction(held: Mapping[str, Sequence[Mapping[str, Any]]]) -> Extraction:
    return Extraction(
        tuple(ExtractedFact(fact["content"], tuple(fact["topics"])) for fact in held["facts"]),
        tuple(Relation(**relation) for relation in held["relations"]),
        tuple(Attribute(**attribute) for attribute in held["attributes"]),
    )
