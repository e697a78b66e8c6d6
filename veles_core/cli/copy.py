"""``veles-memory copy``: the memory into another store, vectors and all."""

import click

from veles_core.errors import ConfigurationError
from veles_core.hookspecs import Host
from veles_core.migration.move import move
from veles_core.plugins import discover
from veles_core.protocols import Store
from veles_core.server.app import open_chain, prepared_directory
from veles_core.settings import Settings, load, selected_plugins


@click.command()
@click.option("--to", required=True, help="Store to copy into, as in VELESDB_MEMORY_STORE.")
def command(to: str) -> None:
    """Copy everything into an empty store of another kind and compare it at the end.

    The memory that is configured stays as it is; set VELESDB_MEMORY_STORE afterwards.
    """
    settings, registry = load(Settings), discover(selected_plugins())
    # The embedded stores share one ledger: there is nothing to copy between them.
    if to == settings.store or {to, settings.store} <= {"hnsw", "exact"}:
        raise ConfigurationError(f"the memory is in the store {settings.store!r} already")
    epochs = open_chain(settings, registry)
    try:
        source = epochs.live().store
        host = Host(prepared_directory(settings.path), identity=source.provenance())
        target: Store = registry.open("store", to, host)
        try:
            with click.progressbar(length=source.count().facts, label="copying") as bar:
                moved = move(source, target, lambda done, _total: bar.update(done - bar.pos))
        finally:
            target.close()
    finally:
        epochs.close()
    click.echo(
        f"{moved.facts} facts, {moved.edges} links and {moved.documents} documents are in {to}, "
        f"compared one by one; set VELESDB_MEMORY_STORE={to} to use it"
    )
