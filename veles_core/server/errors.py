"""Errors on the wire: every failure of a call becomes a JSON-RPC error, never a result."""

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from veles_core.errors import Category, VelesError

CODES: Final[dict[Category, int]] = {
    "InvalidInput": INVALID_PARAMS,
    "NotFound": INVALID_PARAMS,  # JSON-RPC has no "not found"; a bad id is a bad parameter
    "Internal": INTERNAL_ERROR,
}

_log = logging.getLogger(__name__)


def to_wire(error: VelesError) -> MCPError:
    """The JSON-RPC error of a failure raised on purpose."""
    return MCPError(CODES[error.category], error.message, error.data())


@contextmanager
def on_the_wire() -> Iterator[None]:
    """Turn whatever a call raises into its JSON-RPC error.

    A failure that nobody foresaw tells the client only a reference; the log has the rest.
    """
    try:
        yield
    except MCPError:
        raise
    except VelesError as error:
        raise to_wire(error) from None
    except Exception:
        reference = secrets.token_hex(4)
        _log.exception("unexpected failure, reference %s", reference)
        raise MCPError(
            INTERNAL_ERROR,
            f"internal error; the server's log has the details under reference {reference}",
            {"category": "Internal", "reference": reference},
        ) from None
