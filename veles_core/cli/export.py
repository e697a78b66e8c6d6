"""``veles-memory export``: the whole memory as JSON lines."""

import os
from pathlib import Path

import click

from veles_core.errors import ConfigurationError
from veles_core.memory.transfer import export_lines
from veles_core.plugins import discover
from veles_core.server.app import open_chain
from veles_core.settings import Settings, load, selected_plugins


@click.command()
@click.option(
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write; it is replaced only when all is written.",
)
@click.option("--include-internal", is_flag=True, help="Entity hubs and documents too: a backup.")
def command(output: Path, include_internal: bool) -> None:
    """Write every memory and link to a file, one JSON object a line.

    Works on a memory that another embedding model filled: nothing is embedded.
    """
    settings = load(Settings)
    epochs = open_chain(settings, discover(selected_plugins()))
    unfinished = output.with_name(output.name + ".part")
    try:
        unfinished.unlink(missing_ok=True)
        unfinished.touch(mode=0o600)  # it holds everything remembered: its owner's alone
        count = 0
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            for line in export_lines(epochs.live().store, include_internal):
                file.write(line + "\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(output)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise ConfigurationError(f"{output} can't be written: {error.strerror}") from None
    finally:
        epochs.close()
    click.echo(f"{count} lines written to {output}", err=True)
