"""Records as Chroma's rows and back.

Chroma's metadata are flat and lossy, so each row carries the exact record as JSON and,
beside it, flat copies that queries use. All copies are strings or 64-bit integers: what
is compared is compared exactly. Ids and floats become integers of the same order.
"""

import json
import struct
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

from veles_core.records import Document, Edge, Fact, FactRecord, Metadata
from veles_core.scalars import sort_key

Row = Mapping[str, Any]

_OFFSET: Final = 1 << 63
FOREVER: Final = _OFFSET - 1  # the expiry of what has none
COMMITTED: Final = 0  # the ``written`` mark of what is not part of an open transaction


def ordered_id(number: int) -> int:
    """An unsigned id as the signed integer of the same order."""
    return number - _OFFSET


def ordered_float(value: float) -> int:
    """A float as an integer of the same order, exactly; both zeros are 0."""
    (bits,) = struct.unpack(">q", struct.pack(">d", value))
    return int(bits) if bits >= 0 else -(bits & (_OFFSET - 1))


def ordered_number(value: int | float) -> int:
    """A JSON number as ``ordered_float`` of the nearest float; never out of order."""
    try:
        return ordered_float(float(value))
    except OverflowError:
        return ordered_float(float("inf") if value > 0 else float("-inf"))


def ordered_text(value: str) -> int:
    """The first eight bytes of a text as an integer; texts that share them are equal here."""
    return int.from_bytes(value.encode()[:8].ljust(8, b"\0"), "big") - _OFFSET


def field_name(kind: str, field: str) -> str:
    """The metadata key of a flat copy of a field; ``kind`` is eq, number or text."""
    return f"{kind}.{blake2b(field.encode(), digest_size=16).hexdigest()}"


def value_digest(value: Any) -> str:
    """A text that two JSON values share exactly if they are equal."""
    return blake2b(sort_key(value), digest_size=16).hexdigest()


def expiry(expires_at: float | None) -> int:
    """An instant as it is stored and compared."""
    return FOREVER if expires_at is None else ordered_float(expires_at)


def instant(stored: int) -> float | None:
    """The instant that is stored as this."""
    if stored == FOREVER:
        return None
    (value,) = struct.unpack(">d", struct.pack(">q", stored))
    return float(value)


def fact_row(record: FactRecord, written: int, old: Row | None) -> dict[str, Any]:
    """The metadata of a fact or hub that replaces ``old``; its content is the document."""
    fact = record.fact
    row = {
        "id": ordered_id(fact.id),
        "expires": expiry(fact.expires_at),
        "vector": int(record.vector is not None),
        "written": written,
        "fact": exact_json(fact.metadata, fact.confidence),
    }
    return replacing(old or {}, row | flat_copies(fact))


def exact_json(metadata: Metadata, confidence: float) -> str:
    """What of a fact Chroma's own types could not carry exactly."""
    return json.dumps({"metadata": metadata, "confidence": confidence}, allow_nan=False)


def flat_copies(fact: Fact) -> dict[str, Any]:
    """What predicates are evaluated on, by Chroma: the keys that hold a dot."""
    copies: dict[str, Any] = {}
    for field, value in fact.metadata.items():
        copies[field_name("eq", field)] = value_digest(value)
        if isinstance(value, str):
            copies[field_name("text", field)] = ordered_text(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            copies[field_name("number", field)] = ordered_number(value)
    return copies


def replacing(old: Row, new: Row) -> dict[str, Any]:
    """The new row, and None for what only the old one has: Chroma merges what it is given."""
    gone = [key for key in old if key not in new and "." in key]
    return {**dict.fromkeys(gone), **new}


def to_fact(row: Row, content: str, hub: bool) -> Fact:
    """The fact or hub of a row."""
    exact = json.loads(row["fact"])
    return Fact(
        row["id"] + _OFFSET,
        content,
        exact["metadata"],
        exact["confidence"],
        instant(row["expires"]),
        "entity" if hub else "fact",
    )


def edge_row(edge: Edge) -> dict[str, Any]:
    """The metadata of an edge."""
    return {
        "id": ordered_id(edge.id),
        "source": ordered_id(edge.source),
        "target": ordered_id(edge.target),
        "relation": edge.relation,
    }


def to_edge(row: Row) -> Edge:
    """The edge of a row."""
    return Edge(
        row["id"] + _OFFSET, row["source"] + _OFFSET, row["relation"], row["target"] + _OFFSET
    )


def document_id(namespace: str, key: str) -> str:
    """The row id of a document; within a namespace it orders as the keys do."""
    return f"document.{namespace.encode().hex()}.{key.encode().hex()}"


def document_key(row_id: str) -> str:
    """The key that is part of a document's row id."""
    return bytes.fromhex(row_id.rpartition(".")[2]).decode()


def document_row(namespace: str, document: Document) -> dict[str, Any]:
    """The metadata of a document. Not Chroma's own document: that one is indexed by words."""
    return {
        "namespace": namespace,
        "value": document.value.decode("latin-1"),
        "expires": expiry(document.expires_at),
    }


def to_document(row_id: str, row: Row) -> Document:
    """The document of a row."""
    return Document(document_key(row_id), row["value"].encode("latin-1"), instant(row["expires"]))


def spread(row_id: str) -> list[float]:
    """A vector for what has none: different for each row, so that Chroma's graph stays sane."""
    (number,) = struct.unpack(">I", blake2b(row_id.encode(), digest_size=4).digest())
    return [number / 2**32, 1.0]
