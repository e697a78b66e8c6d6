"""Start-up after a kill in the middle of a cutover: one of the two stores, whole."""

import logging

from veles_core.migration import control, duty
from veles_core.migration.worker import commit
from veles_core.protocols import Store

log = logging.getLogger(__name__)


def recover_cutover(live: Store) -> None:
    """Bring the job of the store that serves out of the phases that nobody may stop in.

    If the flip was not committed the source serves and the job goes back to catching up;
    if it was, the target serves and the job is closed as committed.
    """
    job = control.read(live).job
    if job is None or job.phase not in ("quiescing", "activated"):
        return
    claim = duty.take(live)
    if claim is None:  # another process is in the middle of it right now
        return
    with claim, live.transaction():
        job = control.read(live).job
        if job is None:
            return
        if job.phase == "quiescing":
            control.write_job(live, job.moved("catching_up"))
            log.warning(
                "a cutover to %s was cut short before it took effect; the memory is served from "
                "%s as before; call migration_recover to go on",
                job.target.model,
                job.source,
            )
        elif job.phase == "activated":
            commit(live, None)
            log.warning(
                "a cutover to %s had taken effect when it was cut short; it is complete now",
                job.target.model,
            )
