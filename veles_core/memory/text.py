"""Texts as callers give them: trimmed, measured in UTF-8, refused with their size."""

from veles_core.errors import InvalidInput
from veles_core.limits import MAX_EMBEDDABLE_TEXT_BYTES


def checked_text(text: str, field: str, limit: int = MAX_EMBEDDABLE_TEXT_BYTES) -> str:
    """The text without surrounding whitespace, refused if empty, too long or not text."""
    if not isinstance(text, str):
        raise InvalidInput(f"{field} must be a string", field=field, actual=type(text).__name__)
    text = text.strip()
    if not text:
        raise InvalidInput(f"{field} is empty; give it some text", field=field)
    size = byte_length(text, field)
    if size > limit:
        raise InvalidInput(
            f"{field} is {size} bytes; at most {limit} fit an embedding model's window: "
            "split it into several facts, or use remember_extracted",
            field=field,
            limit=limit,
            actual=size,
        )
    return text


def byte_length(text: str, field: str) -> int:
    """The size in UTF-8; refuses half surrogate pairs, which have none."""
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInput(
            f"{field} holds half of a surrogate pair, which is no character", field=field
        ) from None
