"""Snapshot files of derived indexes: named arrays that several processes map read-only.

A file is the arrays, each on a 64-byte boundary, then a JSON footer with their places
and checksums, its length, its checksum and a magic number. It is written beside its
place, synced and renamed, so a reader sees the old one or the new one. Whatever is wrong
with a file (missing, cut, a flipped bit, another format) it is as if it weren't there:
the index is rebuilt from the ledger.
"""

import json
import logging
import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

MAGIC: Final = b"VELESIX1"
ALIGNMENT: Final = 64
BLOCK_BYTES: Final = 1 << 20
SUFFIX: Final = ".snapshot"

_TAIL: Final = struct.Struct("<II8s")  # footer length, footer checksum, magic

log = logging.getLogger(__name__)

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a file holds: the change sequence it stands at, and its arrays (read-only maps)."""

    position: int
    arrays: Mapping[str, Array]


class Damaged(Exception):
    """The file is no snapshot of this kind and format."""


def write(
    path: Path, kind: str, position: int, arrays: Mapping[str, Array | Iterable[Array]]
) -> None:
    """Replace the file atomically; an array may come as blocks along its first axis."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for left_over in path.parent.glob(f"{path.name}.*.tmp"):
        left_over.unlink(missing_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            entries = [
                _write_array(file, name, [array] if isinstance(array, np.ndarray) else array)
                for name, array in arrays.items()
            ]
            footer = json.dumps({"kind": kind, "position": position, "arrays": entries}).encode()
            file.write(footer + _TAIL.pack(len(footer), zlib.crc32(footer), MAGIC))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_directory(path.parent)


def read(path: Path, kind: str) -> Snapshot | None:
    """The snapshot, every checksum verified; None if there is none that can be used."""
    try:
        return _read(path, kind)
    except FileNotFoundError:
        return None
    except (Damaged, OSError, ValueError, KeyError, TypeError) as error:
        log.warning("%s can't be used and will be rebuilt: %s", path.name, error)
        return None


def problem(path: Path) -> str | None:
    """What is wrong with a file that is there; None if nothing is or there is no file."""
    try:
        _read(path, None)
    except FileNotFoundError:
        return None
    except (Damaged, OSError, ValueError, KeyError, TypeError) as error:
        return str(error)
    return None


def _write_array(file: BinaryIO, name: str, blocks: Iterable[Array]) -> dict[str, Any]:
    file.write(bytes(-file.tell() % ALIGNMENT))
    offset, checksum, length = file.tell(), 0, 0
    shape: tuple[int, ...] = (0,)
    dtype = "|u1"
    for block in blocks:
        contiguous = np.ascontiguousarray(block)
        data = contiguous.reshape(-1).view(np.uint8).data
        checksum = zlib.crc32(data, checksum)
        file.write(data)
        length += len(block)
        shape, dtype = block.shape, block.dtype.str
    return {
        "name": name,
        "dtype": dtype,
        "shape": [length, *shape[1:]],
        "offset": offset,
        "checksum": checksum,
    }


def _read(path: Path, kind: str | None) -> Snapshot:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        footer = _read_footer(file, size)
        if kind is not None and footer["kind"] != kind:
            raise Damaged(f"it is a snapshot of {footer['kind']!r}, not of {kind!r}")
        for entry in footer["arrays"]:
            _verify(file, entry)
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays = {
        entry["name"]: np.frombuffer(
            mapped, entry["dtype"], int(np.prod(entry["shape"])), entry["offset"]
        ).reshape(entry["shape"])
        for entry in footer["arrays"]
    }
    return Snapshot(footer["position"], arrays)


def _read_footer(file: BinaryIO, size: int) -> dict[str, Any]:
    if size < _TAIL.size:
        raise Damaged(f"it is {size} bytes short")
    file.seek(size - _TAIL.size)
    length, checksum, magic = _TAIL.unpack(file.read(_TAIL.size))
    if magic != MAGIC or length > size - _TAIL.size:
        raise Damaged("it was cut or is of another format")
    file.seek(size - _TAIL.size - length)
    footer = file.read(length)
    if zlib.crc32(footer) != checksum:
        raise Damaged("its footer has a wrong checksum")
    parsed: dict[str, Any] = json.loads(footer)
    return parsed


def _verify(file: BinaryIO, entry: Mapping[str, Any]) -> None:
    """Read an array once through a small buffer, so that verifying maps nothing."""
    left = int(np.prod(entry["shape"])) * np.dtype(entry["dtype"]).itemsize
    file.seek(entry["offset"])
    buffer = memoryview(bytearray(BLOCK_BYTES))
    checksum = 0
    while left > 0:
        got = file.readinto(buffer[: min(left, BLOCK_BYTES)])  # type: ignore[attr-defined]
        if not got:
            raise Damaged(f"its {entry['name']} end too early")
        checksum = zlib.crc32(buffer[:got], checksum)
        left -= got
    if checksum != entry["checksum"]:
        raise Damaged(f"its {entry['name']} have a wrong checksum")


def _sync_directory(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
