"""Metadata: what a caller may write, and what a caller may see."""

import json
from collections.abc import Mapping
from typing import Any, Final

from veles_core.errors import InvalidInput
from veles_core.limits import MAX_METADATA_BYTES
from veles_core.memory.dates import is_date
from veles_core.records import Metadata

RESERVED_PREFIX: Final = "_veles_"
DATE: Final = "_veles_date"
DATE_GIVEN: Final = "_veles_date_given"  # the caller chose the date; re-remembering keeps it

_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def is_reserved(key: str) -> bool:
    """Whether a key is the service's own: never written, filtered on or shown to a caller."""
    return key == "content" or (key.startswith(RESERVED_PREFIX) and key != DATE)


def checked_metadata(metadata: Mapping[str, Any] | None, field: str = "metadata") -> dict[str, Any]:
    """The caller's metadata as plain JSON; an explicit ``_veles_date`` is marked as given.

    Raises InvalidInput for reserved keys, values that are not JSON, an impossible date,
    and more than 64 KiB.
    """
    if metadata is None:
        return {}
    checked = plain_json(metadata, field)
    for key in checked:
        if is_reserved(key):
            raise InvalidInput(
                f"{field} holds the reserved key {key[:80]!r}; choose another name "
                f"(of the reserved ones only {DATE} may be set)",
                field=field,
                actual=key[:80],
            )
    if DATE in checked:
        if not is_date(checked[DATE]):
            raise InvalidInput(
                f"{field}.{DATE} must be a calendar date as an integer YYYYMMDD, "
                f"such as 20260725, not {str(checked[DATE])[:40]!r}",
                field=field,
                actual=str(checked[DATE])[:40],
            )
        checked[DATE_GIVEN] = True
    return checked


def plain_json(
    value: Mapping[str, Any], field: str, limit: int = MAX_METADATA_BYTES
) -> dict[str, Any]:
    """A deep copy of a JSON object, refused if it is none or over ``limit`` bytes serialised."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InvalidInput(f"{field} must be a JSON object with string keys", field=field)
    try:
        text = _to_json(value)
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInput(
            f"{field} holds half of a surrogate pair, which is no character", field=field
        ) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{field} is not plain JSON: {str(error)[:200]}", field=field) from None
    if size > limit:
        raise InvalidInput(
            f"{field} is {size} bytes as JSON; at most {limit} are kept: move content into facts",
            field=field,
            limit=limit,
            actual=size,
        )
    copy: dict[str, Any] = json.loads(text)
    return copy


def visible(metadata: Metadata) -> dict[str, Any]:
    """The keys a caller may see: their own and ``_veles_date``."""
    return {key: value for key, value in metadata.items() if not is_reserved(key)}
