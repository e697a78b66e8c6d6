"""Facts and hubs in Chroma: what is visible, what matches, what is near.

A row is visible if it has not expired and its ``written`` mark is COMMITTED or that of
the transaction that asks.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from veles_core.predicates import matches
from veles_core.records import ABOUT, Fact, Hit, Predicate
from veles_plugins.store_chroma.connection import Connection
from veles_plugins.store_chroma.predicates import Where, both, clause, either
from veles_plugins.store_chroma.rows import (
    COMMITTED,
    Row,
    ordered_float,
    ordered_id,
    to_edge,
    to_fact,
)

if TYPE_CHECKING:
    from veles_core.records import Vector

EXACT_UP_TO: Final = 1_000  # vectors that are fetched and compared one by one: about 60 ms
SPARE: Final = 64  # more neighbours than asked for, so that ties at the end can be told
# A graph over many equal vectors falls apart. It shows when it is asked for all that there
# is, so a small collection always is, and what was lost is compared one by one.
ASKED_AT_LEAST: Final = 1_000
_ANY: Final[Where] = {"id": {"$gte": ordered_id(0)}}


class Facts:
    """The visible facts and hubs at an instant, for one reader."""

    def __init__(self, connection: Connection, now: float, own: int) -> None:
        self._connection = connection
        self._now = ordered_float(now)
        self._own = own  # the mark of the reader's transaction, COMMITTED outside of one
        self.table = connection.table("facts")
        self.hubs = connection.table("hubs")

    def is_visible(self, row: Row) -> bool:
        """Whether the reader may see a row."""
        return row["expires"] > self._now and row["written"] in (COMMITTED, self._own)

    def _visible(self) -> Where:
        marks = {"$in": sorted({COMMITTED, self._own})}
        return both({"expires": {"$gt": self._now}}, {"written": marks})

    def present(self, ids: Iterable[int]) -> set[int]:
        """Those of these ids that are a visible fact or hub."""
        names = [str(id) for id in ids]
        rows = self.table.get(names)
        rows = rows | self.hubs.get(name for name in names if name not in rows)
        return {int(id) for id, row in rows.items() if self.is_visible(row)}

    def present_facts(self, ids: Iterable[int]) -> set[int]:
        """Those of these ids that are a visible fact, and no hub."""
        rows = self.table.get(map(str, ids))
        return {int(id) for id, row in rows.items() if self.is_visible(row)}

    def get(self, ids: Iterable[int]) -> dict[int, Fact]:
        """The visible ones of these facts and hubs."""
        names = [str(id) for id in ids]
        facts = self.table.get_with_content(names)
        hubs = self.hubs.get_with_content(name for name in names if name not in facts)
        return {
            int(id): to_fact(row, content, hub)
            for found, hub in ((facts, False), (hubs, True))
            for id, (row, content) in found.items()
            if self.is_visible(row)
        }

    def vectors(self, ids: Iterable[int]) -> "dict[int, Vector]":
        """The vectors of those of these facts that have one."""
        self._connection.follow_others()
        rows = self.table.get(map(str, ids))
        found = self.table.vectors(name for name, row in rows.items() if row["vector"])
        return {int(name): vector for name, vector in found.items()}

    def stored(self, ids: Iterable[int]) -> set[int]:
        """Those of these ids that are stored, visible or not."""
        names = [str(id) for id in ids]
        return {int(id) for table in (self.table, self.hubs) for id in table.get(names)}

    def reclaimable(self, limit: int, oldest_mark: int) -> list[int]:
        """Up to ``limit`` facts and hubs that expired, or whose transaction died before this."""
        dead = both({"written": {"$gt": COMMITTED}}, {"written": {"$lt": oldest_mark}})
        gone = either({"expires": {"$lte": self._now}}, dead)
        found = [*self.table.find(gone, limit), *self.hubs.find(gone, limit)]
        return [int(id) for id in found[:limit]]

    def hidden(self) -> tuple[set[int], set[int]]:
        """The ids of the facts and of the hubs that are stored but not visible."""
        gone = either({"expires": {"$lte": self._now}}, {"written": {"$gt": COMMITTED}})
        facts, hubs = (
            {int(id) for id, row in table.find_rows(gone).items() if not self.is_visible(row)}
            for table in (self.table, self.hubs)
        )
        return facts, hubs

    def page(self, after: int | None, limit: int, internal: bool) -> list[int]:
        """Up to ``limit`` visible ids above ``after``, ascending.

        Chroma orders nothing, so ids are asked for range by range, each twice as wide as
        the last if that held too few; ids that are digests are spread evenly.
        """
        tables = [self.table, *([self.hubs] if internal else [])]
        total = sum(len(table) for table in tables)
        low, end = 0 if after is None else after + 1, 1 << 64
        width = end * limit // max(total, 1) + 1
        found: list[int] = []
        while len(found) < limit and low < end and total:
            high = min(low + width, end)
            inside = both(
                {"id": {"$gte": ordered_id(low)}},
                {"id": {"$lte": ordered_id(high - 1)}},
                self._visible(),
            )
            found += sorted(int(id) for table in tables for id in table.find(inside))
            low, width = high, width * 2
        return found[:limit]

    def matching(self, predicates: Sequence[Predicate]) -> list[int]:
        """The ids of all visible facts that match, ascending."""
        # What no hub fulfils is asked of the facts alone, all of it at once.
        about_hubs = [(p, self._about(p) if p.through_hubs else set()) for p in predicates]
        simple = [predicate for predicate, about in about_hubs if not about]
        found = [self._own_matches(simple)] if simple else []
        for predicate, about in about_hubs:
            if about:
                own = self._own_matches([predicate])
                found.append(own - about if predicate.op == "ne" else own | about)
        return sorted(set.intersection(*found))

    def _about(self, predicate: Predicate) -> set[int]:
        """The visible facts that are about a hub with the value."""
        equal = Predicate(predicate.field, "eq", predicate.value)
        hubs = self._own_matches([equal if predicate.op == "ne" else predicate], hubs=True)
        edges = self._connection.table("edges").find_any("target", [ordered_id(id) for id in hubs])
        ends = {to_edge(row).source for row in edges.values() if row["relation"] == ABOUT}
        return self.present_facts(ends)

    def _own_matches(self, predicates: Sequence[Predicate], hubs: bool = False) -> set[int]:
        clauses = [clause(predicate) for predicate in predicates]
        where = both(self._visible(), *(c.where for c in clauses))
        table = self.hubs if hubs else self.table
        unsure = [p for p, c in zip(predicates, clauses, strict=True) if not c.exact]
        if not unsure:
            return {int(id) for id in table.find(where)}
        rows = table.find_rows(where)
        return {
            int(id) for id, row in rows.items() if matches(to_fact(row, "", hubs).metadata, unsure)
        }

    def nearest(self, vector: "Vector", k: int, predicates: Sequence[Predicate]) -> list[Hit]:
        """Exactly min(k, matching) visible facts with a vector, best first.

        Chroma's graph is asked for more and more until k eligible facts are met and the
        last of them has no equals that were left out.
        """
        self._connection.follow_others()
        allowed = set(self.matching(predicates)) if predicates else None
        if allowed is not None and len(allowed) <= EXACT_UP_TO:
            return _best(self._scores(vector, allowed))[:k]
        total = len(self.table)
        count = max(k + SPARE, ASKED_AT_LEAST)
        while True:
            count = min(count, total)
            scores = self._neighbours(vector, count) if count else {}
            # Asked after the graph, so that what another writer has just begun is excluded.
            excluded = self.hidden()[0] | {int(id) for id in self.table.find({"vector": 0})}
            hits = _best(
                {
                    id: score
                    for id, score in scores.items()
                    if id not in excluded and (allowed is None or id in allowed)
                }
            )
            if count == total or (len(hits) > k and hits[k - 1].score > hits[-1].score):
                return hits[:k]
            count *= 4

    def _neighbours(self, vector: "Vector", count: int) -> dict[int, float]:
        """About the ``count`` nearest; all of them, if the graph has lost some."""
        found = self.table.nearest(vector, count)
        scores = {int(id): score for id, score in found.items()}
        if len(scores) < count:
            everything = {int(id) for id in self.table.find(_ANY)}
            scores |= self._scores(vector, everything - scores.keys())
        return scores

    def similarities(self, vector: "Vector", ids: Sequence[int]) -> list[float]:
        """Inner products in the order asked; NaN for what has no vector."""
        scores = self._scores(vector, ids)
        return [scores.get(id, float("nan")) for id in ids]

    def _scores(self, vector: "Vector", ids: Iterable[int]) -> dict[int, float]:
        vectors = self.vectors(ids)
        if not vectors:
            return {}
        scores = np.stack(list(vectors.values())) @ vector
        return dict(zip(vectors, scores.tolist(), strict=True))


def _best(scores: dict[int, float]) -> list[Hit]:
    order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(id, score) for id, score in order]
