"""The text of a compilation: the stable prefix, then the rest, each in input order."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from veles_core.context.item import Item
from veles_core.context.model import Section, SectionKind

JOINER: Final = "\n\n"


class Piece(NamedTuple):
    """What of an item is in the content: its text (none for media), its tokens, if all of it."""

    text: str
    tokens: int
    whole: bool


def assemble(items: Sequence[Item], pieces: Mapping[int, Piece]) -> str:
    """The content: the text of all pieces."""
    return "".join(section.content for section in sections(items, pieces))


def sections(items: Sequence[Item], pieces: Mapping[int, Piece]) -> tuple[Section, ...]:
    """The cache section and the body, those that aren't empty; together they are the content.

    The blank line between the two opens the body, so that the prefix is the same bytes
    whatever follows it.
    """
    shown = [item for item in items if item.place in pieces and pieces[item.place].text]
    found = []
    opening = ""
    kinds: tuple[SectionKind, ...] = ("cache", "body")
    for kind in kinds:
        members = [item for item in shown if item.cached is (kind == "cache")]
        if members:
            text = opening + JOINER.join(pieces[item.place].text for item in members)
            found.append(Section(kind, text, tuple(item.fragment_id for item in members)))
            opening = JOINER
    return tuple(found)
