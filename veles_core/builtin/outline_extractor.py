"""The outline extractor: reads the structure that a text states itself. No model.

::

    fact: TEXT
    fact: TEXT | topic; topic
    edge: SUBJECT | PREDICATE | OBJECT
    attr: ENTITY | KEY | JSON VALUE

One directive a line, in any case, indented or bulleted (``-``, ``*``) or not, with or
without spaces before the colon. Any other line that isn't blank is a fact without topics.
"""

import json
import re
from typing import Any, Final

from veles_core.errors import InvalidInput
from veles_core.findings import checked_attribute, checked_fact, checked_relation
from veles_core.records import Attribute, ExtractedFact, Extraction, Relation

_LINE_END: Final = re.compile(r"\r\n|\n|\r")  # no others: U+2028 and its like belong to facts
_DIRECTIVE: Final = re.compile(r"(?:[-*]\s+)?(fact|edge|attr)\s*:(.*)", re.IGNORECASE | re.DOTALL)


class OutlineExtractor:
    """Deterministic, offline, linear in the length of the text."""

    def extract(self, text: str) -> Extraction:
        """Everything the text states, in its order.

        Raises InvalidInput with the line's number for the first malformed directive.
        """
        facts: list[ExtractedFact] = []
        relations: list[Relation] = []
        attributes: list[Attribute] = []
        for number, line in enumerate(_LINE_END.split(text), start=1):
            line = line.strip()
            if not line:
                continue
            directive = _DIRECTIVE.fullmatch(line)
            kind, rest = (directive[1].lower(), directive[2]) if directive else ("", line)
            try:
                if kind == "edge":
                    relation = _edge(rest)
                    relations += [relation] if relation else []
                elif kind == "attr":
                    attributes.append(_attr(rest))
                else:
                    facts.append(_fact(rest) if directive else checked_fact(line))
            except InvalidInput as error:
                raise InvalidInput(
                    f"line {number} of the outline: {error.message}; nothing was stored",
                    field="text",
                    limit=error.limit,
                    actual=error.actual,
                ) from None
        return Extraction(tuple(facts), tuple(relations), tuple(attributes))

    def close(self) -> None:
        """Nothing to release."""


def _fact(rest: str) -> ExtractedFact:
    text, *topics = rest.split("|")
    if len(topics) > 1:
        raise InvalidInput("fact: takes at most one |, between the text and its topics")
    return checked_fact(text, topics[0].split(";") if topics else ())


def _edge(rest: str) -> Relation | None:
    parts = rest.split("|")
    if len(parts) != 3:
        raise InvalidInput(f"edge: takes SUBJECT | PREDICATE | OBJECT, not {len(parts)} parts")
    return checked_relation(*parts)


def _attr(rest: str) -> Attribute:
    parts = rest.split("|", 2)
    if len(parts) != 3:
        raise InvalidInput(f"attr: takes ENTITY | KEY | JSON VALUE, not {len(parts)} parts")
    entity, key, value = parts
    return checked_attribute(entity, key, _value(value.strip()))


def _value(text: str) -> Any:
    """The JSON value, or the text itself if it doesn't look like JSON at all."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise InvalidInput("attr: the value is nested too deeply") from None
    except ValueError:
        if not text:
            raise InvalidInput("attr: the value is missing") from None
        if text[0] in '"[{':
            raise InvalidInput("attr: the value looks like JSON but is malformed") from None
        if "|" in text:
            raise InvalidInput("attr: a value that holds | must be a quoted string") from None
        return text


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
