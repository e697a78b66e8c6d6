"""Handlers of the migration tools: all four answer the job as it stands."""

from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from veles_core.migration.plane import MigrationView
from veles_core.wire import migration as wire

if TYPE_CHECKING:
    from veles_core.memory.service import MemoryService


def migration_start(service: "MemoryService", given: wire.MigrationStart) -> wire.Migration:
    return _view(service.migration_start(given.target_backend, given.limits()))


def migration_status(service: "MemoryService", _given: wire.MigrationStatus) -> wire.Migration:
    return _view(service.migration_status())


def migration_cancel(service: "MemoryService", _given: wire.MigrationCancel) -> wire.Migration:
    return _view(service.migration_cancel())


def migration_recover(service: "MemoryService", _given: wire.MigrationRecover) -> wire.Migration:
    return _view(service.migration_recover())


def _view(view: MigrationView) -> wire.Migration:
    job = view.job
    if job is None:
        return {"configured": view.configured, "job": None}
    return {
        "configured": view.configured,
        "job": {
            "epoch_id": job.epoch_id,
            "phase": job.phase,
            "running": view.running,
            "target_backend": job.target.backend,
            "target_model": job.target.model,
            "target_dimension": job.target.dimension,
            "destination": job.target.destination,
            "cancellation_requested": job.cancellation_requested,
            "last_error": job.last_error,
            "recovery_action": job.recovery_action,
            "progress": cast(wire.Progress, asdict(job.progress)),
            "quality": None if job.quality is None else cast(wire.Quality, asdict(job.quality)),
        },
    }
