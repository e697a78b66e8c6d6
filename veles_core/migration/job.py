"""The job of one migration: its phases, its limits, its progress. Frozen; kept as JSON.

::

    prepared → capturing → base_copied → catching_up → cutover_ready → quiescing
             → activated → committed
    catching_up ⇄ non_converging;  cutover_ready, quiescing → catching_up
    anything before quiescing → cancelled
"""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, Self

from veles_core.errors import InvalidInput
from veles_core.limits import (
    DEFAULT_EDGE_CAP,
    DEFAULT_FACT_BATCH,
    DEFAULT_JOURNAL_BYTES,
    DEFAULT_OBSERVATION_WINDOW,
    DEFAULT_REPLAY_BATCH,
    DEFAULT_VERIFICATION_RESERVE_MS,
    MAX_WORK_LIMIT,
)

Phase = Literal[
    "prepared",
    "capturing",
    "base_copied",
    "catching_up",
    "non_converging",
    "cutover_ready",
    "quiescing",
    "activated",
    "committed",
    "cancelled",
]

TERMINAL: Final[frozenset[Phase]] = frozenset({"committed", "cancelled"})
RECOVERABLE: Final[frozenset[Phase]] = frozenset(
    {"prepared", "capturing", "base_copied", "catching_up", "non_converging", "cutover_ready"}
)
CAPTURING: Final[frozenset[Phase]] = RECOVERABLE - {"prepared"} | {"quiescing"}
TRANSITIONS: Final[dict[Phase, frozenset[Phase]]] = {
    "prepared": frozenset({"capturing", "cancelled"}),
    "capturing": frozenset({"base_copied", "cancelled"}),
    "base_copied": frozenset({"catching_up", "cancelled"}),
    "catching_up": frozenset({"non_converging", "cutover_ready", "cancelled"}),
    "non_converging": frozenset({"catching_up", "cancelled"}),
    "cutover_ready": frozenset({"catching_up", "quiescing", "cancelled"}),
    "quiescing": frozenset({"catching_up", "activated"}),
    "activated": frozenset({"committed"}),
    "committed": frozenset(),
    "cancelled": frozenset(),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """The work limits that ``migration_start`` was given; sizes in bytes, times in ms."""

    pause_budget_ms: int
    journal_max_bytes: int = DEFAULT_JOURNAL_BYTES
    fact_batch: int = DEFAULT_FACT_BATCH
    replay_batch: int = DEFAULT_REPLAY_BATCH
    edge_cap: int = DEFAULT_EDGE_CAP
    observation_window: int = DEFAULT_OBSERVATION_WINDOW
    verification_reserve_ms: int = DEFAULT_VERIFICATION_RESERVE_MS

    def checked(self) -> Self:
        """These limits, refused if a job could never end within them."""
        for name, value in asdict(self).items():
            least = 0 if name == "verification_reserve_ms" else 1
            if not least <= value <= MAX_WORK_LIMIT:
                bound, limit = ("least", least) if value < least else ("most", MAX_WORK_LIMIT)
                raise InvalidInput(
                    f"{name} must be at {bound} {limit}, not {str(value)[:40]}",
                    field=name,
                    limit=limit,
                    actual=str(value)[:40],
                )
        if self.verification_reserve_ms >= self.pause_budget_ms:
            raise InvalidInput(
                f"pause_budget_ms {self.pause_budget_ms} leaves nothing beside the verification "
                f"reserve of {self.verification_reserve_ms} ms: raise the one or lower the other",
                field="pause_budget_ms",
                limit=self.verification_reserve_ms,
                actual=self.pause_budget_ms,
            )
        return self


@dataclass(frozen=True, slots=True)
class Target:
    """Where a migration leads: the embedder's backend, its model and the store's epoch."""

    backend: str
    model: str
    dimension: int
    semantic: bool
    destination: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job has come. Watermarks count journaled and replayed changes."""

    base_facts: int = 0
    base_edge_sets: int = 0
    base_batches: int = 0
    input_watermark: int = 0
    output_watermark: int = 0
    distinct_dirty_facts: int = 0
    distinct_edge_sources: int = 0
    pending_journal_bytes: int = 0
    estimated_pause_ms: int | None = None
    measured_cutover_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Quality:
    """How the target's answers compare with the source's over the same questions.

    ``overlap_at_10`` is the mean share of the source's ten best that the target finds
    among its ten; ``mean_rank_shift`` is how many places those move on average.
    """

    queries: int
    overlap_at_10: float
    mean_rank_shift: float


@dataclass(frozen=True, slots=True)
class Job:
    """One migration as it is kept durably beside the facts of its source."""

    epoch_id: str
    source: str
    target: Target
    limits: Limits
    phase: Phase = "prepared"
    cancellation_requested: bool = False
    last_error: str | None = None
    recovery_action: str | None = None
    progress: Progress = field(default_factory=Progress)
    quality: Quality | None = None
    witness: tuple[float, ...] = ()
    copied: str | None = None  # how far the base copy has come, to go on from
    retired: bool = False  # the source's space was freed after the hand-over

    def moved(self, phase: Phase, **changes: Any) -> "Job":
        """This job in the next phase; an impossible step is a defect."""
        if phase not in TRANSITIONS[self.phase]:
            raise AssertionError(f"a migration can't go from {self.phase} to {phase}")
        return replace(self, phase=phase, **changes)

    def progressed(self, **counts: Any) -> "Job":
        """This job with some of its progress counts replaced."""
        return replace(self, progress=replace(self.progress, **counts))

    def dump(self) -> bytes:
        """The job as it is stored."""
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @classmethod
    def read(cls, stored: bytes) -> "Job":
        """A job from what ``dump`` wrote."""
        parts = json.loads(stored)
        quality = parts.pop("quality")
        return cls(
            target=Target(**parts.pop("target")),
            limits=Limits(**parts.pop("limits")),
            progress=Progress(**parts.pop("progress")),
            quality=Quality(**quality) if quality else None,
            witness=tuple(parts.pop("witness")),
            **parts,
        )
