"""HnswIndex: the exact index, and a graph beside it once exact search would become slow."""

import atexit
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from filelock import FileLock, Timeout

from veles_core.builtin.exact_index import BLOCK_ROWS, ExactIndex, Standing
from veles_core.store.rows import Rows
from veles_plugins.store_hnsw import graph as graphs
from veles_plugins.store_hnsw.builder import Stopped, renewed
from veles_plugins.store_hnsw.graph import Graph, Labels, fingerprints

if TYPE_CHECKING:
    from veles_core.protocols import Ids
    from veles_core.records import Matrix, Vector

WAITING_FLOOR: Final = 1000  # vectors beside the graph before they are merged into it
WAITING_SHARE: Final = 8
SLACK: Final = 64  # more asked of the graph than needed, for what is dead or excluded
LOCK_SECONDS: Final = 0.5  # between two attempts to become the one that builds

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ready:
    """A graph with the ids that its labels stand for, in the order of the labels."""

    graph: Graph
    labels: Labels
    ids: "Ids"
    waiting: "Ids"  # ids whose vectors the graph does not hold


class HnswIndex:
    """A VectorIndex that answers from a graph what it can, and exactly what it can't.

    The graph comes from a thread: loaded if another process has built it, built if not.
    What changes after that waits in a small exact index, which every search looks at too.
    """

    def __init__(self, path: Path, threshold: int) -> None:
        """Open the snapshot at ``path``; above ``threshold`` vectors a graph is searched."""
        self._path = path
        self._threshold = threshold
        self._exact = ExactIndex(path)
        self._worker: _Worker | None = None
        self._changed: list[Ids] = []  # since the worker began
        self._forget_graph()

    def _forget_graph(self) -> None:
        self._stop_worker()
        self._graph: Graph | None = None
        self._labels = np.empty(0, np.uint64)  # sorted, along the rows of members
        self._members = Rows()
        self._waiting = ExactIndex(None)
        self._retry_at = self._threshold

    @property
    def position(self) -> int:
        """The change sequence up to which the index is current."""
        return self._exact.position

    def advance(self, position: int) -> None:
        """Record that everything up to ``position`` has been applied."""
        self._exact.advance(position)

    def add(self, ids: "Ids", vectors: "Matrix") -> None:
        """Insert, or replace by id, unit vectors."""
        self._exact.add(ids, vectors)
        if self._graph is not None:
            self._members.remove(ids)
            self._waiting.add(ids, vectors)
        if self._worker is not None:
            self._changed.append(ids)

    def remove(self, ids: "Ids") -> None:
        """Remove by id; absent ones are no error."""
        self._exact.remove(ids)
        if self._graph is not None:
            self._members.remove(ids)
            self._waiting.remove(ids)
        if self._worker is not None:
            self._changed.append(ids)

    def search(
        self, vector: "Vector", k: int, allowed: "Ids | None" = None, excluded: "Ids | None" = None
    ) -> tuple["Ids", "Vector"]:
        """The ``k`` nearest ids and their exact similarities, best first, ties by id."""
        self._keep_up()
        if self._graph is None or allowed is not None:
            return self._exact.search(vector, k, allowed, excluded)
        candidates = self._candidates(self._graph, vector, k, excluded)
        if len(candidates) < k:  # too few of what the graph found may be returned
            return self._exact.search(vector, k, None, excluded)
        beside, _ = self._waiting.search(vector, k, None, excluded)
        ids = np.concatenate([candidates, beside])
        scores = self._exact.similarities(vector, ids)
        best = np.lexsort((ids, -scores))[:k]
        return ids[best], scores[best]

    def _candidates(self, graph: Graph, vector: "Vector", k: int, excluded: "Ids | None") -> "Ids":
        """Living, not excluded ids of what the graph finds; of equal vectors the first ``k``."""
        found = np.sort(graph.search(vector, k + SLACK))
        starts = np.searchsorted(self._labels, found, "left")
        ends = np.searchsorted(self._labels, found, "right")
        alive, ids = self._members.alive, self._members.ids
        if excluded is not None and len(excluded):
            alive = alive.copy()
            alive[self._members.present(excluded)] = False
        if len(found) and (ends - starts).max() <= 1:
            rows = starts[ends > starts]
            return ids[rows[alive[rows]]]
        parts = [
            ids[start:end][alive[start:end]][:k]
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.uint64)

    def similarities(self, vector: "Vector", ids: "Ids") -> "Vector":
        """Cosine similarity to each of these ids; NaN for an absent one."""
        return self._exact.similarities(vector, ids)

    def __len__(self) -> int:
        """How many vectors it holds."""
        return len(self._exact)

    @property
    def building(self) -> bool:
        """Whether a graph is being loaded or built, or waits to be taken over by a search."""
        return self._worker is not None

    @property
    def in_graph(self) -> int:
        """How many of them are searched through the graph."""
        return 0 if self._graph is None else self._members.live

    def save(self) -> None:
        """Write the vectors' snapshot; the graph is saved when it is built."""
        self._exact.save()

    def clear(self) -> None:
        """Forget everything, snapshot and graph included; position 0."""
        self._forget_graph()
        self._exact.clear()
        graphs.remove(self._path)

    def close(self) -> None:
        """Release memory and files; a graph being built is given up."""
        self._forget_graph()
        self._exact.close()

    def _keep_up(self) -> None:
        """Take over what the worker made ready, or set it to work if there is enough to do."""
        if self._worker is not None:
            if not self._worker.done.is_set():
                return
            ready, self._worker = self._worker.ready, None
            if ready is not None:
                self._take(ready)
            else:
                self._retry_at = 2 * len(self)
        limit = max(WAITING_FLOOR, len(self) // WAITING_SHARE)
        if self._graph is None:
            wanted = len(self) >= self._retry_at
        else:
            dead = len(self._members) - self._members.live
            wanted = max(len(self._waiting), dead) > limit
        if wanted:
            self._changed = []
            self._worker = _Worker(self._path, self._exact.standing(), limit)

    def _take(self, ready: Ready) -> None:
        self._graph, self._labels, self._members = ready.graph, ready.labels, Rows(ready.ids)
        changed = np.unique(np.concatenate([ready.waiting, *self._changed]))
        self._members.remove(changed)
        self._waiting = ExactIndex(None)
        standing = self._exact.standing()
        places = np.flatnonzero(np.isin(standing.ids, changed, assume_unique=True))
        if len(places):
            self._waiting.add(standing.ids[places], standing.vectors(places))

    def _stop_worker(self) -> None:
        if self._worker is not None:
            self._worker.stop()
            self._worker = None


class _Worker:
    """The thread that loads or builds a graph over vectors that stand still."""

    def __init__(self, path: Path, standing: Standing, room: int) -> None:
        self.ready: Ready | None = None
        self.done = threading.Event()
        self._path = path
        self._standing = standing
        self._room = room
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="veles-graph", daemon=True)
        # The end of the interpreter would crash a thread that is inside of hnswlib.
        atexit.register(self.stop)
        self._thread.start()

    def stop(self) -> None:
        """Give up; returns when the thread has ended."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self.ready = self._make()
        except Stopped:
            pass
        except ImportError as error:
            log.info("search stays exact: %s", error)
        except Exception:
            log.exception("no graph could be built; search stays exact")
        finally:
            self.done.set()
            atexit.unregister(self.stop)

    def _make(self) -> Ready | None:
        standing = self._standing
        blocks = []
        for start in range(0, len(standing.ids), BLOCK_ROWS):
            self._check()
            blocks.append(fingerprints(standing.vectors(slice(start, start + BLOCK_ROWS))))
        labels = np.concatenate(blocks)
        with self._alone():
            graph = renewed(self._path, standing, labels, self._room, self._check)
        if graph is None:
            return None
        order = np.lexsort((standing.ids, labels))
        held = np.isin(labels, graph.labels)
        return Ready(graph, labels[order], standing.ids[order], standing.ids[~held])

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Be the one process that builds; the others wait, and load what it has built."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._path.with_suffix(".graph.lock"), thread_local=False)
        while True:
            self._check()
            try:
                lock.acquire(timeout=LOCK_SECONDS)
            except Timeout:
                continue
            break
        try:
            yield
        finally:
            lock.release()

    def _check(self) -> None:
        if self._stopping.is_set():
            raise Stopped
