"""Which embedding filled a store: checked before it serves, confirmed at every write."""

import numpy as np

from veles_core.errors import EmbeddingMismatch, VelesError
from veles_core.protocols import Embedder, Store
from veles_core.records import EmbeddingIdentity

_PROBE = "dimension"


def admit(store: Store, embedder: Embedder) -> None:
    """Refuse a store that another model filled, before anything else is read or written.

    A model whose name matches is not contacted. Raises EmbeddingMismatch naming both
    models, both dimensions and the command that migrates.
    """
    recorded, configured = store.provenance(), embedder.identity
    if recorded is None or _same(recorded, configured):
        return
    raise _mismatch(recorded, configured.model, configured.dimension or _probed(embedder))


def confirm(store: Store, identity: EmbeddingIdentity, dimension: int) -> None:
    """Inside a write's transaction: record what fills the store, or refuse to mix models."""
    recorded = store.provenance()
    if recorded is None:
        store.set_provenance(EmbeddingIdentity(identity.model, dimension, identity.semantic))
    elif recorded.model != identity.model or recorded.dimension != dimension:
        raise _mismatch(recorded, identity.model, dimension)


def _same(recorded: EmbeddingIdentity, configured: EmbeddingIdentity) -> bool:
    return recorded.model == configured.model and configured.dimension in (None, recorded.dimension)


def _probed(embedder: Embedder) -> int | None:
    """The dimension of a remote model, asked with a fixed word; None if it doesn't answer."""
    try:
        return int(np.shape(embedder.embed([_PROBE]))[1])
    except VelesError:
        return None


def _mismatch(recorded: EmbeddingIdentity, model: str, dimension: int | None) -> EmbeddingMismatch:
    return EmbeddingMismatch(
        f"this memory was filled by the embedding model {recorded.model!r} "
        f"({recorded.dimension} dimensions), but {model!r} ({dimension or 'unknown'} dimensions) "
        "is configured; their vectors don't compare. Configure the old model again, or move the "
        "memory to the new one with: veles-memory migrate-embeddings"
    )
