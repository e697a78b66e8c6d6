"""Extraction jobs as documents: each under its request id, those not yet ended in a queue.

What is large lies apart, so that asking for a job's state reads little: the passage, and
the generation, which is what the extractor found in it. Both go when the job ends. The
queue's entries are small and at most ``MAX_PENDING_EXTRACTIONS``, so that neither
admitting a job nor finding the next one grows with the jobs that ever were.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from veles_core.errors import InvalidInput
from veles_core.limits import MAX_PENDING_EXTRACTIONS
from veles_core.protocols import Store
from veles_core.records import Attribute, Document, ExtractedFact, Extraction, Relation

JOBS: Final = "extraction"
PASSAGES: Final = "extraction-passage"
GENERATIONS: Final = "extraction-generation"
QUEUE: Final = "extraction-queue"

State = Literal["accepted", "running", "committed", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """One accepted passage. ``fingerprint`` is the digest of everything that was asked for."""

    request_id: str
    fingerprint: str
    extractor: str
    accepted_at: float
    place: str = ""  # its key in the queue
    state: State = "accepted"
    ids: tuple[int, ...] = ()
    skipped_over_cap: int | None = None
    error: str | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ("committed", "failed")


@dataclass(frozen=True, slots=True)
class Passage:
    """What a job extracts from, and what its facts are to carry."""

    text: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry of the queue: enough to decide whether to read the job."""

    place: str
    request_id: str
    extractor: str
    accepted_at: float


def find(store: Store, request_id: str) -> Job | None:
    """The job accepted under a request id."""
    held = _read(store, JOBS, request_id)
    return Job(**held | {"ids": tuple(held["ids"])}) if held else None


def passage(store: Store, job: Job) -> Passage:
    """What a job that has not ended extracts from."""
    return Passage(**_read(store, PASSAGES, job.request_id) or {"text": "", "metadata": {}})


def generation(store: Store, job: Job) -> Extraction | None:
    """What the extractor found for a job that has not ended, if it was asked already."""
    held = _read(store, GENERATIONS, job.request_id)
    if held is None:
        return None
    return Extraction(
        tuple(ExtractedFact(fact["content"], tuple(fact["topics"])) for fact in held["facts"]),
        tuple(Relation(**relation) for relation in held["relations"]),
        tuple(Attribute(**attribute) for attribute in held["attributes"]),
    )


def waiting(store: Store) -> list[Waiting]:
    """The jobs that have not ended, oldest first."""
    return [Waiting(entry.key, **json.loads(entry.value)) for entry in _queue(store)]


def admit(store: Store, job: Job, passage: Passage, found: Extraction | None = None) -> Job:
    """Inside a transaction: put a job at the queue's end; raises InvalidInput if it is full.

    ``found`` is the generation, if there is one already.
    """
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
    # In this order, since a store without transactions may stop anywhere in between.
    _write(store, PASSAGES, job.request_id, asdict(passage))
    if found is not None:
        generated(store, job, found)
    save(store, job)
    _write(store, QUEUE, job.place, entry)
    return job


def generated(store: Store, job: Job, found: Extraction) -> None:
    """Inside a transaction: keep what the extractor found, so that it is never asked again."""
    _write(store, GENERATIONS, job.request_id, asdict(found))


def save(store: Store, job: Job) -> None:
    """Inside a transaction: write a job down; with its end go its passage and generation."""
    _write(store, JOBS, job.request_id, asdict(job))
    if job.ended:
        drop(store, job.request_id, job.place)


def drop(store: Store, request_id: str, place: str) -> None:
    """Inside a transaction: delete all that a job needs only until it ends."""
    store.delete_documents(PASSAGES, [request_id])
    store.delete_documents(GENERATIONS, [request_id])
    store.delete_documents(QUEUE, [place])


def _queue(store: Store) -> list[Document]:
    return store.scan_documents(QUEUE, None, MAX_PENDING_EXTRACTIONS + 1)


def _read(store: Store, namespace: str, key: str) -> dict[str, Any] | None:
    found = store.get_documents(namespace, [key]).get(key)
    held: dict[str, Any] | None = json.loads(found.value) if found else None
    return held


def _write(store: Store, namespace: str, key: str, held: Mapping[str, Any]) -> None:
    value = json.dumps(held, ensure_ascii=False, separators=(",", ":")).encode()
    store.put_documents(namespace, [Document(key, value)])
