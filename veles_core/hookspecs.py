"""The four hooks. A plugin implements any of them as plain functions with ``@hookimpl``.

Each is called once, when the server assembles itself, takes nothing, does nothing but
return ``Backend`` records, and imports nothing heavy: that is for ``Backend.open``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import pluggy

from veles_core.clock import SYSTEM_CLOCK, Clock
from veles_core.protocols import Embedder, Extractor, Store, Tokenizer
from veles_core.records import EmbeddingIdentity

ENTRY_POINT_GROUP: Final = "veles"

hookspec = pluggy.HookspecMarker("veles")
hookimpl = pluggy.HookimplMarker("veles")

T = TypeVar("T", covariant=True)


@dataclass(frozen=True, slots=True)
class Host:
    """What the host gives a backend when it opens it.

    ``data_dir`` exists and is the backend's to use. ``epoch`` names one embedding epoch:
    a store keeps the data of each epoch apart (in a folder, schema or collection of that
    name), so that a migration can fill a new one beside the one that serves.
    ``identity`` is the embedding the store will hold; None for other kinds of backend.
    """

    data_dir: Path
    clock: Clock = SYSTEM_CLOCK
    epoch: str = "main"
    identity: EmbeddingIdentity | None = None


@dataclass(frozen=True, slots=True)
class Backend(Generic[T]):
    """One selectable implementation, described without opening it.

    ``name`` is what the environment variable selects. ``settings`` is a subclass of
    ``veles_core.settings.BackendSettings`` or None. ``open`` takes an instance of it (or
    None) and the host, imports what it needs and returns the live object. ``install`` is
    the exact command to show when a library is missing.
    """

    name: str
    summary: str
    open: Callable[[Any, Host], T]
    settings: type[Any] | None = None
    install: str | None = None


@hookspec
def veles_stores() -> Iterable[Backend[Store]]:
    """Stores that ``VELESDB_MEMORY_STORE`` can select."""


@hookspec
def veles_embedders() -> Iterable[Backend[Embedder]]:
    """Embedders that ``VELESDB_MEMORY_EMBEDDER`` can select."""


@hookspec
def veles_extractors() -> Iterable[Backend[Extractor]]:
    """Extractors that ``VELESDB_MEMORY_EXTRACTOR`` or a call can select."""


@hookspec
def veles_tokenizers() -> Iterable[Backend[Tokenizer]]:
    """Tokenizers that ``VELESDB_MEMORY_TOKENIZER`` can select."""
