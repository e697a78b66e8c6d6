"""Veles Memory: the durable, explainable memory of AI agents.

The public names are imported on first use, so that a command which needs one of them
does not pay for all.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from veles_core.clock import Clock as Clock
    from veles_core.hookspecs import Backend as Backend
    from veles_core.hookspecs import Host as Host
    from veles_core.hookspecs import hookimpl as hookimpl
    from veles_core.settings import BackendSettings as BackendSettings
    from veles_core.settings import variable as variable

_HOMES: Final = {
    "Backend": "veles_core.hookspecs",
    "BackendSettings": "veles_core.settings",
    "Clock": "veles_core.clock",
    "Host": "veles_core.hookspecs",
    "hookimpl": "veles_core.hookspecs",
    "variable": "veles_core.settings",
}

__all__ = sorted(_HOMES)
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
