"""One fragment as the stages of the compiler see it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from veles_core.context.classify import Rule
from veles_core.context.logs import Log


class Item(NamedTuple):
    """A fragment or pulled memory, examined: what it is, what it weighs, what it costs.

    ``source`` is the id of its exact bytes ``data``, ``text`` those bytes as text (empty
    for media), ``tokens`` the count of the whole original. ``order`` is what it is packed
    by, and ``log`` its collapsed form if its rule is to abstract it.
    """

    index: int
    fragment_id: int
    source: int
    data: bytes
    text: str
    mime: str | None
    kind: str
    metadata: Mapping[str, Any]
    priority: int
    tokens: int
    rule: Rule
    critical: bool
    cached: bool
    relevance: float
    weight: float
    log: Log | None
    memory_id: int | None
    note: str
