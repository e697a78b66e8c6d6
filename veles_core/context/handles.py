"""Handles: the names under which original sources are fetched back."""

import re
from typing import Final

from veles_core.errors import InvalidInput
from veles_core.limits import MAX_ID

_HANDLE: Final = re.compile(r"ctx://source/(0|[1-9][0-9]{0,19})")


def handle_of(source_id: int) -> str:
    """The handle of a source."""
    return f"ctx://source/{source_id}"


def parse_handle(handle: str) -> int:
    """The source id in a handle. Raises InvalidInput for anything but the exact form."""
    match = _HANDLE.fullmatch(handle)
    if match is None or int(match[1]) > MAX_ID:
        raise InvalidInput(
            f"handle {handle[:60]!r} is not of the form ctx://source/<decimal id>: "
            "relay one of a compiled context unchanged",
            field="handle",
            actual=handle[:60],
        )
    return int(match[1])
