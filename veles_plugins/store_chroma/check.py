"""Comparing the flat copies with the exact records, and mending what differs."""

from veles_core.records import Problem
from veles_plugins.store_chroma import rows
from veles_plugins.store_chroma.connection import Connection
from veles_plugins.store_chroma.edges import Edges
from veles_plugins.store_chroma.facts import Facts

PAGE = 1_000


def check(connection: Connection, facts: Facts, edges: Edges, repair: bool) -> list[Problem]:
    """All findings; the caller keeps other writers out. Reads everything."""
    problems = []
    wrong: list[int] = []
    bare: list[int] = []
    after: int | None = None
    while page := facts.page(after, PAGE, internal=True):
        after = page[-1]
        found = facts.get(page)
        for purpose in ("facts", "hubs"):
            table = connection.table(purpose)
            for name, row in table.get(map(str, page)).items():
                fact = found.get(int(name))
                if fact is None:
                    continue
                expected = rows.flat_copies(fact)
                if {key: value for key, value in row.items() if "." in key} != expected:
                    wrong.append(fact.id)
                    if repair:
                        table.update([name], [rows.replacing(row, expected)])
                if fact.kind == "fact" and not row["vector"]:
                    bare.append(fact.id)
    if wrong:
        problems.append(
            Problem(
                "derived-wrong",
                f"the flat copies of {len(wrong)} facts don't say what the facts say",
                tuple(sorted(wrong)),
                repaired=repair,
            )
        )
    if dangling := edges.dangling():
        if repair:
            edges.drop(dangling)
        problems.append(
            Problem(
                "edge-dangling",
                f"{len(dangling)} edges lead to something that is not stored",
                repaired=repair,
            )
        )
    if bare:
        ids = tuple(sorted(bare))
        problems.append(Problem("vector-missing", f"{len(ids)} facts have no vector", ids))
    return problems
