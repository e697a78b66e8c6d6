"""Veles Memory: the durable, explainable memory of AI agents.

The public names are imported on first use, so that a command which needs one of them
does not pay for all.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from veles_core.clock import Clock as Clock
    from veles_core.errors import BackendRefused as BackendRefused
    from veles_core.errors import BackendUnavailable as BackendUnavailable
    from veles_core.errors import ConfigurationError as ConfigurationError
    from veles_core.errors import Internal as Internal
    from veles_core.errors import InvalidInput as InvalidInput
    from veles_core.errors import NotFound as NotFound
    from veles_core.errors import VelesError as VelesError
    from veles_core.hookspecs import Backend as Backend
    from veles_core.hookspecs import Host as Host
    from veles_core.hookspecs import hookimpl as hookimpl
    from veles_core.memory.answers import Link as Link
    from veles_core.memory.service import MemoryService as MemoryService
    from veles_core.records import EmbeddingIdentity as EmbeddingIdentity
    from veles_core.records import Extraction as Extraction
    from veles_core.records import Predicate as Predicate
    from veles_core.server.app import open_memory as open_memory
    from veles_core.settings import BackendSettings as BackendSettings
    from veles_core.settings import variable as variable

_HOMES: Final = {
    "Backend": "hookspecs",
    "BackendRefused": "errors",
    "BackendSettings": "settings",
    "BackendUnavailable": "errors",
    "Clock": "clock",
    "ConfigurationError": "errors",
    "EmbeddingIdentity": "records",
    "Extraction": "records",
    "Host": "hookspecs",
    "Internal": "errors",
    "InvalidInput": "errors",
    "Link": "memory.answers",
    "MemoryService": "memory.service",
    "NotFound": "errors",
    "Predicate": "records",
    "VelesError": "errors",
    "hookimpl": "hookspecs",
    "open_memory": "server.app",
    "variable": "settings",
}

__all__ = [
    "Backend",
    "BackendRefused",
    "BackendSettings",
    "BackendUnavailable",
    "Clock",
    "ConfigurationError",
    "EmbeddingIdentity",
    "Extraction",
    "Host",
    "Internal",
    "InvalidInput",
    "Link",
    "MemoryService",
    "NotFound",
    "Predicate",
    "VelesError",
    "hookimpl",
    "open_memory",
    "variable",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"veles_core.{_HOMES[name]}"), name)
