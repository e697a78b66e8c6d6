"""``veles-memory check``: everything stored and derived against what it should be."""

import sys

import click

from veles_core.server.app import open_memory


@click.command()
@click.option("--repair", is_flag=True, help="Mend what can be mended; no fact is lost.")
def command(repair: bool) -> None:
    """Check the memory; exit status 1 if a problem is left."""
    with open_memory() as memory:
        problems = memory.check(repair)
    for problem in problems:
        mark = "repaired" if problem.repaired else "problem"
        click.echo(f"{mark}: {problem.code}: {problem.message}")
    left = [problem for problem in problems if not problem.repaired]
    if left:
        click.echo(f"{len(left)} problems left" + ("" if repair else "; try check --repair"))
        sys.exit(1)
    click.echo("all is well")
