"""``veles-memory serve``: the MCP server over standard input and output."""

import os
import signal
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from veles_core.memory.service import MemoryService


@click.command()
def command() -> None:
    """Serve MCP over standard input and output until the client goes away."""
    # At once, wherever the process stands: what was answered is durable, and a cancelled
    # task may be waiting for something that never comes.
    signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(130))
    from veles_core.server import pipes

    claimed = pipes.claim()  # before a plugin or the SDK is imported and can print
    from veles_core.settings import Settings, calm_threads, load, selected_plugins

    calm_threads()
    from veles_core.plugins import discover
    from veles_core.server.notices import configure_log

    settings = load(Settings)
    registry = discover(selected_plugins())
    configure_log(settings, registry)

    def opened() -> "MemoryService":
        # Imported in the thread that opens, while the SDK is imported in this one.
        from veles_core.server.app import open_memory

        return open_memory(settings, registry)

    from veles_core.server.stdio import serve

    serve(opened, claimed)
