"""User files: the only place that reads them, and only below the configured roots.

A file is opened first and checked afterwards, on the descriptor that is then read, so
that nothing can be swapped in between. Errors name the path that was asked for, never
where a link led.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from veles_core.errors import ContextOverLimit, IngestDisabled, IngestOutsideRoots, IngestPath
from veles_core.limits import MAX_INGEST_FILES, MAX_INGEST_TOTAL_BYTES

_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


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
    if "\0" in path or not Path(path).is_absolute():
        raise IngestPath(f"{field}: {_shown(path)} is not an absolute path", field=field)
    if taken.files >= MAX_INGEST_FILES:
        raise ContextOverLimit(
            f"{field}: more than {MAX_INGEST_FILES} files in one request",
            field=field,
            limit=MAX_INGEST_FILES,
        )
    descriptor = _opened(path, field)
    try:
        _check_inside(path, descriptor, roots, field)
        _check_file(path, descriptor, limit, field)
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


def _opened(path: str, field: str) -> int:
    try:
        # O_NONBLOCK: a FIFO without a writer must not hold the call.
        return os.open(path, _FLAGS)
    except OSError as error:
        raise IngestPath(
            f"{field}: {_shown(path)} can't be read ({error.strerror})", field=field
        ) from None


def _check_inside(path: str, descriptor: int, roots: Sequence[Path], field: str) -> None:
    """What was opened must be what the path resolves to, and that below a root."""
    opened, resolved = os.fstat(descriptor), Path(path).resolve()
    try:
        named = resolved.stat()
    except OSError:
        named = None
    same = named is not None and (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)
    if not same or not any(resolved.is_relative_to(root.resolve()) for root in roots):
        raise IngestOutsideRoots(
            f"{field}: {_shown(path)} is outside of the directories in VELESDB_MEMORY_INGEST_ROOTS",
            field=field,
        )


def _check_file(path: str, descriptor: int, limit: int, field: str) -> None:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise IngestPath(f"{field}: {_shown(path)} is not a regular file", field=field)
    _check_size(path, found.st_size, limit, field)


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
