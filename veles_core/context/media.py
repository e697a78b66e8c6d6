"""Media: decoding, and what an image costs by the header its bytes really have.

A provider bills an image by its area. The declared mime is not looked at; a header is
believed only if the payload can hold such an image and needs one that large.
"""

import base64
import binascii
import zlib
from typing import Final, NamedTuple

from veles_core.errors import InvalidInput
from veles_core.protocols import Tokenizer

PIXELS_PER_TOKEN: Final = 750

_PNG: Final = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"
_PNG_CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # colour type → samples a pixel
_DEFLATE_RATIO: Final = 1032  # no deflate stream expands further
_PNG_EXTRAS: Final = 16 << 10  # palettes, profiles, text chunks

_JPEG_PIXELS_PER_BYTE: Final = 512  # an 8×8 block takes at least one bit
_JPEG_BYTES_PER_PIXEL: Final = 6  # above quality 100 without subsampling
_JPEG_EXTRAS: Final = 64 << 10  # one EXIF segment with its thumbnail
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE: Final = frozenset({0x01, *range(0xD0, 0xD8)})  # markers without a length


class Image(NamedTuple):
    """Size in pixels, and the bytes that an image of that size takes at least and at most."""

    width: int
    height: int
    least: int
    most: int


def decode(bytes_b64: str, field: str) -> bytes:
    """The bytes of canonical base64. Raises InvalidInput naming ``field`` for anything else.

    Only the canonical form gives the submitted text back when it is encoded again.
    """
    try:
        data = base64.b64decode(bytes_b64, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data or base64.b64encode(data) != bytes_b64.encode("ascii", "replace"):
        raise InvalidInput(
            f"{field} is not valid base64 ({len(bytes_b64)} characters): send the padded "
            "standard alphabet without line breaks",
            field=field,
            actual=len(bytes_b64),
        )
    return data


def count_tokens(data: bytes, tokenizer: Tokenizer) -> int:
    """What media costs: its area if the header is honest, else its base64 text."""
    image = _png(data) or _jpeg(data)
    if image is None or not image.least <= len(data) <= image.most:
        return tokenizer.count(base64.b64encode(data).decode())
    return -(-image.width * image.height // PIXELS_PER_TOKEN)


def _png(data: bytes) -> Image | None:
    if len(data) < 33 or not data.startswith(_PNG):
        return None
    if zlib.crc32(data[12:29]) != int.from_bytes(data[29:33], "big"):
        return None
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    samples = _PNG_CHANNELS.get(data[25])
    if not width or not height or samples is None or data[24] not in (1, 2, 4, 8, 16):
        return None
    raw = height * (1 + -(-width * samples * data[24] // 8))
    return Image(width, height, -(-raw // _DEFLATE_RATIO), raw + raw // 16 + _PNG_EXTRAS)


def _jpeg(data: bytes) -> Image | None:
    if not data.startswith(b"\xff\xd8\xff"):
        return None
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _JPEG_FRAMES:
            height = int.from_bytes(data[at + 5 : at + 7], "big")
            width = int.from_bytes(data[at + 7 : at + 9], "big")
            area = width * height
            if not area:
                return None
            most = area * _JPEG_BYTES_PER_PIXEL + _JPEG_EXTRAS
            return Image(width, height, area // _JPEG_PIXELS_PER_BYTE, most)
        if marker == 0xFF:
            at += 1  # padding
        elif marker in _JPEG_BARE:
            at += 2
        else:
            at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4], "big"))
    return None
