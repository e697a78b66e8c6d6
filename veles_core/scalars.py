"""Order-preserving keys of JSON values: what makes predicates exact in any database.

``sort_key`` maps a JSON value to bytes such that, within one JSON type, comparing the
bytes compares the values: numbers exactly, whatever their size and whether int or float
(1 and 1.0 share a key), strings by code point, booleans false before true. Null, lists
and objects get keys that are equal exactly if the values are structurally equal. The
first byte names the type, so values of two types never compare equal.
"""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

BOOLEAN: Final = b"b"
NUMBER: Final = b"n"
STRING: Final = b"s"
STRUCTURE: Final = b"z"

_COMPLEMENT: Final = bytes(255 - byte for byte in range(256))
_EXPONENT_BIAS: Final = 1 << 31


def sort_key(value: Any) -> bytes:
    """The key of one JSON value. Raises ValueError for NaN, infinities and non-JSON."""
    if isinstance(value, bool):
        return BOOLEAN + (b"1" if value else b"0")
    if isinstance(value, (int, float)):
        return NUMBER + number_key(value)
    if isinstance(value, str):
        return STRING + value.encode()
    return STRUCTURE + _structure_key(value)


def number_key(value: int | float) -> bytes:
    """Bytes that order as the numbers do, exactly, with no limit on size.

    A number is ± 0.d1d2… · 10^e with d1 ≠ 0: the sign, then e, then the digits. For
    negative numbers the magnitude is complemented and closed by 0xFF, so that the
    longer digit string sorts first.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    sign, digits, exponent = _decimal(value)
    if not digits:
        return b"1"
    magnitude = (exponent + _EXPONENT_BIAS).to_bytes(4, "big") + digits
    if sign:
        return b"0" + magnitude.translate(_COMPLEMENT) + b"\xff"
    return b"2" + magnitude


def _decimal(value: int | float) -> tuple[int, bytes, int]:
    """Sign, significant digits without outer zeros, and exponent of 0.digits · 10^e."""
    if isinstance(value, int):
        sign, magnitude = (1, -value) if value < 0 else (0, value)
        text = Decimal(magnitude).as_tuple()
        digits, scale = bytes(48 + digit for digit in text.digits), 0
    else:
        parts = Decimal(value).as_tuple()
        sign, digits = parts.sign, bytes(48 + digit for digit in parts.digits)
        scale = int(parts.exponent)
    digits = digits.lstrip(b"0")
    exponent = len(digits) + scale
    return sign, digits.rstrip(b"0"), exponent


def _structure_key(value: Any) -> bytes:
    """Canonical, self-delimiting bytes of null, a list or an object."""
    if value is None:
        return b"0"
    if isinstance(value, (list, tuple)):
        return b"[" + b"".join(_delimited(sort_key(item)) for item in value)
    if isinstance(value, Mapping):
        pairs = sorted((sort_key(key), sort_key(item)) for key, item in value.items())
        return b"{" + b"".join(_delimited(key) + _delimited(item) for key, item in pairs)
    raise ValueError(f"{type(value).__name__} is not a JSON type")


def _delimited(key: bytes) -> bytes:
    return len(key).to_bytes(4, "big") + key


def type_range(key: bytes) -> tuple[bytes, bytes]:
    """The half-open range of keys that have the same JSON type as ``key``."""
    return key[:1], bytes([key[0] + 1])
