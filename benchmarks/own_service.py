"""Our service behind the calls that are measured; run by ``benchmarks.service``.

python -m benchmarks.own_service FOLDER [RANKING]
"""

import os
import sys
import threading
from collections.abc import Iterable, Sequence

from benchmarks import workload
from benchmarks.corpus import Entry, entry
from benchmarks.workload import Filter, Found


class Own:
    """MemoryService on the default store with the hash embedder."""

    def __init__(self) -> None:
        from veles_core.settings import calm_threads

        calm_threads()  # as the server does
        from veles_core.server.app import open_memory

        self._memory = open_memory()

    def fill(self, entries: Sequence[Entry]) -> None:
        from veles_core.ids import edge_id, fact_id
        from veles_core.records import Edge, Fact

        def links(each: Entry) -> Iterable[Edge]:
            source = fact_id(each.text)
            for number, relation in each.links:
                target = ids[number] if number in ids else fact_id(entry(number).text)
                yield Edge(edge_id(source, relation, target), source, relation, target)

        ids = {each.number: fact_id(each.text) for each in entries}
        facts = (Fact(ids[each.number], each.text, each.metadata) for each in entries)
        self._memory.import_items(facts, lambda *_: None)
        edges = (edge for each in entries for edge in links(each))
        self._memory.import_items(edges, lambda *_: None)

    def remember(self, entry: Entry) -> int:
        return self._memory.remember(entry.text, metadata=entry.metadata).id

    def recall(self, query: str, k: int, filter: Filter | None = None) -> list[Found]:
        return [Found(m.id, m.metadata) for m in self._memory.recall(query, k, filter).memories]

    def recall_where(self, query: str, k: int, field: str, low: int, high: int) -> list[Found]:
        from veles_core.records import Predicate

        between = [Predicate(field, "ge", low), Predicate(field, "lt", high)]
        found = self._memory.recall_where(query, between, k)
        return [Found(m.id, m.metadata) for m in found.memories]

    def recall_fused(self, query: str, k: int) -> object:
        return self._memory.recall_fused(query, k)

    def why(self, query: str, hops: int) -> object:
        return self._memory.why(query, hops)

    def feedback(self, id: int, success: bool) -> object:
        return self._memory.feedback(id, success)

    def forget(self, id: int) -> object:
        return self._memory.forget(id)

    def settle(self) -> None:
        """Wait for the graph: the thread ends when it is made, the next search takes it over."""
        for thread in threading.enumerate():
            if thread.name == "veles-graph":
                thread.join()
        self.recall("what do we know about the cache", 1)

    def close(self) -> None:
        self._memory.close()


def main(argv: Sequence[str]) -> None:
    """Answer the parent, who gave the folder of the memory, and the ranking if it likes."""
    os.environ |= dict(zip(("VELESDB_MEMORY_PATH", "VELESDB_MEMORY_RANKING"), argv, strict=False))
    workload.answer(Own)


if __name__ == "__main__":
    main(sys.argv[1:])
