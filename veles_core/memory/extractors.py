"""Which extractor reads a passage: the configured one, or the outline, which needs nothing."""

import threading
from collections.abc import Callable, Sequence
from typing import Final

from veles_core.errors import ConfigurationError, InvalidInput
from veles_core.protocols import Extractor

OUTLINE: Final = "outline"  # always there, whatever is configured


class Extractors:
    """The extractors that calls may choose from, each opened at its first use. Thread-safe.

    ``default`` is the configured one's name, None without one; ``installed`` are the
    names that could be configured; ``open`` opens one by name.
    """

    def __init__(
        self, open: Callable[[str], Extractor], installed: Sequence[str], default: str | None
    ) -> None:
        self.default = default
        self._open = open
        self._installed = installed
        self._opened: dict[str, Extractor] = {}
        self._lock = threading.Lock()

    def offers(self, name: str) -> bool:
        """Whether this process can extract with the extractor called ``name``."""
        return name in (OUTLINE, self.default)

    def chosen(self, name: str | None) -> str:
        """The extractor that a call means; ``name`` None means the configured one.

        Raises ConfigurationError if none is configured for it, InvalidInput if another
        one is or if there is none of that name.
        """
        way_out = f"set VELESDB_MEMORY_EXTRACTOR, or ask for the extractor {OUTLINE!r}"
        if name is None:
            if self.default is None:
                raise ConfigurationError(f"no extractor is configured: {way_out}")
            return self.default
        if self.offers(name):
            return name
        if name not in self._installed:
            raise InvalidInput(
                f"extractor {name[:80]!r} is unknown; there are {', '.join(self._installed)}",
                field="extractor",
                actual=name[:80],
            )
        if self.default is None:
            raise ConfigurationError(f"the extractor {name!r} is not configured: {way_out}")
        raise InvalidInput(
            f"extractor {name!r} is not the configured one, {self.default!r}: leave it out, "
            f"or ask for {OUTLINE!r}",
            field="extractor",
            actual=name,
        )

    def get(self, name: str) -> Extractor:
        """The extractor of that name, opened if need be; contacts nobody."""
        with self._lock:
            if name not in self._opened:
                self._opened[name] = self._open(name)
            return self._opened[name]

    def close(self) -> None:
        """Close those that were opened; idempotent."""
        with self._lock:
            while self._opened:
                self._opened.popitem()[1].close()


def _none(name: str) -> Extractor:
    raise ConfigurationError(f"this memory was opened without the extractor {name!r}")


NO_EXTRACTORS: Final = Extractors(_none, (), None)
