"""``veles-memory status``: what runs, what filled the store, how much is in it."""

import json

import click

from veles_core.plugins import discover
from veles_core.records import EmbeddingIdentity
from veles_core.server.app import open_memory
from veles_core.server.notices import configure_log
from veles_core.settings import Settings, load, selected_plugins


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(as_json: bool) -> None:
    """Show the configured backends, the store's provenance and its size."""
    settings, registry = load(Settings), discover(selected_plugins())
    configure_log(settings, registry)
    with open_memory(settings, registry) as memory:
        status = memory.memory_status()
    report = {
        "path": str(settings.path),
        "store": settings.store,
        "embedder": f"{settings.embedder}: {_shown(status.embedder)}",
        "filled by": _shown(status.provenance) if status.provenance else "nothing yet",
        "extractor": settings.extractor or "none by default",
        "facts": status.memory.facts,
        "edges": status.memory.edges,
    }
    if as_json:
        click.echo(json.dumps(report, indent=2))
        return
    for name, value in report.items():
        click.echo(f"{name:10} {value}")


def _shown(identity: EmbeddingIdentity) -> str:
    kind = "by meaning" if identity.semantic else "by surface form only"
    return f"{identity.model}, {identity.dimension or 'unknown'} dimensions, {kind}"
