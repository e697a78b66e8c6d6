"""Records as rows and back: ids, metadata fields, word postings."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

from veles_core.records import Document, Edge, Fact, FactRecord
from veles_core.scalars import sort_key
from veles_core.words import terms
from veles_core.words.postings import K1, PIVOT, B

_OFFSET: Final = 1 << 63

FACT_COLUMNS: Final = "f.id, f.hub, f.content, f.metadata, f.confidence, f.expires_at"
VISIBLE: Final = "({0}.expires_at IS NULL OR {0}.expires_at > %(now)s)"


def stored_id(number: int) -> int:
    """An unsigned id as the signed integer of the same order."""
    return number - _OFFSET


def stored_ids(numbers: Iterable[int]) -> list[int]:
    """Several ids as they are stored."""
    return [number - _OFFSET for number in numbers]


def public_id(number: int) -> int:
    """The unsigned id that is stored as this."""
    return number + _OFFSET


def visible(table: str) -> str:
    """The condition that a row has not expired at %(now)s."""
    return VISIBLE.format(table)


def field_digest(name: str) -> bytes:
    """What a metadata key of any length is stored as."""
    return blake2b(name.encode(), digest_size=16).digest()


def term_key(term: str) -> int:
    """A term as a signed 64-bit integer."""
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def field_rows(fact: Fact) -> dict[bytes, bytes]:
    """Digest of each metadata key, and the sort key of its value."""
    return {field_digest(name): sort_key(value) for name, value in fact.metadata.items()}


def word_rows(fact: Fact) -> dict[int, float]:
    """The BM25 impact of each term of a fact; hubs have none."""
    if fact.kind == "entity":
        return {}
    found = terms(fact.content)
    counts: dict[int, int] = {}
    for term in found:
        key = term_key(term)
        counts[key] = counts.get(key, 0) + 1
    norm = K1 * (1.0 - B + B * len(found) / PIVOT)
    return {key: count * (K1 + 1.0) / (count + norm) for key, count in counts.items()}


def fact_values(fact: Fact) -> tuple[int, bool, bytes, str, float, float | None]:
    """A fact as a row of ``facts``."""
    return (
        stored_id(fact.id),
        fact.kind == "entity",
        fact.content.encode(),
        dump(fact.metadata),
        fact.confidence,
        fact.expires_at,
    )


def to_fact(row: Sequence[Any]) -> Fact:
    """A fact from FACT_COLUMNS."""
    number, hub, content, metadata, confidence, expires_at = row[:6]
    return Fact(
        public_id(number),
        bytes(content).decode(),
        json.loads(metadata),
        confidence,
        expires_at,
        "entity" if hub else "fact",
    )


def to_record(row: Sequence[Any]) -> FactRecord:
    """A fact with its vector, which comes after FACT_COLUMNS."""
    vector = row[6]
    return FactRecord(to_fact(row), None if vector is None else vector.to_numpy())


def to_edge(row: Sequence[Any]) -> Edge:
    """An edge from the columns id, source, relation, target."""
    number, source, relation, target = row
    return Edge(public_id(number), public_id(source), relation, public_id(target))


def to_document(row: Sequence[Any]) -> Document:
    """A document from the columns key, value, expires_at."""
    key, value, expires_at = row
    return Document(bytes(key).decode(), bytes(value), expires_at)


def dump(value: Mapping[str, Any]) -> str:
    """JSON in ASCII: NUL is spelt out, which a text column could not hold."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def columns(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Rows as columns, for ``unnest``."""
    return [[row[place] for row in rows] for place in range(width)]


def nearly(left: float, right: float) -> bool:
    """Equal but for the rounding to four bytes."""
    return math.isclose(left, right, rel_tol=1e-6)
