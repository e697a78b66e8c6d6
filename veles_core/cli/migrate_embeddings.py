"""``veles-memory migrate-embeddings``: move the memory to the configured embedding model."""

import threading
from collections.abc import Callable
from typing import Literal

import click

from veles_core.errors import ConfigurationError
from veles_core.hookspecs import Host
from veles_core.migration.job import RECOVERABLE, Limits
from veles_core.migration.offline import OfflineEpochs, estimate
from veles_core.migration.plane import Migrations, MigrationView
from veles_core.plugins import discover
from veles_core.protocols import Embedder
from veles_core.server.app import open_chain, prepared_directory
from veles_core.settings import Settings, load, selected_plugins

Strategy = Literal["auto", "reuse", "reembed"]
POLL_SECONDS = 0.1
PAUSE_BUDGET_MS = 60_000  # nobody is waiting, or they chose to migrate offline all the same


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done and how long it may take.")
@click.option(
    "--strategy",
    type=click.Choice(["auto", "reuse", "reembed"]),
    default="auto",
    help="auto: reuse the vectors if the record proves the same model and dimension, else embed "
    "again; reuse: refuse to embed; reembed: embed again whatever the record says.",
)
def command(dry_run: bool, strategy: Strategy) -> None:
    """Move the memory to the model that is configured now; resumes where it was interrupted.

    Servers on the same memory keep serving and follow when it is done.
    """
    settings, registry = load(Settings), discover(selected_plugins())
    host = Host(prepared_directory(settings.path))
    target: Embedder = registry.open("embedder", settings.embedder, host)
    dimension = int(target.embed(["dimension"]).shape[1])
    epochs = open_chain(settings, registry, target)
    try:
        filled = epochs.live().store.provenance()
        same = filled is None or (filled.model, filled.dimension) == (
            target.identity.model,
            dimension,
        )
        if same and strategy != "reembed":
            click.echo("the memory is filled by the configured model; its vectors stay in use")
            return
        if strategy == "reuse":
            raise ConfigurationError(
                f"the vectors of {filled.model if filled else 'nobody'!r} can't be reused for "
                f"{target.identity.model!r}: choose --strategy reembed"
            )
        expected = estimate(epochs.live().store, target)
        click.echo(
            f"{expected.facts} facts will be embedded with {target.identity.model} "
            f"({dimension} dimensions), in about {expected.seconds:.0f} s"
        )
        if not dry_run:
            _migrate(epochs, settings.embedder, expected.facts)
    finally:
        epochs.close()


def _migrate(epochs: OfflineEpochs, backend: str, facts: int) -> None:
    """Start or resume the job and follow it to its end."""
    migrations = Migrations(epochs, grace_seconds=0.0)
    try:
        job = migrations.status().job
        if job is not None and job.phase in RECOVERABLE:
            migrations.recover()
        else:
            migrations.start(backend, Limits(pause_budget_ms=PAUSE_BUDGET_MS), again=True)
        with click.progressbar(length=facts, label="embedding") as bar:
            view = _followed(migrations, lambda done: bar.update(done - bar.pos))
    finally:
        migrations.close()
    if view.job is None or view.job.phase != "committed":
        reason = view.job.last_error if view.job else "its record is gone"
        raise ConfigurationError(
            f"the migration stopped: {reason}; run this command again to go on"
        )
    click.echo(f"the memory is served with {view.job.target.model} from now on")


def _followed(migrations: Migrations, moved: Callable[[int], None]) -> MigrationView:
    """Poll until the job ends or stops, telling how many facts were copied."""
    waiting = threading.Event()
    while True:
        view = migrations.status()
        if view.job is not None:
            moved(view.job.progress.base_facts)
        if not view.running:
            return view
        waiting.wait(POLL_SECONDS)
