"""Migrating without a server: the same engine, when only the new model is configured."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from veles_core.errors import BackendUnavailable
from veles_core.migration.control import Successor
from veles_core.migration.epochs import Epochs
from veles_core.protocols import Embedder, Store
from veles_core.records import EmbeddingIdentity

if TYPE_CHECKING:
    from veles_core.records import Matrix

SAMPLE: Final = 64  # facts embedded for an estimate


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a migration would do, and how long embedding would take at the measured rate."""

    facts: int
    seconds: float


class RecordedEmbedder:
    """Stands for the model that filled a store and isn't configured any more."""

    def __init__(self, identity: EmbeddingIdentity) -> None:
        self.identity = identity

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """Always refused: the old model is known by its record only."""
        raise BackendUnavailable(
            f"the embedding model {self.identity.model!r} isn't configured, so {len(texts)} "
            "texts can't be embedded with it"
        )

    def close(self) -> None:
        """Nothing to release."""


class OfflineEpochs(Epochs):
    """The chain read to its end whatever model filled it: nothing is searched here."""

    def _embedder_of(self, successor: Successor) -> Embedder:
        return RecordedEmbedder(EmbeddingIdentity(successor.model, successor.dimension))


def estimate(store: Store, embedder: Embedder) -> Estimate:
    """Embed a sample of the stored facts and extrapolate."""
    facts = store.count().facts
    sample = [fact.content for fact in store.scan_facts(None, SAMPLE)]
    if not sample:
        return Estimate(0, 0.0)
    embedder.embed(sample[:1])  # the first call may load a model
    began = time.monotonic()
    embedder.embed(sample)
    return Estimate(facts, (time.monotonic() - began) / len(sample) * facts)
