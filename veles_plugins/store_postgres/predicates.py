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


def conditions(predicates: Sequence[Predicate], column: str = "f.id") -> tuple[str, dict[str, Any]]:
    """A condition on a column of fact ids, to be put after others, and its parameters.

    Sets of ids are made and intersected by themselves: a plan that looks a fact up in each
    predicate would depend on statistics, which a table that was just filled has none of.
    """
    parameters: dict[str, Any] = {}
    with_: list[str] = []
    without: list[str] = []
    for number, predicate in enumerate(predicates):
        found = _facts_with(predicate, f"p{number}", parameters)
        # ne is the complement of eq over all facts.
        (without if predicate.op == "ne" else with_).append(found)
    text = f" AND {column} IN ({' INTERSECT '.join(with_)})" if with_ else ""
    return text + "".join(f" AND {column} NOT IN ({found})" for found in without), parameters


def _facts_with(predicate: Predicate, name: str, parameters: dict[str, Any]) -> str:
    """A query of the facts that have the value, themselves or through a hub."""
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
    own = f"SELECT x.fact FROM fields x WHERE NOT x.hub AND {condition}"
    if not predicate.through_hubs:
        return f"({own})"
    parameters["about"] = ABOUT
    return (
        f"({own} UNION ALL SELECT e.source FROM fields x "
        f"JOIN facts h ON h.id = x.fact AND {visible('h')} "
        "JOIN edges e ON e.target = h.id AND e.relation = %(about)s "
        f"WHERE x.hub AND {condition})"
    )
