"""The epochs of one memory: a chain of stores, of which the last one serves.

Every memory begins with the epoch ``main``. A store that was handed over names its
successor, and whoever opens the memory walks the chain to its end; whoever has it open
follows when the chain grows. A memory without migrations is a chain of one.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from veles_core.errors import EmbeddingMismatch
from veles_core.migration.capture import FollowingStore, following
from veles_core.migration.control import Successor
from veles_core.protocols import Embedder, Store
from veles_core.records import EmbeddingIdentity

FIRST: Final = "main"

log = logging.getLogger(__name__)


class Closable(Protocol):
    """What ends with ``close``."""

    def close(self) -> None: ...


OpenStore = Callable[[str, EmbeddingIdentity | None], Store]
OpenEmbedder = Callable[[str], Embedder]


@dataclass(frozen=True, slots=True)
class Live:
    """The epoch that serves: its store and the embedder that fills it, by backend name."""

    epoch: str
    store: FollowingStore
    embedder: Embedder
    backend: str


class SingleEpoch:
    """A memory over one store and one embedder that its owner opened: it never migrates."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._live = Live(FIRST, following(store), embedder, embedder.identity.model)

    def live(self) -> Live:
        """The one epoch there is."""
        return self._live

    def close(self) -> None:
        """Close both; idempotent as they are."""
        self._live.store.close()
        self._live.embedder.close()


class Epochs:
    """The chain of epochs, and which of them serves now. Closes all that it opened."""

    def __init__(
        self, open_store: OpenStore, open_embedder: OpenEmbedder, embedder: Embedder, backend: str
    ) -> None:
        """Walk the chain to its end. ``embedder`` is the configured one, called ``backend``."""
        self.open_store = open_store
        self.open_embedder = open_embedder
        self._lock = threading.Lock()
        self._closing: list[Closable] = [embedder]
        first = self._opened(FIRST, embedder.identity)
        self._live = Live(FIRST, first, embedder, backend)
        self.live()

    def live(self) -> Live:
        """The epoch that serves now; follows a hand-over, whichever process made it."""
        while (successor := self._live.store.successor()) is not None:
            self._follow(successor)
        return self._live

    def close(self) -> None:
        """Close every store and embedder that was opened on the way; idempotent."""
        while self._closing:
            self._closing.pop().close()

    def keep(self, opened: "Closable") -> None:
        """Close this with the rest: a store or embedder that a migration opened."""
        self._closing.append(opened)

    def _follow(self, successor: Successor) -> None:
        with self._lock:
            left = self._live
            if left.epoch == successor.epoch:
                return
            embedder, backend = left.embedder, left.backend
            if embedder.identity.model != successor.model:
                embedder, backend = self._embedder_of(successor), successor.backend
            identity = EmbeddingIdentity(successor.model, successor.dimension)
            store = self._opened(successor.epoch, identity)
            self._live = Live(successor.epoch, store, embedder, backend)

    def _embedder_of(self, successor: Successor) -> Embedder:
        """The embedder that filled a successor, though another one is configured."""
        log.warning(
            "this memory was migrated to the embedding model %s of the backend %s and is served "
            "with it; set VELESDB_MEMORY_EMBEDDER=%s",
            successor.model,
            successor.backend,
            successor.backend,
        )
        embedder = self.open_embedder(successor.backend)
        self.keep(embedder)
        if embedder.identity.model != successor.model:
            raise EmbeddingMismatch(
                f"this memory was migrated to the embedding model {successor.model!r} of the "
                f"backend {successor.backend!r}, which is now configured for "
                f"{embedder.identity.model!r}: configure {successor.model!r}"
            )
        return embedder

    def _opened(self, epoch: str, identity: EmbeddingIdentity | None) -> FollowingStore:
        store = following(self.open_store(epoch, identity))
        self.keep(store)
        return store
