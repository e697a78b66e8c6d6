"""Predicates as SQL over the sort keys of metadata values.

Comparing sort keys as bytes compares the values exactly, so the database needs to know
nothing of JSON types.
"""

from collections.abc import Sequence
from typing import Any

from veles_core.records import ABOUT, Predicate
from veles_core.scalars import sort_key, type_range
from veles_plugins.store_postgres.rows import field_digest, visible

_PREFIX = 64  # bytes of a value that are indexed
_OPERATORS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def conditions(predicates: Sequence[Predicate]) -> tuple[str, dict[str, Any]]:
    """A condition on ``facts f``, ready to be put after others, and its parameters."""
    text, parameters = "", dict[str, Any]()
    for number, predicate in enumerate(predicates):
        # Which facts have the value: ne is the complement of eq over all of them.
        found = _facts_with(predicate, f"p{number}", parameters)
        negation = "NOT " if predicate.op == "ne" else ""
        text += f" AND {negation}EXISTS (SELECT FROM ({found}) m WHERE m.fact = f.id)"
    return text, parameters


def _facts_with(predicate: Predicate, name: str, parameters: dict[str, Any]) -> str:
    key = sort_key(predicate.value)
    parameters[f"{name}_field"] = field_digest(predicate.field)
    parameters[f"{name}_key"] = key
    parameters[f"{name}_prefix"] = key[:_PREFIX]
    prefix, value = "substr(x.value, 1, 64)", "x.value"
    condition = f"x.field = %({name}_field)s"
    if predicate.op in ("eq", "ne"):
        condition += f" AND {prefix} = %({name}_prefix)s AND {value} = %({name}_key)s"
    else:
        parameters[f"{name}_low"], parameters[f"{name}_high"] = type_range(key)
        operator = _OPERATORS[predicate.op]
        # A prefix orders as its value does, but for ties.
        condition += (
            f" AND {prefix} {operator[0]}= %({name}_prefix)s AND {value} {operator} %({name}_key)s"
            f" AND {prefix} >= %({name}_low)s AND {prefix} < %({name}_high)s"
        )
    own = f"SELECT x.fact FROM fields x WHERE {condition}"
    if not predicate.through_hubs:
        return own
    parameters["about"] = ABOUT
    return (
        f"{own} UNION ALL SELECT e.source FROM fields x "
        f"JOIN facts h ON h.id = x.fact AND h.hub AND {visible('h')} "
        f"JOIN edges e ON e.target = h.id AND e.relation = %(about)s WHERE {condition}"
    )
