"""Predicates evaluated on a metadata object: the meaning that every store's own query follows."""

from collections.abc import Iterable
from typing import Any

from veles_core.records import Metadata, Predicate
from veles_core.scalars import sort_key, type_range

_MISSING = object()


def matches(metadata: Metadata, predicates: Iterable[Predicate]) -> bool:
    """Whether a fact's own metadata fulfils all predicates (hubs are the store's to follow)."""
    return all(_holds(metadata.get(p.field, _MISSING), p) for p in predicates)


def _holds(value: Any, predicate: Predicate) -> bool:
    if value is _MISSING:
        return predicate.op == "ne"
    key, bound = sort_key(value), sort_key(predicate.value)
    match predicate.op:
        case "eq":
            return key == bound
        case "ne":
            return key != bound
    low, high = type_range(bound)
    if not low <= key < high:
        return False
    match predicate.op:
        case "lt":
            return key < bound
        case "le":
            return key <= bound
        case "gt":
            return key > bound
        case "ge":
            return key >= bound
