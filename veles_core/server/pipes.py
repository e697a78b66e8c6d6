"""The process's standard streams, taken for the protocol before anything else can print.

Imports nothing but the standard library, so that the streams are safe before the SDK or
any plugin is imported.
"""

import io
import os
import sys
from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True, slots=True)
class Pipes:
    """The client's end: requests come from ``input``, answers go to ``output``."""

    input: BinaryIO
    output: BinaryIO


def claim() -> Pipes:
    """Take standard input and output for the protocol.

    From here on descriptor 0 is empty and descriptor 1 is standard error, for this
    process and its children, whatever a library prints or reads.
    """
    pipes = Pipes(os.fdopen(_private(0), "rb"), os.fdopen(_private(1), "wb"))
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # started without a standard error
        os.dup2(empty, 1)
    os.close(empty)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a print must not fail for want of a character
            stream.reconfigure(errors="backslashreplace", line_buffering=True)
    return pipes


def _private(descriptor: int) -> int:
    """A duplicate that children don't inherit; a closed stream counts as an empty one."""
    try:
        return os.dup(descriptor)
    except OSError:
        return os.open(os.devnull, os.O_RDWR)
