"""Which facts a search may find, as sorted id sets resolved before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from veles_core.ledger import facts, predicates
from veles_core.ledger.connect import Database
from veles_core.records import Predicate
from veles_core.scalars import sort_key

if TYPE_CHECKING:
    from veles_core.protocols import Ids

KEPT_FILTERS: Final = 16
KEPT_IDS: Final = 1 << 18  # of one filter: 2 MB


@dataclass(frozen=True, slots=True)
class Eligible:
    """Only ``allowed`` (None: all), and none of ``excluded`` (None: nobody); both sorted.

    At most one of the two is a set.
    """

    allowed: "Ids | None"
    excluded: "Ids | None"

    def excludes(self, id: int) -> bool:
        """Whether an id is among the excluded."""
        if self.excluded is None:
            return False
        slot = int(np.searchsorted(self.excluded, np.uint64(id)))
        return slot < len(self.excluded) and int(self.excluded[slot]) == id


class Filters:
    """Resolves predicates, and keeps what it resolved until anything is written or expires.

    An agent asks with the same filter over and over; the second time costs nothing.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._stamp: tuple[int, ...] = ()
        self._kept: dict[tuple[object, ...], Eligible] = {}

    def eligible(self, wanted: Sequence[Predicate], now: float) -> Eligible:
        """The visible facts that fulfil all predicates. The caller holds a read."""
        expired = facts.expired(self._db, now)
        if not wanted:
            return Eligible(None, expired if len(expired) else None)
        stamp = (*self._db.version(), len(expired))
        if stamp != self._stamp:
            self._kept.clear()
            self._stamp = stamp
        key = tuple((p.field, p.op, sort_key(p.value), p.through_hubs) for p in wanted)
        found = self._kept.get(key)
        if found is None:
            found = self._resolve(wanted, expired, now)
            self._keep(key, found)
        return found

    def _resolve(self, wanted: Sequence[Predicate], expired: "Ids", now: float) -> Eligible:
        excluded = predicates.equal(self._db, wanted, now)
        if len(expired):
            excluded = np.union1d(excluded, expired)
        allowed = predicates.matching(self._db, wanted, now)
        if allowed is None:
            return Eligible(None, excluded)
        return Eligible(np.setdiff1d(allowed, excluded, assume_unique=True), None)

    def _keep(self, key: tuple[object, ...], found: Eligible) -> None:
        if any(ids is not None and len(ids) > KEPT_IDS for ids in (found.allowed, found.excluded)):
            return
        if len(self._kept) >= KEPT_FILTERS:
            self._kept.pop(next(iter(self._kept)))
        self._kept[key] = found
