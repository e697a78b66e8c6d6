"""What an image costs by the header that its bytes really have."""

import base64
import struct
import zlib

import pytest

from veles_core.context.media import count_tokens, decode
from veles_core.errors import InvalidInput


class Bytes:
    def count(self, text):
        return len(text.encode())


def png(width, height, *, declared=None, payload=None, crc=None, bits=8, colour=2):
    def chunk(kind, data, crc=None):
        crc = zlib.crc32(kind + data) if crc is None else crc
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)

    header = struct.pack(">IIBBBBB", *(declared or (width, height)), bits, colour, 0, 0, 0)
    rows = payload if payload is not None else zlib.compress((b"\0" + b"\x55" * width * 3) * height)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header, crc)
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


def jpeg(width, height, payload=b"\0" * 600, before=b""):
    frame = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03" + b"\0" * 9
    exif = b"\xff\xe1" + struct.pack(">H", 42) + b"\0" * 40
    return b"\xff\xd8" + exif + before + frame + b"\xff\xda" + payload + b"\xff\xd9"


def over_count(data):
    return len(base64.b64encode(data))


@pytest.mark.parametrize(
    ("data", "tokens"),
    [
        (png(100, 100), 14),
        (png(750, 1), 1),
        (png(751, 1), 2),
        (png(1, 1), 1),
        (jpeg(100, 100), 14),
        (jpeg(200, 90), 24),
        (jpeg(100, 100, before=b"\xff\xff\xff\xdb\x00\x05\0\0\0"), 14),
    ],
)
def test_an_honest_header_gives_the_area(data, tokens):
    assert count_tokens(data, Bytes()) == tokens


@pytest.mark.parametrize(
    "data",
    [
        png(10, 10, declared=(20_000, 20_000)),
        png(10, 10, declared=(2**31, 2**31)),
        png(10, 10, declared=(0, 10)),
        png(10, 10, crc=7),
        png(10, 10, bits=3),
        png(10, 10, colour=5),
        png(1, 1, payload=bytes(range(256)) * 200),
        jpeg(60_000, 60_000),
        jpeg(0, 10),
        jpeg(8, 8, payload=b"\x55" * 80_000),
        b"\x89PNG\r\n\x1a\n",
        png(10, 10)[:28],
        b"\xff\xd8\xff",
        b"\xff\xd8" + b"\xff" * 4000,
        b"\xff\xd8\xff\xe1\x00\x00" * 50,
        b"GIF89a\x0a\x00\x0a\x00",
        b"%PDF-1.7",
        b"plain text",
    ],
)
def test_a_lying_or_unknown_header_falls_back_to_the_base64_text(data):
    assert count_tokens(data, Bytes()) == over_count(data)


@pytest.mark.parametrize("data", [b"\0", b"ab", b"abc", bytes(range(256))])
def test_canonical_base64_is_decoded(data):
    assert decode(base64.b64encode(data).decode(), "media") == data


@pytest.mark.parametrize(
    "text", ["", "!!", "YQ", "YQ=", "YR==", "YW Jj", "YWJj\n", "YWJj====", "-_-_", "é", "\ud800"]
)
def test_broken_base64_is_refused_with_its_field(text):
    with pytest.raises(InvalidInput, match="not valid base64") as refused:
        decode(text, "fragments[3].media.bytes_b64")
    assert refused.value.field == "fragments[3].media.bytes_b64"
