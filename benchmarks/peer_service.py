"""The peer, velesdb 7.0.0, measured by the same calls; run by ``benchmarks.service``.

    PEER_PYTHON -m benchmarks.peer_service FOLDER

Runs in an environment of its own that has velesdb and nothing of ours.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks import workload
from benchmarks.corpus import Entry
from benchmarks.workload import Filter, Found


class Peer:
    """velesdb's MemoryService with its hash embedder."""

    def __init__(self, folder: str) -> None:
        from velesdb import MemoryService

        self._memory = MemoryService(folder)
        self._ids: dict[int, int] = {}  # of the entries that this process stored

    def fill(self, entries: Sequence[Entry]) -> None:
        for each in entries:
            links = [(self._ids[target], relation) for target, relation in each.links]
            stored = self._memory.remember(each.text, links=links or None, metadata=each.metadata)
            self._ids[each.number] = stored

    def remember(self, entry: Entry) -> int:
        stored: int = self._memory.remember(entry.text, metadata=entry.metadata)
        return stored

    def recall(self, query: str, k: int, filter: Filter | None = None) -> list[Found]:
        return _found(self._memory.recall(query, k=k, filter=filter))

    def recall_where(self, query: str, k: int, field: str, low: int, high: int) -> list[Found]:
        between = [(field, "ge", low), (field, "lt", high)]
        return _found(self._memory.recall_where(query, between, k=k))

    def recall_fused(self, query: str, k: int) -> object:
        return self._memory.recall_fused(query, k=k)

    def why(self, query: str, hops: int) -> object:
        return self._memory.why(query, max_hops=hops)

    def feedback(self, id: int, success: bool) -> object:
        return self._memory.feedback(id, success)

    def forget(self, id: int) -> object:
        return self._memory.forget(id)

    def settle(self) -> None:
        """It has no background work that could be waited for."""

    def close(self) -> None:
        del self._memory


def _found(memories: Iterable[dict[str, Any]]) -> list[Found]:
    return [Found(memory["id"], memory["metadata"] or {}) for memory in memories]


def main(argv: Sequence[str]) -> None:
    """Answer the parent."""
    (folder,) = argv
    workload.answer(lambda: Peer(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
