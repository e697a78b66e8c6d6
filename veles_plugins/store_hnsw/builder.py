"""Builds, extends and calibrates a graph over vectors that stand still."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from veles_core.builtin.exact_index import Standing
from veles_plugins.store_hnsw import graph as graphs
from veles_plugins.store_hnsw.graph import Graph, Labels

if TYPE_CHECKING:
    from veles_core.records import Matrix, Vector

Places = npt.NDArray[np.int64]  # within the standing vectors

CHUNK: Final = 64  # vectors added between two looks at whether to stop: about 0.1 s at 100k
QUERIES: Final = 200
NEAREST: Final = 10
RECALL: Final = 0.97  # of the true nearest, in the sample; 0.95 is promised
DEAD_SHARE: Final = 4  # a graph with more than a quarter of dead vectors is built anew
ASKED: Final = 4  # times as many as needed, since some of what is found may be dead
BLOCK: Final = 4096
TIE: Final = 2e-6  # similarities closer than this are equal after rounding
UNUSED_GROWTH: Final = 2  # a graph that was of no use is tried again at twice the size

log = logging.getLogger(__name__)


class Stopped(Exception):
    """The index is being closed."""


def renewed(
    path: Path, standing: Standing, labels: Labels, room: int, check: Callable[[], None]
) -> Graph | None:
    """The graph on disk if it covers all but ``room`` of ``labels``, else a new one, saved.

    ``check`` is called often, and raises Stopped when the work is no longer wanted.
    """
    on_disk = graphs.labels_on_disk(path)
    wanted = np.unique(labels)
    dimension = standing.dimension
    kept: Graph | None = None
    if on_disk is not None:
        missing = len(np.setdiff1d(wanted, on_disk, assume_unique=True))
        kept = graphs.load(path, dimension, room=missing)
        if kept is not None:
            if kept.ef == 0 and len(wanted) < UNUSED_GROWTH * len(on_disk):
                return None
            dead = len(on_disk) - (len(wanted) - missing)
            if kept.ef == 0 or DEAD_SHARE * dead > len(on_disk):
                kept = None
            elif missing <= room:
                return kept
    built = _extended(kept, standing, labels, wanted, check)
    graphs.save(path, built, dimension)
    return built if built.ef else None


def _extended(
    kept: Graph | None,
    standing: Standing,
    labels: Labels,
    wanted: Labels,
    check: Callable[[], None],
) -> Graph:
    known = np.empty(0, np.uint64) if kept is None else kept.labels
    hnsw = graphs.empty(standing.dimension, len(wanted)) if kept is None else kept.hnsw
    distinct, first = np.unique(labels, return_index=True)
    fresh = np.sort(first[~np.isin(distinct, known, assume_unique=True)])
    for start in range(0, len(fresh), CHUNK):
        check()
        places = fresh[start : start + CHUNK]
        hnsw.add_items(standing.vectors(places), labels[places], num_threads=1)
    return _calibrated(
        Graph(hnsw, np.union1d(known, wanted), graphs.EF_FLOOR), standing, labels, first, check
    )


def _calibrated(
    graph: Graph,
    standing: Standing,
    labels: Labels,
    places: Places,
    check: Callable[[], None],
) -> Graph:
    """Widen the search until it finds what an exact one does; ``ef`` 0 if it can't.

    ``places`` are those of the distinct vectors.
    """
    queries = _queries(standing, places)
    bounds = _tenth_best(standing, places, queries, check)
    living = labels[places]  # ascending, as places come from np.unique
    ef = graphs.EF_FLOOR
    while ef <= graphs.EF_CEILING:
        graph = Graph(graph.hnsw, graph.labels, ef)
        hits = 0
        for query, bound in zip(queries, bounds, strict=True):
            check()
            found = graph.search(query, ASKED * NEAREST)
            slots = np.minimum(np.searchsorted(living, found), len(living) - 1)
            alive = places[slots[living[slots] == found]]
            near = np.count_nonzero(standing.vectors(alive) @ query >= bound - TIE)
            hits += min(NEAREST, int(near))
        recall = hits / (len(queries) * min(NEAREST, len(living)))
        if recall >= RECALL:
            log.info("graph over %d vectors: ef %d, recall %.3f", len(living), ef, recall)
            return graph
        ef = ef * 3 // 2
    log.warning("a graph over %d vectors finds too little and isn't used", len(living))
    return Graph(None, graph.labels, 0)


def _queries(standing: Standing, places: Places) -> "Matrix":
    """Stored vectors, and points between two of them: a question shares words with several."""
    random = np.random.default_rng(len(places))
    first, second = standing.vectors(random.choice(places, (2, QUERIES)).reshape(-1)).reshape(
        2, QUERIES, -1
    )
    mixed = first.copy()
    mixed[::2] += second[::2]
    lengths = np.linalg.norm(mixed, axis=1, keepdims=True)
    return np.where(lengths > 0, mixed / np.maximum(lengths, 1e-9), first).astype(np.float32)


def _tenth_best(
    standing: Standing, places: Places, queries: "Matrix", check: Callable[[], None]
) -> "Vector":
    """The similarity that a vector needs to be among each query's nearest."""
    best = np.empty((len(queries), 0), np.float32)
    for start in range(0, len(places), BLOCK):
        check()
        scores = queries @ standing.vectors(places[start : start + BLOCK]).T
        best = np.sort(np.concatenate([best, scores], axis=1), axis=1)[:, -NEAREST:]
    return best[:, 0]
