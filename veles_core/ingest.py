"""User files: the only place that reads them, and only below the configured roots.

A path is resolved, held against the roots, and what it resolved to is then opened
component by component without following a link, from the root down. So whatever is
swapped meanwhile, nothing outside of a root is ever opened, and all further checks are
made on the descriptor that is read. Errors name the path that was asked for, never where
a link led, and say nothing of what exists outside.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from veles_core.errors import ContextOverLimit, IngestDisabled, IngestOutsideRoots, IngestPath
from veles_core.limits import MAX_INGEST_FILES, MAX_INGEST_TOTAL_BYTES

_DIRECTORY: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY
# O_NONBLOCK: a FIFO without a writer must not hold the call.
_FILE: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


@dataclass(frozen=True, slots=True)
class Taken:
    """How many files and bytes one request has read so far."""

    files: int = 0
    bytes: int = 0


def read_text(
    path: str, roots: Sequence[Path], limit: int, field: str, taken: Taken = Taken()
) -> tuple[str, Taken]:
    """The text of one file of at most ``limit`` bytes, and what has been taken with it.

    Raises IngestDisabled without roots, IngestPath for what is no absolute path of a
    readable regular UTF-8 file, IngestOutsideRoots for what resolves elsewhere, and
    ContextOverLimit for a file, or a request, that is too large.
    """
    if not roots:
        raise IngestDisabled(
            f"{field}: reading files is off; set VELESDB_MEMORY_INGEST_ROOTS to the directories "
            "that may be read, or send the text itself",
            field=field,
        )
    if not _is_absolute(path):
        raise IngestPath(f"{field}: {_shown(path)} is not an absolute path", field=field)
    if taken.files >= MAX_INGEST_FILES:
        raise ContextOverLimit(
            f"{field}: more than {MAX_INGEST_FILES} files in one request",
            field=field,
            limit=MAX_INGEST_FILES,
        )
    descriptor = _opened(path, roots, field)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise IngestPath(f"{field}: {_shown(path)} is not a regular file", field=field)
        _check_size(path, found.st_size, limit, field)
        data = _read(descriptor, limit + 1)
    finally:
        os.close(descriptor)
    _check_size(path, len(data), limit, field)
    total = taken.bytes + len(data)
    if total > MAX_INGEST_TOTAL_BYTES:
        raise ContextOverLimit(
            f"{field}: the files of this request are over {MAX_INGEST_TOTAL_BYTES} bytes together",
            field=field,
            limit=MAX_INGEST_TOTAL_BYTES,
            actual=total,
        )
    try:
        return data.decode(), Taken(taken.files + 1, total)
    except UnicodeDecodeError as error:
        raise IngestPath(
            f"{field}: {_shown(path)} is not UTF-8 text (byte {error.start})", field=field
        ) from None


def _is_absolute(path: str) -> bool:
    """Whether this is an absolute path at all; a NUL or a lone surrogate is in none."""
    try:
        return b"\0" not in os.fsencode(path) and Path(path).is_absolute()
    except UnicodeEncodeError:
        return False


def _opened(path: str, roots: Sequence[Path], field: str) -> int:
    """A descriptor of what the path resolves to, which is below one of the roots."""
    try:
        resolved = Path(os.path.realpath(path))
        below = (root for root in map(os.path.realpath, roots) if resolved.is_relative_to(root))
        root = next(below, None)
        if root is not None:
            return _walk(root, resolved.relative_to(root).parts)
    except OSError as error:
        raise IngestPath(
            f"{field}: {_shown(path)} can't be read ({error.strerror})", field=field
        ) from None
    raise IngestOutsideRoots(
        f"{field}: {_shown(path)} is outside of the directories in VELESDB_MEMORY_INGEST_ROOTS",
        field=field,
    )


def _walk(root: str, parts: Sequence[str]) -> int:
    """Open ``parts`` below ``root``, one by one, where none may be a link."""
    at = os.open(root, _DIRECTORY)
    for number, part in enumerate(parts, start=1):
        flags = _FILE if number == len(parts) else _DIRECTORY | os.O_NOFOLLOW
        try:
            deeper = os.open(part, flags, dir_fd=at)
        finally:
            os.close(at)
        at = deeper
    return at


def _check_size(path: str, size: int, limit: int, field: str) -> None:
    if size > limit:
        raise ContextOverLimit(
            f"{field}: {_shown(path)} has {size} bytes or more; at most {limit} are read",
            field=field,
            limit=limit,
            actual=size,
        )


def _read(descriptor: int, most: int) -> bytes:
    """Up to ``most`` bytes: a file that grows while it is read is found out by its size."""
    parts: list[bytes] = []
    while most > 0 and (part := os.read(descriptor, min(most, 1 << 20))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _shown(path: str) -> str:
    return repr(path if len(path) <= 200 else path[:200] + "…")
