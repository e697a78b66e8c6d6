"""Moving a memory to another store with its vectors: everything, compared at the end."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from veles_core.errors import InvalidInput, StoreError
from veles_core.migration.capture import UNCAPTURED
from veles_core.migration.carry import ALL_EDGES
from veles_core.migration.verify import differences
from veles_core.protocols import Progress, Store

PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class Moved:
    """How many facts, hubs included, edges and documents arrived."""

    facts: int = 0
    edges: int = 0
    documents: int = 0


def move(source: Store, target: Store, progress: Progress) -> Moved:
    """Stream facts with their vectors, edges and documents into an empty store.

    Raises InvalidInput if the target holds anything, StoreError if what arrived differs.
    """
    if target.provenance() is not None or target.count().facts or target.namespaces():
        raise InvalidInput("the target holds a memory already; copy into an empty store")
    filled, total = source.provenance(), source.count().facts
    facts = edges = documents = 0
    for ids in _fact_pages(source):
        with target.transaction():
            if filled is not None:
                target.set_provenance(filled)
            target.put_facts(source.get_records(ids))
        facts += len(ids)
        progress(facts, total)
    for ids in _fact_pages(source):
        leaving = source.edges_from(ids, ALL_EDGES)
        with target.transaction():
            target.put_edges(leaving)
        edges += len(leaving)
    for namespace, keys in _document_pages(source):
        found = list(source.get_documents(namespace, keys).values())
        with target.transaction():
            target.put_documents(namespace, found)
        documents += len(found)
    left = differences(source, target)
    if left:
        raise StoreError(
            f"{len(left.facts)} facts and {len(left.documents)} documents differ after the copy: "
            "the source was written meanwhile, or the target lost something; copy again into an "
            "empty store with no server running"
        )
    return Moved(facts, edges, documents)


def _fact_pages(store: Store) -> Iterator[list[int]]:
    after: int | None = None
    while page := store.scan_facts(after, PAGE, internal=True):
        yield [fact.id for fact in page]
        after = page[-1].id


def _document_pages(store: Store) -> Iterator[tuple[str, list[str]]]:
    for namespace in store.namespaces():
        if namespace in UNCAPTURED:
            continue
        after: str | None = None
        while page := store.scan_documents(namespace, after, PAGE):
            yield namespace, [document.key for document in page]
            after = page[-1].key
