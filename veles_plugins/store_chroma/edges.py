"""Edges in Chroma: visible while both ends are, so the ends are looked up at every reading."""

from collections.abc import Iterable, Sequence

from veles_core.records import ABOUT, MENTIONS, Edge
from veles_plugins.store_chroma import rows
from veles_plugins.store_chroma.facts import Facts
from veles_plugins.store_chroma.rows import ordered_id
from veles_plugins.store_chroma.table import Table


class Edges:
    """The edges between what a reader sees."""

    def __init__(self, table: Table, facts: Facts) -> None:
        self._table = table
        self._facts = facts

    def put(self, edges: Sequence[Edge]) -> None:
        """Insert edges between visible ends; the first of an id stays."""
        first: dict[str, Edge] = {}
        for edge in edges:
            first.setdefault(str(edge.id), edge)
        there = self._table.get(first)
        visible = {edge.id for edge in self._visible(first.values())}
        new = {id: e for id, e in first.items() if id not in there and e.id in visible}
        self._table.put(
            list(new), [rows.spread(id) for id in new], [rows.edge_row(e) for e in new.values()]
        )

    def delete(self, ids: Sequence[int]) -> int:
        """Delete by id; how many were visible."""
        found = [rows.to_edge(row) for row in self._table.get(map(str, ids)).values()]
        count = len(self._visible(found))
        self._table.delete(str(edge.id) for edge in found)
        return count

    def delete_of(self, ends: Sequence[int]) -> None:
        """Delete all edges of these facts and hubs, both ways."""
        self._table.delete(self._touching(ends))

    def at(self, near: str, ids: Sequence[int], limit: int) -> list[Edge]:
        """Visible edges whose ``near`` end is each of these, by id, at most ``limit`` each."""
        found = self._table.find_any(near, [ordered_id(id) for id in ids]).values()
        groups: dict[int, list[Edge]] = {}
        for edge in self._visible(rows.to_edge(row) for row in found):
            end = edge.source if near == "source" else edge.target
            groups.setdefault(end, []).append(edge)
        return [
            edge
            for id in ids
            for edge in sorted(groups.get(id, ()), key=lambda edge: edge.id)[:limit]
        ]

    def of_entity(self, hub: int, incoming: bool, limit: int) -> list[Edge]:
        """Visible edges of a hub, less its links to the facts about it."""
        edges = self.at("target" if incoming else "source", [hub], len(self._table))
        link = ABOUT if incoming else MENTIONS
        links = {
            edge.source if incoming else edge.target for edge in edges if edge.relation == link
        }
        facts = self._facts.present_facts(links)
        kept = [
            edge
            for edge in edges
            if edge.relation != link or (edge.source if incoming else edge.target) not in facts
        ]
        return kept[:limit]

    def count(self, hidden: Iterable[int]) -> int:
        """How many edges there are, less those of facts and hubs that aren't visible."""
        return len(self._table) - len(self._touching(hidden))

    def dangling(self) -> list[int]:
        """The ids of edges without one of their ends; reads all edges."""
        found = [
            rows.to_edge(row)
            for row in self._table.find_rows({"id": {"$gte": ordered_id(0)}}).values()
        ]
        ends = self._facts.stored({end for edge in found for end in (edge.source, edge.target)})
        return sorted(e.id for e in found if e.source not in ends or e.target not in ends)

    def drop(self, ids: Sequence[int]) -> None:
        """Delete by id, visible or not."""
        self._table.delete(map(str, ids))

    def _touching(self, ends: Iterable[int]) -> set[str]:
        numbers = [ordered_id(id) for id in ends]
        return {id for end in ("source", "target") for id in self._table.find_any(end, numbers)}

    def _visible(self, edges: Iterable[Edge]) -> list[Edge]:
        edges = list(edges)
        present = self._facts.present({end for edge in edges for end in (edge.source, edge.target)})
        return [edge for edge in edges if edge.source in present and edge.target in present]
