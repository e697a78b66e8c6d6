"""The arguments of the migration tools, and the one answer they share."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from veles_core.limits import (
    DEFAULT_EDGE_CAP,
    DEFAULT_FACT_BATCH,
    DEFAULT_JOURNAL_BYTES,
    DEFAULT_OBSERVATION_WINDOW,
    DEFAULT_REPLAY_BATCH,
    DEFAULT_VERIFICATION_RESERVE_MS,
)
from veles_core.migration.job import Limits, Phase
from veles_core.wire.arguments import Arguments
from veles_core.wire.slots import Natural, Text, untold

Count = Annotated[int, Field(ge=0)]


class MigrationStart(Arguments):
    target_backend: Text = Field(
        description="The embedder to move to, as configured in the server's environment, e.g. "
        "ollama, openai or hash."
    )
    pause_budget_ms: Natural = Field(
        description="Most milliseconds for which calls may wait while the memory is handed over."
    )
    journal_max_bytes: Natural = untold(
        DEFAULT_JOURNAL_BYTES,
        "Room for changes made meanwhile; a write that it can't hold is refused. Default 64 MiB.",
    )
    fact_batch: Natural = untold(
        DEFAULT_FACT_BATCH, f"Facts copied at a time; default {DEFAULT_FACT_BATCH}."
    )
    replay_batch: Natural = untold(
        DEFAULT_REPLAY_BATCH, f"Changes replayed at a time; default {DEFAULT_REPLAY_BATCH}."
    )
    edge_cap: Natural = untold(
        DEFAULT_EDGE_CAP, f"Most outgoing edges of one memory; default {DEFAULT_EDGE_CAP}."
    )
    observation_window: Natural = untold(
        DEFAULT_OBSERVATION_WINDOW,
        "Samples in a row that must promise a pause within the budget; default "
        f"{DEFAULT_OBSERVATION_WINDOW}.",
    )
    verification_reserve_ms: Natural = untold(
        DEFAULT_VERIFICATION_RESERVE_MS,
        "Part of the pause kept for the final comparison; default "
        f"{DEFAULT_VERIFICATION_RESERVE_MS}.",
    )

    def limits(self) -> Limits:
        return Limits(**{name: value for name, value in self if name != "target_backend"})


class MigrationStatus(Arguments):
    pass


class MigrationCancel(Arguments):
    pass


class MigrationRecover(Arguments):
    pass


class Progress(TypedDict):
    base_facts: Count
    base_edge_sets: Count
    base_batches: Count
    input_watermark: Count
    output_watermark: Count
    distinct_dirty_facts: Count
    distinct_edge_sources: Count
    pending_journal_bytes: Count
    estimated_pause_ms: Count | None
    measured_cutover_ms: Count | None


class Quality(TypedDict):
    queries: Count
    overlap_at_10: float
    mean_rank_shift: float


class Job(TypedDict):
    epoch_id: str
    phase: Phase
    running: bool
    target_backend: str
    target_model: str
    target_dimension: Count
    destination: str
    cancellation_requested: bool
    last_error: str | None
    recovery_action: str | None
    progress: Progress
    quality: Quality | None


class Migration(TypedDict):
    configured: bool
    job: Job | None
