"""The errors of the service, and how each reaches a client.

::

    VelesError
    ├── InvalidInput            -32602  the caller's argument is refused
    │   ├── IngestDisabled              no ingest root is configured
    │   ├── IngestOutsideRoots          the path does not resolve under a root
    │   ├── IngestPath                  the path is not a readable regular UTF-8 file
    │   └── ContextOverLimit            a compile request is over a size limit
    ├── NotFound                -32602  a well-formed id that nothing answers to
    └── Internal                -32603  the service could not do its part
        ├── StoreError                  the store failed or holds something else
        ├── BackendUnavailable          a remote backend did not answer; trying again may help
        ├── BackendRefused              a remote backend answered, but not with what was asked
        ├── ConfigurationError          settings that cannot be served with
        └── EmbeddingMismatch           the store was filled by another embedding model
"""

from typing import ClassVar, Literal

Category = Literal["InvalidInput", "NotFound", "Internal"]


class VelesError(Exception):
    """Base of everything this package raises on purpose.

    ``message`` is a sentence for the person at the other end: what was refused, the
    value or size seen, the limit, the way out. ``field``, ``limit`` and ``actual``
    repeat the machine-readable parts and become the wire's ``data``.
    """

    category: ClassVar[Category] = "Internal"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        limit: float | str | None = None,
        actual: float | str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.limit = limit
        self.actual = actual

    def data(self) -> dict[str, object]:
        """The ``data`` member of the JSON-RPC error; absent parts are left out."""
        parts = {"field": self.field, "limit": self.limit, "actual": self.actual}
        return {"category": self.category} | {k: v for k, v in parts.items() if v is not None}


class InvalidInput(VelesError):
    """An argument is refused; nothing was stored."""

    category = "InvalidInput"


class IngestDisabled(InvalidInput):
    """A ``path`` was given, but no ingest root is configured."""


class IngestOutsideRoots(InvalidInput):
    """A ``path`` does not resolve under any configured ingest root."""


class IngestPath(InvalidInput):
    """A ``path`` is not an absolute path of a readable regular UTF-8 file within limits."""


class ContextOverLimit(InvalidInput):
    """A compile request holds more fragments, bytes or files than allowed."""


class NotFound(VelesError):
    """A well-formed id or handle that nothing answers to."""

    category = "NotFound"


class Internal(VelesError):
    """The service could not do its part; the request was well formed."""


class StoreError(Internal):
    """The store failed, is damaged, or a slot holds something else."""


class BackendUnavailable(Internal):
    """A remote backend did not answer in time or failed transiently; trying again may help."""


class BackendRefused(Internal):
    """A remote backend answered, but with an error or with something that is not an answer."""


class ConfigurationError(Internal):
    """Settings that the service cannot be started or continued with."""


class EmbeddingMismatch(ConfigurationError):
    """The store was filled by another embedding model than the configured one."""
