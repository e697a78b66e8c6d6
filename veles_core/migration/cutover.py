"""The cutover: replay what is left, compare, and hand over, all in one transaction.

While the transaction lasts, the writers of every process wait for it; readers go on. If it
would last longer than the pause budget it is rolled back and every waiting writer succeeds
on the source. Committing it is the flip: one durable atomic step.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veles_core.migration import control, journal
from veles_core.migration.control import Successor
from veles_core.migration.job import Job
from veles_core.migration.replay import replay
from veles_core.migration.verify import NOTHING, Differences, still_different, touched
from veles_core.protocols import Store

if TYPE_CHECKING:
    from veles_core.migration.carry import Embed


class BackedOut(Exception):
    """The cutover was rolled back; the source serves on as if nothing had happened."""


@dataclass(frozen=True, slots=True)
class Paused:
    """How long writers waited for a cutover that went through, in milliseconds."""

    milliseconds: int


def cut_over(
    source: Store,
    target: Store,
    embed: "Embed",
    job: Job,
    suspects: Differences = NOTHING,
    elapsed: Callable[[], float] = time.monotonic,
) -> Paused:
    """Hand over from source to target within the job's pause budget, or raise BackedOut.

    ``suspects`` changed since everything was compared; they are compared again here,
    together with what is replayed here.
    """
    limits = job.limits
    with source.transaction():
        began = elapsed()

        def spent() -> float:
            return (elapsed() - began) * 1000

        entries = []
        while batch := replay(source, target, embed, limits.replay_batch, limits.edge_cap):
            entries += batch
            if spent() > limits.pause_budget_ms - limits.verification_reserve_ms:
                raise BackedOut(f"replaying took {spent():.0f} ms of the pause budget")
        if still_different(source, target, suspects | touched(entries)):
            raise BackedOut("what was replayed differs between source and target")
        if source.count() != target.count():
            raise BackedOut("source and target hold different numbers of facts or links")
        now = journal.counters(source)
        activated = job.moved("activated").progressed(
            input_watermark=now.written, output_watermark=now.written
        )
        control.write_job(target, activated)
        control.write_job(source, activated)
        control.write_successor(
            source,
            Successor(job.epoch_id, job.target.backend, job.target.model, job.target.dimension),
        )
        if spent() > limits.pause_budget_ms:
            raise BackedOut(f"the pause reached {spent():.0f} ms")
    return Paused(round(spent()))
