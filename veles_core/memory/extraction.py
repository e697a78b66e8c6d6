"""``remember_extracted`` and ``extraction_status``: passages accepted as durable jobs."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from veles_core.clock import Clock
from veles_core.errors import InvalidInput, NotFound
from veles_core.findings import checked
from veles_core.limits import MAX_FACT_BYTES, MAX_IDEMPOTENCY_KEY_BYTES
from veles_core.memory import jobs
from veles_core.memory.answers import ExtractionResult, Receipt
from veles_core.memory.extraction_worker import RETRY_SECONDS, ExtractionWorker
from veles_core.memory.extractors import OUTLINE, Extractors
from veles_core.memory.jobs import Job, Passage
from veles_core.memory.live import Live, Memory
from veles_core.memory.metadata import checked_metadata, plain_json
from veles_core.memory.text import byte_length

_REQUEST_ID: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class _Request:
    """A checked call; equal requests have one fingerprint."""

    text: str
    metadata: Mapping[str, Any]
    extractor: str
    key: str | None

    @property
    def fingerprint(self) -> str:
        asked = {"text": self.text, "metadata": self.metadata, "extractor": self.extractor}
        return _digest(asked)

    @property
    def request_id(self) -> str:
        return self.fingerprint if self.key is None else _digest({"idempotency_key": self.key})


class ExtractionJobs:
    """The passages accepted for extraction, and the worker that extracts them.

    Whatever process of this memory accepted a passage, one worker at a time works on all.
    """

    def __init__(
        self,
        memory: Memory,
        extractors: Extractors,
        clock: Clock,
        default_ttl: int | None = None,
        retry_seconds: Sequence[float] = RETRY_SECONDS,
    ) -> None:
        """``retry_seconds`` are the pauses between attempts at a job that fail in passing."""
        self._memory = memory
        self._extractors = extractors
        self._clock = clock
        self._worker = ExtractionWorker(memory, extractors, clock, default_ttl, retry_seconds)

    def submit(
        self,
        text: str,
        metadata: Mapping[str, Any] | None = None,
        extractor: str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Accept a passage durably; the same request, or the same key, is one job.

        Raises InvalidInput for bad input, for a key that came with another payload, if too
        many passages wait, and with the line's number for a malformed outline; Internal if
        no extractor is configured for the call.
        """
        request = self._checked(text, metadata, extractor, idempotency_key)
        earlier = jobs.find(self._memory.live().store, request.request_id)
        if earlier is not None:
            return _receipt(_same(earlier, request), reused=True)
        reader = self._extractors.get(request.extractor)
        # An outline needs no waiting for, and its mistakes are the caller's to see.
        found = checked(reader.extract(text)) if request.extractor == OUTLINE else None
        job = Job(request.request_id, request.fingerprint, request.extractor, self._clock.now())

        def accept(live: Live) -> Receipt:
            with live.store.transaction():
                earlier = jobs.find(live.store, job.request_id)  # another process may be faster
                if earlier is not None:
                    return _receipt(_same(earlier, request), reused=True)
                passage = Passage(request.text, request.metadata)
                return _receipt(jobs.admit(live.store, job, passage, found), reused=False)

        receipt = self._memory.write(accept)
        self._worker.wake()
        return receipt

    def status(self, request_id: str) -> ExtractionResult:
        """What has become of a passage; raises NotFound for an id that no receipt gave."""
        if not _REQUEST_ID.fullmatch(request_id):
            raise InvalidInput(
                "request_id must be the 64 lowercase hexadecimal digits of a receipt",
                field="request_id",
                actual=request_id[:80],
            )
        job = jobs.find(self._memory.live().store, request_id)
        if job is None:
            raise NotFound(
                f"request_id: no passage was accepted as {request_id}",
                field="request_id",
                actual=request_id,
            )
        return ExtractionResult(job.request_id, job.state, job.ids, job.skipped_over_cap, job.error)

    def close(self) -> None:
        """Stop working; what has not ended goes on when a memory is opened again."""
        self._worker.stop()

    def _checked(
        self, text: str, metadata: Mapping[str, Any] | None, extractor: str | None, key: str | None
    ) -> _Request:
        passage = _passage(text)
        checked_metadata(metadata)
        if key is not None:
            size = byte_length(key, "idempotency_key")
            if not key.strip() or size > MAX_IDEMPOTENCY_KEY_BYTES:
                raise InvalidInput(
                    f"idempotency_key must have 1 to {MAX_IDEMPOTENCY_KEY_BYTES} bytes, not {size}",
                    field="idempotency_key",
                    limit=MAX_IDEMPOTENCY_KEY_BYTES,
                    actual=size,
                )
        given = plain_json(metadata or {}, "metadata")
        return _Request(passage, given, self._extractors.chosen(extractor), key)


def _passage(text: str) -> str:
    passage = text.strip()
    size = byte_length(passage, "text")
    if not passage:
        raise InvalidInput("text is empty; give it a passage to extract facts from", field="text")
    if size > MAX_FACT_BYTES:
        raise InvalidInput(
            f"text is {size} bytes; at most {MAX_FACT_BYTES} are taken at once: split the passage",
            field="text",
            limit=MAX_FACT_BYTES,
            actual=size,
        )
    return passage


def _same(earlier: Job, request: _Request) -> Job:
    if earlier.fingerprint != request.fingerprint:
        raise InvalidInput(
            "idempotency_key was used before with another text, metadata or extractor; nothing "
            "was stored: take a new key for a new request",
            field="idempotency_key",
        )
    return earlier


def _receipt(job: Job, reused: bool) -> Receipt:
    return Receipt(job.request_id, job.state, reused)


def _digest(asked: Mapping[str, Any]) -> str:
    """SHA-256 of canonical JSON; lists of names differ, so no two kinds of digest collide."""
    canonical = json.dumps(asked, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
