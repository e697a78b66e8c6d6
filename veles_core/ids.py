"""Ids: unsigned 64-bit BLAKE2b digests, one space per kind of thing.

Each space has its own BLAKE2b ``person``, so that an id of one kind says nothing about
another and nobody can aim a text of one kind at the slot of another.
"""

import hashlib
import re
import unicodedata
from typing import Final

from veles_core.errors import InvalidInput
from veles_core.limits import MAX_ID

_DECIMAL: Final = re.compile(r"[0-9]{1,20}")


def _digest(space: bytes, *parts: bytes) -> int:
    """Digest of length-prefixed parts, so that no two part lists share an encoding."""
    digest = hashlib.blake2b(digest_size=8, person=space)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return int.from_bytes(digest.digest(), "big")


def fact_id(content: str) -> int:
    """Id of a fact: its text in NFC without surrounding whitespace; case and inner space count."""
    return _digest(b"veles.fact", identity_text(content).encode())


def identity_text(content: str) -> str:
    """The form of a fact's text that decides whether two texts are one memory."""
    return unicodedata.normalize("NFC", content).strip()


def entity_name(name: str) -> str:
    """The form of an entity's name that decides whether two names are one entity."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def entity_id(name: str) -> int:
    """Id of the hub of the entity called ``name``, whatever its case, width or spacing."""
    return _digest(b"veles.entity", entity_name(name).encode())


def edge_id(source: int, relation: str, target: int) -> int:
    """Id of the edge ``source relation target``; the relation is trimmed first."""
    ends = source.to_bytes(8, "big") + target.to_bytes(8, "big")
    return _digest(b"veles.edge", ends, relation.strip().encode())


def source_id(content: bytes) -> int:
    """Id of a context fragment and of its stored source: a digest of its exact bytes."""
    return _digest(b"veles.source", content)


def working_id(project: str, session: str) -> int:
    """Id of the working context saved under the pair (project, session)."""
    return _digest(b"veles.working", project.encode(), session.encode())


def parse_id(value: object, field: str) -> int:
    """An id as a client may send it: a JSON integer or a decimal string of ASCII digits.

    Raises InvalidInput naming ``field`` for anything else, floats and booleans included:
    a float has already lost the low bits of most ids.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
        number = int(value.strip())
    else:
        raise InvalidInput(
            f"{field} must be a decimal string or an integer, as an id_str of an earlier answer",
            field=field,
            actual=f"{type(value).__name__} {str(value)[:40]}",
        )
    if not 0 <= number <= MAX_ID:
        raise InvalidInput(
            f"{field} {number} is not an id: ids run from 0 to 2^64-1; relay an id_str unchanged",
            field=field,
            limit=str(MAX_ID),
            actual=str(number)[:40],
        )
    return number
