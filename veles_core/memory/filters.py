"""Filters as callers give them, turned into predicates that a store can answer."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from veles_core.errors import InvalidInput
from veles_core.limits import MAX_PREDICATES
from veles_core.memory.metadata import is_reserved, plain_json
from veles_core.records import Op, Predicate

OPS: Final = get_args(Op)


def equalities(filter: Mapping[str, Any] | None, field: str = "filter") -> tuple[Predicate, ...]:
    """An exact-match filter as predicates: every key equal, JSON type included."""
    if not filter:
        return ()
    checked = plain_json(filter, field)
    _check_count(len(checked), field)
    for key in checked:
        _check_field(key, field)
    return tuple(Predicate(key, "eq", value) for key, value in sorted(checked.items()))


def comparisons(filters: Sequence[Predicate], field: str = "filters") -> tuple[Predicate, ...]:
    """The typed predicates of ``recall_where``, checked; they look through entity hubs too."""
    _check_count(len(filters), field)
    for predicate in filters:
        _check_field(predicate.field, field)
        _check_comparison(predicate, field)
    return tuple(Predicate(p.field, p.op, p.value, through_hubs=True) for p in filters)


def _check_count(count: int, field: str) -> None:
    if count > MAX_PREDICATES:
        raise InvalidInput(
            f"{field} holds {count} conditions; at most {MAX_PREDICATES} are taken",
            field=field,
            limit=MAX_PREDICATES,
            actual=count,
        )


def _check_field(name: str, field: str) -> None:
    if is_reserved(name):
        raise InvalidInput(
            f"{field} names {name[:80]!r}, which is reserved; filter on your own metadata keys "
            "or on _veles_date",
            field=field,
            actual=name[:80],
        )


def _check_comparison(predicate: Predicate, field: str) -> None:
    if predicate.op not in OPS:
        raise InvalidInput(
            f"{field}: {predicate.op!r} is no operator; use one of {', '.join(OPS)}",
            field=field,
            actual=str(predicate.op)[:40],
        )
    if not isinstance(predicate.value, (str, int, float)):
        raise InvalidInput(
            f"{field}: the value compared with {predicate.field[:80]!r} must be a number, "
            "a string or a boolean",
            field=field,
            actual=type(predicate.value).__name__,
        )
    plain_json({"value": predicate.value}, field)
    if isinstance(predicate.value, bool) and predicate.op not in ("eq", "ne"):
        raise InvalidInput(
            f"{field}: booleans have no order; compare {predicate.field[:80]!r} with eq or ne",
            field=field,
            actual=predicate.op,
        )
