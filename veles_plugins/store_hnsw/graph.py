"""An HNSW graph over distinct vectors, and its two files.

Each vector's label in the graph is a fingerprint of its content, so the graph needs to
know neither ids nor changes: whatever the store holds is matched with the labels that
are there. Identical vectors share one label; thousands of them would otherwise fill
each other's links and cut the graph in two.
"""

import logging
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from veles_core.store import snapshots

if TYPE_CHECKING:
    from veles_core.records import Matrix, Vector

M: Final = 16  # links a vector; twice as many are a tenth faster and take twice as long to build
EF_CONSTRUCTION: Final = 200
EF_FLOOR: Final = 64
EF_CEILING: Final = 2048  # a search wider than this is no faster than an exact one
KIND: Final = "graph 1"  # raise the number when parameters or files change

Labels = npt.NDArray[np.uint64]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph as it is searched. ``labels`` are sorted; ``ef`` 0 says that it is of no use."""

    hnsw: Any
    labels: Labels
    ef: int

    def search(self, vector: "Vector", count: int) -> Labels:
        """The labels of about the ``count`` nearest distinct vectors; fewer if it finds fewer."""
        count = min(count, len(self.labels))
        self.hnsw.set_ef(max(self.ef, count))
        try:
            labels, _ = self.hnsw.knn_query(vector, k=count, num_threads=1)
        except RuntimeError:  # it reached fewer than that
            return np.empty(0, np.uint64)
        found: Labels = labels[0]
        return found


def fingerprints(vectors: "Matrix") -> Labels:
    """64 bits for each vector, the same for the same bytes."""
    words = np.ascontiguousarray(vectors, np.float32).view(np.uint32).astype(np.uint64)
    odd = np.random.default_rng(0).integers(1, 2**63, words.shape[1], np.uint64) * 2 + 1
    mixed: Labels = ((words + np.uint64(1)) * odd).sum(axis=1, dtype=np.uint64)
    return mixed ^ (mixed >> np.uint64(32))


def empty(dimension: int, capacity: int) -> Any:
    """A new hnswlib index; the import may fail, the library is optional."""
    import hnswlib

    hnsw = hnswlib.Index(space="ip", dim=dimension)
    hnsw.init_index(capacity, M=M, ef_construction=EF_CONSTRUCTION, random_seed=100)
    hnsw.set_num_threads(1)  # reproducible, and polite to whoever uses the machine
    return hnsw


def labels_on_disk(path: Path) -> Labels | None:
    """What the graph on disk covers, without loading it."""
    found = snapshots.read(_members(path), KIND)
    return None if found is None else found.arrays["labels"]


def load(path: Path, dimension: int, room: int = 0) -> Graph | None:
    """The graph on disk with ``room`` for more; None if there is none that can be used."""
    found = snapshots.read(_members(path), KIND)
    if found is None:
        return None
    labels = np.array(found.arrays["labels"])
    ef, checksum, stored_dimension = (int(number) for number in found.arrays["header"])
    if stored_dimension != dimension:
        return None
    if ef == 0:
        return Graph(None, labels, 0)
    file = _graph_file(path, checksum)
    if not file.exists() or _checksum(file) != checksum:  # hnswlib trusts what it reads
        log.warning("%s is missing or damaged and will be built anew", file.name)
        return None
    import hnswlib

    hnsw = hnswlib.Index(space="ip", dim=dimension)
    hnsw.load_index(str(file), max_elements=len(labels) + room)
    hnsw.set_num_threads(1)
    return Graph(hnsw, labels, ef)


def save(path: Path, graph: Graph, dimension: int) -> None:
    """Replace the graph on disk: its file under a new name, then what points to it."""
    checksum = 0
    if graph.ef:
        temporary = path.with_name(f"{path.name}.graph.tmp")
        graph.hnsw.save_index(str(temporary))
        checksum = _checksum(temporary)
        temporary.replace(_graph_file(path, checksum))
    header = np.array([graph.ef, checksum, dimension], np.int64)
    snapshots.write(_members(path), KIND, 0, {"labels": graph.labels, "header": header})
    for old in path.parent.glob(f"{path.name}.graph-*"):
        if old != _graph_file(path, checksum):
            old.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Delete the graph's files."""
    for file in path.parent.glob(f"{path.name}.graph*"):
        file.unlink(missing_ok=True)


def _members(path: Path) -> Path:
    return path.with_name(f"{path.name}.graph{snapshots.SUFFIX}")


def _graph_file(path: Path, checksum: int) -> Path:
    return path.with_name(f"{path.name}.graph-{checksum:08x}")


def _checksum(file: Path) -> int:
    checksum = 0
    with file.open("rb") as opened:
        while block := opened.read(snapshots.BLOCK_BYTES):
            checksum = zlib.crc32(block, checksum)
    return checksum
