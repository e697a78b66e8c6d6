"""``veles-memory serve``: the MCP server over standard input and output."""

import sys

import click


@click.command()
def command() -> None:
    """Serve MCP over standard input and output until the client goes away."""
    from veles_core.server.stdio import serve

    sys.exit(serve())
