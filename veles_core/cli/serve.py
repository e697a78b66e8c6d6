"""``veles-memory serve``: the MCP server over standard input and output."""

from functools import partial

import click


@click.command()
def command() -> None:
    """Serve MCP over standard input and output until the client goes away."""
    from veles_core.server import pipes

    claimed = pipes.claim()  # before a plugin or the SDK is imported and can print
    from veles_core.settings import Settings, calm_threads, load, selected_plugins

    calm_threads()
    from veles_core.plugins import discover
    from veles_core.server.app import configure_log, open_memory

    settings = load(Settings)
    registry = discover(selected_plugins())
    configure_log(settings, registry)
    from veles_core.server.stdio import serve

    serve(partial(open_memory, settings, registry), claimed)
