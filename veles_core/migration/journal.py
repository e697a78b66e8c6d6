"""The bounded journal: which facts, edges and documents changed since the copy began.

One document an entry, whose value is the number of the change that touched it last, so
that an entry replayed while it is touched again stays. Entries and counters are written in
the transaction of the change itself.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal

from veles_core.errors import StoreError
from veles_core.protocols import Store
from veles_core.records import Document

NAMESPACE: Final = "migration-journal"
COUNTERS: Final = "counters"  # sorts before any entry's key

Kind = Literal["cut", "fact", "edges", "document"]
_PREFIX: Final[dict[Kind, str]] = {"cut": "d", "fact": "f", "edges": "e", "document": "g"}
_ENTRY_BYTES: Final = 20  # a change number and the row around it


@dataclass(frozen=True, slots=True)
class Counters:
    """``written`` changes so far, ``replayed`` of them, and what is pending now."""

    written: int = 0
    replayed: int = 0
    cuts: int = 0
    facts: int = 0
    edge_sources: int = 0
    documents: int = 0
    bytes: int = 0

    @property
    def pending(self) -> int:
        """How many entries wait to be replayed."""
        return self.cuts + self.facts + self.edge_sources + self.documents


@dataclass(frozen=True, slots=True)
class Entry:
    """One touched thing.

    A cut edge's id, a fact's id, the id of a fact whose outgoing edges changed, or a
    document's namespace and key.
    """

    kind: Kind
    name: str
    change: int

    @property
    def id(self) -> int:
        """The fact's or edge's id."""
        return int(self.name)

    @property
    def address(self) -> tuple[str, str]:
        """The document's namespace and key."""
        namespace, _, key = self.name.partition("\n")
        return namespace, key


def counters(store: Store) -> Counters:
    """The counters as they stand."""
    found = store.get_documents(NAMESPACE, [COUNTERS])
    return Counters(**json.loads(found[COUNTERS].value)) if found else Counters()


def record(store: Store, kind: Kind, names: Iterable[str], limit: int) -> None:
    """Note touched things inside the transaction that touches them.

    Raises StoreError if the journal would grow over ``limit`` bytes: the change is refused
    before it could go untracked.
    """
    keys = [_PREFIX[kind] + name for name in dict.fromkeys(names)]
    if not keys:
        return
    now = counters(store)
    known = store.get_documents(NAMESPACE, keys)
    fresh = [key for key in keys if key not in known]
    size = now.bytes + sum(len(key.encode()) + _ENTRY_BYTES for key in fresh)
    if size > limit:
        raise StoreError(
            f"the running migration's journal is full ({now.bytes} of {limit} bytes), so this "
            "change is refused and nothing was stored: try again when it has caught up, cancel "
            "it with migration_cancel, or start it with a larger journal_max_bytes",
            limit=limit,
            actual=size,
        )
    change = now.written + 1
    added = {_FIELD[kind]: getattr(now, _FIELD[kind]) + len(fresh)}
    changed = Counters(**(asdict(now) | added | {"written": change, "bytes": size}))
    value = str(change).encode()
    store.put_documents(NAMESPACE, [*(Document(key, value) for key in keys), _document(changed)])


def pending(store: Store, limit: int) -> list[Entry]:
    """Up to ``limit`` entries: cut edges, then facts, edge sources, documents; each by key."""
    found: list[Entry] = []
    for kind, prefix in _PREFIX.items():
        scanned = store.scan_documents(NAMESPACE, prefix, limit - len(found))
        found += [
            Entry(kind, document.key[1:], int(document.value))
            for document in scanned
            if document.key.startswith(prefix)
        ]
        if len(found) >= limit:
            break
    return found


def settle(store: Store, entries: Sequence[Entry]) -> None:
    """Drop replayed entries, in one transaction; those touched again meanwhile stay."""
    with store.transaction():
        keys = {_PREFIX[entry.kind] + entry.name: entry for entry in entries}
        there = store.get_documents(NAMESPACE, list(keys))
        done = [
            entry
            for key, entry in keys.items()
            if key in there and int(there[key].value) == entry.change
        ]
        gone = [_PREFIX[entry.kind] + entry.name for entry in done]
        store.delete_documents(NAMESPACE, gone)
        now = counters(store)
        left = {
            _FIELD[kind]: getattr(now, _FIELD[kind]) - sum(entry.kind == kind for entry in done)
            for kind in _FIELD
        }
        size = now.bytes - sum(len(key.encode()) + _ENTRY_BYTES for key in gone)
        replayed = now.written if not any(left.values()) else now.replayed + len(done)
        changed = Counters(**(asdict(now) | left | {"bytes": size, "replayed": replayed}))
        store.put_documents(NAMESPACE, [_document(changed)])


def clear(store: Store) -> None:
    """Drop everything journaled, counters included."""
    while page := store.scan_documents(NAMESPACE, None, 1000):
        store.delete_documents(NAMESPACE, [document.key for document in page])


_FIELD: Final[dict[Kind, str]] = {
    "cut": "cuts",
    "fact": "facts",
    "edges": "edge_sources",
    "document": "documents",
}


def _document(changed: Counters) -> Document:
    return Document(COUNTERS, json.dumps(asdict(changed)).encode())
