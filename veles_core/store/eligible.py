"""Which facts a search may find, as sorted id sets resolved before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from veles_core.protocols import Ids


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


def resolve(matches: Sequence[tuple[bool, "Ids"]], expired: "Ids") -> Eligible:
    """Combine what each predicate matched; True marks a set that must *not* match."""
    allowed: Ids | None = None
    excluded = expired
    for complement, ids in matches:
        if complement:
            excluded = np.union1d(excluded, ids) if len(excluded) else ids
        else:
            allowed = ids if allowed is None else np.intersect1d(allowed, ids, assume_unique=True)
    if allowed is not None:
        if len(excluded):
            allowed = np.setdiff1d(allowed, excluded, assume_unique=True)
        return Eligible(allowed, None)
    return Eligible(None, excluded if len(excluded) else None)
