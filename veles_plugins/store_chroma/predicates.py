"""Predicates as Chroma's ``where``: exact where it can be, else a superset to be completed.

Equality of any JSON value is equality of digests. Numbers below 2^53 order exactly as
their floats do; larger ones may share a float, and texts their first eight bytes.
"""

from dataclasses import dataclass
from typing import Any, Final

from veles_core.records import Predicate
from veles_plugins.store_chroma.rows import (
    field_name,
    ordered_number,
    ordered_text,
    value_digest,
)

Where = dict[str, Any]

# Chroma's operator, and the one that takes in equal copies of unequal values.
_OPERATORS: Final = {
    "lt": ("$lt", "$lte"),
    "le": ("$lte", "$lte"),
    "gt": ("$gt", "$gte"),
    "ge": ("$gte", "$gte"),
}
_EXACT_BELOW: Final = 2.0**53


@dataclass(frozen=True, slots=True)
class Clause:
    """``where`` matches all that the predicate does; nothing else if ``exact``."""

    where: Where
    exact: bool


def clause(predicate: Predicate) -> Clause:
    """What Chroma can be asked for one predicate on a row's own metadata."""
    field, value = predicate.field, predicate.value
    if predicate.op in ("eq", "ne"):
        # $ne also matches rows without the key, as it should here.
        return Clause({field_name("eq", field): {f"${predicate.op}": value_digest(value)}}, True)
    strict, loose = _OPERATORS[predicate.op]
    if isinstance(value, str):
        return Clause({field_name("text", field): {loose: ordered_text(value)}}, False)
    name, bound = field_name("number", field), ordered_number(value)
    if abs(value) < _EXACT_BELOW:
        return Clause({name: {strict: bound}}, True)
    return Clause({name: {loose: bound}}, False)


def both(*conditions: Where) -> Where:
    """All of these conditions; Chroma's $and wants at least two."""
    return conditions[0] if len(conditions) == 1 else {"$and": list(conditions)}


def either(*conditions: Where) -> Where:
    """Any of these conditions."""
    return {"$or": list(conditions)}
