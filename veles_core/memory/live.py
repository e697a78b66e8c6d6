"""The memory as its background work sees it: what serves now, whichever epoch that is."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from veles_core.protocols import Embedder, Store

T = TypeVar("T")


class Live(Protocol):
    """The store that serves now and the embedder that fills it."""

    @property
    def store(self) -> Store:
        """Facts, edges and documents."""
        ...

    @property
    def embedder(self) -> Embedder:
        """What new facts are embedded by."""
        ...


class Memory(Protocol):
    """A memory whose store and embedder may change under whoever works on it."""

    def live(self) -> Live:
        """What serves now."""
        ...

    def write(self, change: Callable[[Live], T]) -> T:
        """Make a change on what serves, again if a migration hands over meanwhile."""
        ...
