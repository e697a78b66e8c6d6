"""Replaying the journal: the changes made since the copy began, until none is left."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from veles_core.migration import journal
from veles_core.migration.carry import carry_documents, carry_edges, carry_facts
from veles_core.migration.journal import Entry
from veles_core.protocols import Store

if TYPE_CHECKING:
    from veles_core.migration.carry import Embed


def replay(source: Store, target: Store, embed: "Embed", batch: int, edge_cap: int) -> list[Entry]:
    """Carry over and settle up to ``batch`` journaled entries; answers them.

    Cut edges go first, since one may have been drawn again; facts go before the edges
    between them, since an edge needs both its ends.
    """
    entries = journal.pending(source, batch)
    cut = [entry.id for entry in entries if entry.kind == "cut"]
    if cut:
        target.delete_edges(cut)
    facts = [entry.id for entry in entries if entry.kind == "fact"]
    sources = [entry.id for entry in entries if entry.kind == "edges"]
    if facts:
        carry_facts(source, target, facts, embed)
    if sources:
        carry_edges(source, target, sources, edge_cap)
    for namespace, keys in _by_namespace(entries).items():
        carry_documents(source, target, namespace, keys)
    if entries:
        journal.settle(source, entries)
    return entries


def _by_namespace(entries: Sequence[Entry]) -> dict[str, list[str]]:
    keys: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.kind == "document":
            namespace, key = entry.address
            keys[namespace].append(key)
    return keys
