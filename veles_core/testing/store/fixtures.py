"""What a subclass of the store contracts gives, and the data that the tests share.

A subclass has to give ``open_store``. The other fixtures describe what a store can't
promise; each test then asks for what is left of the promise instead of being skipped.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from veles_core.hookspecs import Host
from veles_core.protocols import Store
from veles_core.records import EmbeddingIdentity, Fact, FactRecord
from veles_core.testing.clock import SettableClock
from veles_core.testing.peer import Peer, StoreOpener

if TYPE_CHECKING:
    from veles_core.records import Vector

DIMENSION: Final = 8
HIGH: Final = 1 << 63  # the first id that is negative in a signed 64-bit integer
LAST: Final = (1 << 64) - 1


class StoreFixtures:
    """The fixtures of every store contract."""

    @pytest.fixture
    def open_store(self) -> StoreOpener:
        """Opens the store: a function of a module, or ``functools.partial`` of one.

        It must be possible to pickle it, because some tests call it in other processes.
        """
        raise NotImplementedError("give an open_store fixture: a callable from Host to Store")

    @pytest.fixture
    def epoch(self) -> str:
        """Name of the epoch; override it with a fresh one if the stores share a database."""
        return "main"

    @pytest.fixture
    def atomic(self) -> bool:
        """Whether a transaction that fails, or whose process dies, leaves nothing behind."""
        return True

    @pytest.fixture
    def isolated_between_processes(self) -> bool:
        """Whether the transactions of several processes exclude each other."""
        return True

    @pytest.fixture
    def survives_kill(self) -> bool:
        """Whether a write that has returned outlives its process."""
        return True

    @pytest.fixture
    def shared_between_processes(self) -> bool:
        """Whether a process sees what another writes while both have the store open."""
        return True

    @pytest.fixture
    def counts_edges(self) -> bool:
        """Whether ``count`` knows the number of edges."""
        return True

    @pytest.fixture
    def huge(self) -> int:
        """Size of a batch beyond what databases take at once; smaller for a second run."""
        return 6_000

    @pytest.fixture
    def clock(self) -> SettableClock:
        """The clock of the host: it moves only when a test moves it."""
        return SettableClock()

    @pytest.fixture
    def host(self, tmp_path: Path, clock: SettableClock, epoch: str) -> Host:
        """What the store is opened with."""
        return Host(tmp_path, clock, epoch, EmbeddingIdentity("contract", DIMENSION))

    @pytest.fixture
    def store(self, open_store: StoreOpener, host: Host) -> Iterator[Store]:
        """A fresh store, closed at the end of the test."""
        store = open_store(host)
        yield store
        store.close()

    @pytest.fixture
    def open_peer(self, open_store: StoreOpener, host: Host) -> Iterator[Callable[[], Peer]]:
        """Opens the same store in another process."""
        peers: list[Peer] = []

        def open_one() -> Peer:
            peers.append(Peer(open_store, host))
            return peers[-1]

        yield open_one
        for peer in peers:
            peer.close()


def vector(*components: float) -> "Vector":
    """The unit vector in this direction; missing components are 0."""
    full = np.zeros(DIMENSION, np.float32)
    full[: len(components)] = components
    return np.asarray(full / np.linalg.norm(full), np.float32)


EAST: Final = vector(1)
NORTH: Final = vector(0, 1)


def record(
    fact_id: int, content: str | None = None, at: "Vector | None" = EAST, **parts: Any
) -> FactRecord:
    """A fact with its vector; a hub if the kind says so."""
    fact = Fact(fact_id, f"fact {fact_id}" if content is None else content, **parts)
    return FactRecord(fact, None if fact.kind == "entity" else at)


def hub(fact_id: int, name: str, **metadata: Any) -> FactRecord:
    """An entity hub with these attributes."""
    return record(fact_id, f"Entity: {name}", kind="entity", metadata=metadata)


def ids(found: Any) -> list[int]:
    """The ids of facts, hits, edges, in their order."""
    return [item.id for item in found]


def everything(store: Store) -> list[Fact]:
    """All visible facts, page by page."""
    facts: list[Fact] = []
    while len(page := store.scan_facts(facts[-1].id if facts else None, 1000)) == 1000:
        facts += page
    return facts + page
