"""From entry points to backends: what was found, what is broken, what clashes.

The built-ins are registered first, through the same hooks as everybody's. Then each
entry point on its own: one that fails is recorded with its reason and stops nothing
unless its backend is selected.
"""

import difflib
import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Final, Literal

import pluggy

from veles_core import __version__, hookspecs
from veles_core.errors import ConfigurationError
from veles_core.hookspecs import ENTRY_POINT_GROUP, Backend, Host
from veles_core.settings import BackendSettings, load, target_variable, variables

Kind = Literal["store", "embedder", "extractor", "tokenizer"]

HOOKS: Final[dict[Kind, str]] = {
    "store": "veles_stores",
    "embedder": "veles_embedders",
    "extractor": "veles_extractors",
    "tokenizer": "veles_tokenizers",
}
BUILTIN: Final = "veles_core.builtin"


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point as it was found. ``error`` says why it is broken, if it is."""

    name: str
    distribution: str
    version: str
    hooks: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """A backend and the plugin it came from."""

    kind: Kind
    backend: Backend[Any]
    plugin: Plugin


@dataclass(frozen=True, slots=True)
class Registry:
    """All that is installed. Built once at start-up, never changed."""

    plugins: tuple[Plugin, ...]
    offers: tuple[Offer, ...]
    clashes: tuple[str, ...] = field(default=())

    def names(self, kind: Kind) -> list[str]:
        """The names that can be selected for a kind, ascending."""
        return sorted({offer.backend.name for offer in self.offers if offer.kind == kind})

    def find(self, kind: Kind, name: str) -> Backend[Any]:
        """The backend of a kind by name.

        Raises ConfigurationError if two plugins offer the name, if the plugin that
        likely offers it is broken (with its reason), or if nothing offers it (listing
        what is there).
        """
        found = [
            offer for offer in self.offers if offer.kind == kind and offer.backend.name == name
        ]
        if len(found) == 1:
            return found[0].backend
        if found:
            sources = " and ".join(_source(offer.plugin) for offer in found)
            raise ConfigurationError(
                f"two plugins offer the {kind} {name!r}: {sources}; remove one"
            )
        broken = [f"{_source(plugin)}: {plugin.error}" for plugin in self.plugins if plugin.error]
        close = difflib.get_close_matches(name, self.names(kind), n=1)
        raise ConfigurationError(
            f"no {kind} is called {name!r}; installed: {', '.join(self.names(kind))}"
            + (f"; did you mean {close[0]!r}?" if close else "")
            + (f"; broken plugins: {'; '.join(broken)}" if broken else "")
        )

    def open(self, kind: Kind, name: str, host: Host, target: bool = False) -> Any:
        """Open the backend of a kind by name with its own settings, or a migration's target's.

        A library that is missing becomes a ConfigurationError with the install command.
        """
        backend = self.find(kind, name)
        settings = load(backend.settings, target) if backend.settings is not None else None
        try:
            return backend.open(settings, host)
        except ImportError as error:
            way_out = f"; install it with: {backend.install}" if backend.install else ""
            raise ConfigurationError(
                f"the {kind} {name!r} needs a library that is missing ({error}){way_out}"
            ) from error

    def variables(self) -> set[str]:
        """Every variable that an installed backend reads."""
        models: Iterable[type[BackendSettings]] = (
            offer.backend.settings for offer in self.offers if offer.backend.settings
        )
        names = {name for model in models for name in variables(model)}
        return names | {target for name in names if (target := target_variable(name))}


def discover(selected: Sequence[str] | None = None) -> Registry:
    """Load the built-ins and the selected entry points (None: all of them)."""
    plugins: list[Plugin] = []
    offers: list[Offer] = []
    builtin = importlib.import_module(BUILTIN)
    _register(builtin, Plugin("builtin", "veles-memory", __version__), plugins, offers)
    points = sorted(
        entry_points(group=ENTRY_POINT_GROUP), key=lambda point: (point.name, point.value)
    )
    for point in points:
        if selected is not None and point.name not in selected:
            continue
        plugin = _describe(point)
        try:
            module = point.load()
        except Exception as error:  # whatever a stranger's import raises, the others go on
            plugins.append(_broken(plugin, f"it fails to import: {_one_line(error)}"))
            continue
        _register(module, plugin, plugins, offers)
    missing = [name for name in selected or () if name not in {point.name for point in points}]
    plugins += [Plugin(name, "", "", error="it is not installed") for name in missing]
    return Registry(tuple(plugins), tuple(offers), tuple(_clashes(offers)))


def _register(
    module: ModuleType | object, plugin: Plugin, plugins: list[Plugin], offers: list[Offer]
) -> None:
    """Ask one plugin for its backends, in a manager of its own so that a fault stays its own."""
    manager = pluggy.PluginManager("veles")
    manager.add_hookspecs(hookspecs)
    found: list[Offer] = []
    try:
        manager.register(module, name=plugin.name)
        manager.check_pending()
        implemented = tuple(
            hook for hook in HOOKS.values() if getattr(manager.hook, hook).get_hookimpls()
        )
        plugin = Plugin(plugin.name, plugin.distribution, plugin.version, implemented)
        for kind, hook in HOOKS.items():
            for backends in getattr(manager.hook, hook)():
                found += [Offer(kind, _checked(backend), plugin) for backend in backends]
    except Exception as error:  # a hook of a stranger may raise anything
        plugins.append(_broken(plugin, _one_line(error)))
        return
    if not implemented:
        hooks = ", ".join(HOOKS.values())
        plugins.append(_broken(plugin, f"it implements none of the hooks {hooks}"))
        return
    plugins.append(plugin)
    offers += found


def _checked(backend: object) -> Backend[Any]:
    if not isinstance(backend, Backend):
        raise TypeError(f"a hook returned {type(backend).__name__}; each item must be a Backend")
    return backend


def _clashes(offers: Sequence[Offer]) -> Iterable[str]:
    for kind in HOOKS:
        of_kind = [offer for offer in offers if offer.kind == kind]
        for name in sorted({offer.backend.name for offer in of_kind}):
            sources = [_source(o.plugin) for o in of_kind if o.backend.name == name]
            if len(sources) > 1:
                yield f"two plugins offer the {kind} {name!r}: {' and '.join(sources)}"


def _describe(point: EntryPoint) -> Plugin:
    distribution = point.dist
    if distribution is None:
        return Plugin(point.name, "unknown", "")
    metadata = distribution.metadata  # read once: name and version alone each parse it anew
    return Plugin(point.name, metadata["Name"], metadata["Version"])


def _broken(plugin: Plugin, error: str) -> Plugin:
    return Plugin(plugin.name, plugin.distribution, plugin.version, plugin.hooks, error)


def _source(plugin: Plugin) -> str:
    return f"{plugin.name} (distribution {plugin.distribution} {plugin.version})".replace(" )", ")")


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
