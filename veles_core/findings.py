"""What an extractor may find: the rules that hold whatever found it.

Every check returns what it checked, trimmed, or raises InvalidInput with the reason.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from veles_core.errors import InvalidInput
from veles_core.ids import entity_name
from veles_core.limits import MAX_ENTITY_NAME_BYTES, MAX_METADATA_BYTES, MAX_RELATION_BYTES
from veles_core.records import Attribute, ExtractedFact, Extraction, Relation

MAX_NESTING: Final = 32  # of an attribute's value; deeper is no value to look up
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def checked(found: Extraction) -> Extraction:
    """The findings, trimmed; raises InvalidInput for the first that can't be stored.

    Edges from an entity to itself are dropped. Facts may be longer than a fact may be:
    the store's own limit is for the storing side to apply and to count.
    """
    return Extraction(
        tuple(checked_fact(fact.content, fact.topics) for fact in found.facts),
        tuple(
            relation
            for r in found.relations
            if (relation := checked_relation(r.subject, r.predicate, r.object)) is not None
        ),
        tuple(checked_attribute(a.entity, a.key, a.value) for a in found.attributes),
    )


def checked_fact(content: str, topics: Iterable[str] = ()) -> ExtractedFact:
    """A fact and its topics without blank and repeated ones."""
    text = _text(content, "a fact")
    named = (checked_name(topic, "a topic") for topic in topics if topic.strip())
    return ExtractedFact(text, tuple({entity_name(name): name for name in named}.values()))


def checked_relation(subject: str, predicate: str, object: str) -> Relation | None:
    """A relation in the direction given; None if both its ends are one entity."""
    ends = checked_name(subject, "a subject"), checked_name(object, "an object")
    label = _label(predicate, "a predicate", MAX_RELATION_BYTES)
    if entity_name(ends[0]) == entity_name(ends[1]):
        return None
    return Relation(ends[0], label, ends[1])


def checked_attribute(entity: str, key: str, value: Any) -> Attribute:
    """An attribute whose key is the caller's to use and whose value is plain JSON."""
    name = checked_name(entity, "an entity")
    label = _label(key, "a key", MAX_RELATION_BYTES)
    if label == "content" or label.startswith("_veles_"):
        raise refused(f"the key {label[:80]!r} is reserved; choose another")
    _check_value(value, MAX_NESTING)
    return Attribute(name, label, value)


def checked_name(name: str, role: str) -> str:
    """An entity's name with its whitespace collapsed: 1 to 512 bytes, no control characters."""
    return _label(" ".join(name.split()), role, MAX_ENTITY_NAME_BYTES)


def refused(message: str, limit: int | None = None, actual: int | None = None) -> InvalidInput:
    """The error for a finding that can't be stored."""
    return InvalidInput(message, field="text", limit=limit, actual=actual)


def _label(text: str, role: str, limit: int) -> str:
    label = _text(text, role)
    size = len(label.encode())
    if size > limit:
        raise refused(f"{role} is {size} bytes; at most {limit} make a name", limit, size)
    if _CONTROL.search(label):
        raise refused(f"{role} holds a control character")
    return label


def _text(text: str, role: str) -> str:
    text = text.strip()
    if not text:
        raise refused(f"{role} is blank")
    if not _encodable(text):
        raise refused(f"{role} holds half of a surrogate pair, which is no character")
    return text


def _check_value(value: Any, depth: int) -> None:
    """Refuse values that are no JSON, too deep or too big, before they reach the store."""
    _check_depth(value, depth)
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError):  # UnicodeEncodeError is a ValueError
        raise refused("a value is not plain JSON") from None
    if size > MAX_METADATA_BYTES:
        raise refused(
            f"a value is {size} bytes; at most {MAX_METADATA_BYTES} are kept",
            MAX_METADATA_BYTES,
            size,
        )


def _check_depth(value: Any, depth: int) -> None:
    if isinstance(value, (dict, list)):
        if depth == 0:
            raise refused(f"a value is nested deeper than {MAX_NESTING}", MAX_NESTING)
        for item in value.values() if isinstance(value, dict) else value:
            _check_depth(item, depth - 1)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
