"""``veles-memory import``: exported JSON lines back into a memory."""

from collections.abc import Iterator
from pathlib import Path

import click

from veles_core.errors import ConfigurationError
from veles_core.memory.transfer import Item, read_items
from veles_core.server.app import open_memory


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(file: Path) -> None:
    """Read a file written by export into the memory, embedding its facts anew.

    The whole file is checked before anything is stored. Facts that are there already are
    replaced; what has expired since is left out.
    """
    total = sum(1 for _ in _items(file))
    with open_memory() as memory, click.progressbar(length=total, label="importing") as bar:
        done = memory.import_items(_items(file), lambda n, _total: bar.update(n - bar.pos))
    click.echo(
        f"{done.facts} facts, {done.edges} links, {done.documents} documents imported"
        + (
            f"; {done.left_out} left out: expired, or links to something expired"
            if done.left_out
            else ""
        )
    )


def _items(file: Path) -> Iterator[Item]:
    try:
        with file.open(encoding="utf-8", newline="\n") as lines:
            for _number, item in read_items(lines):
                yield item
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file} can't be read: {error}") from None
