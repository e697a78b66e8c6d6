"""``veles-memory plugins``: what is installed, and whether it opens."""

import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from veles_core.errors import VelesError
from veles_core.hookspecs import Host
from veles_core.plugins import Offer, Plugin, Registry, discover
from veles_core.settings import selected_plugins


@dataclass(frozen=True, slots=True)
class Opened:
    """Whether one backend opens with the present configuration, or why not."""

    kind: str
    name: str
    summary: str
    plugin: str
    distribution: str
    version: str
    problem: str | None


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(as_json: bool) -> None:
    """List every installed plugin and backend, and try to open each.

    Opening contacts no remote service and touches no memory: stores are opened in an
    empty temporary directory.
    """
    registry = discover(selected_plugins())
    backends = [_opened(registry, offer) for offer in registry.offers]
    if as_json:
        report: dict[str, Any] = {
            "plugins": [asdict(plugin) for plugin in registry.plugins],
            "backends": [asdict(backend) for backend in backends],
            "clashes": list(registry.clashes),
        }
        click.echo(json.dumps(report, indent=2))
        return
    for plugin in registry.plugins:
        click.echo(_title(plugin))
        if plugin.error:
            click.echo(f"  broken: {plugin.error}")
        for backend in backends:
            if (backend.plugin, backend.distribution) == (plugin.name, plugin.distribution):
                state = "ok" if backend.problem is None else f"does not open: {backend.problem}"
                click.echo(f"  {backend.kind} {backend.name}: {backend.summary} [{state}]")
    for clash in registry.clashes:
        click.echo(f"clash: {clash}")


def _title(plugin: Plugin) -> str:
    hooks = ", ".join(plugin.hooks) or "no hooks"
    return f"{plugin.name} ({plugin.distribution} {plugin.version}): {hooks}"


def _opened(registry: Registry, offer: Offer) -> Opened:
    backend = offer.backend
    problem = None
    with tempfile.TemporaryDirectory() as directory:
        try:
            live = registry.open(offer.kind, backend.name, Host(Path(directory)))
            close = getattr(live, "close", None)
            if close is not None:
                close()
        except VelesError as error:
            problem = error.message
        except Exception as error:  # a stranger's backend may raise anything
            problem = f"{type(error).__name__}: {error}"
    plugin = offer.plugin
    return Opened(
        offer.kind,
        backend.name,
        backend.summary,
        plugin.name,
        plugin.distribution,
        plugin.version,
        problem,
    )
