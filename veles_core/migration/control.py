"""The durable control of a migration: two documents beside the facts of the source.

``job`` is the migration's state. ``successor`` names the store that has taken over:
writing it is the one atomic step of the cutover, since every writer reads it inside its
own transaction.
"""

import json
from dataclasses import asdict, dataclass
from typing import Final

from veles_core.migration.job import Job
from veles_core.protocols import Store
from veles_core.records import Document

NAMESPACE: Final = "migration"
JOB: Final = "job"
SUCCESSOR: Final = "successor"


@dataclass(frozen=True, slots=True)
class Successor:
    """The epoch that took over, and the embedder it was filled by."""

    epoch: str
    backend: str
    model: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Control:
    """What a store's control documents say at one moment."""

    job: Job | None
    successor: Successor | None


def read(store: Store) -> Control:
    """The control documents of a store, both from one read."""
    found = store.get_documents(NAMESPACE, [JOB, SUCCESSOR])
    job, successor = found.get(JOB), found.get(SUCCESSOR)
    return Control(
        Job.read(job.value) if job else None,
        Successor(**json.loads(successor.value)) if successor else None,
    )


def write_job(store: Store, job: Job) -> Job:
    """Keep a job's state durably; answers the job."""
    store.put_documents(NAMESPACE, [Document(JOB, job.dump())])
    return job


def write_successor(store: Store, successor: Successor) -> None:
    """Hand over to another epoch; inside the transaction that ends the source's service."""
    value = json.dumps(asdict(successor)).encode()
    store.put_documents(NAMESPACE, [Document(SUCCESSOR, value)])
