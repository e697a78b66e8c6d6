"""Deciding: one auditable decision an item, and the risk that follows from it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from veles_core.context.dedupe import Twin
from veles_core.context.handles import handle_of
from veles_core.context.item import Item
from veles_core.context.model import (
    Action,
    ContextWarning,
    Decision,
    RetrievalHandle,
    Risk,
    Source,
    SourceRef,
)
from veles_core.context.render import Piece
from veles_core.limits import RETRIEVE_WARNING_RELEVANCE

DUPLICATE: Final = "drop.duplicate"
NEAR_DUPLICATE: Final = "drop.near_duplicate"
SUPERSEDED: Final = "retrieve.screenshot_superseded"
EXTERNALIZE: Final = "budget.externalize"

_SEVERITY: Final[dict[Risk, int]] = {"low": 0, "medium": 1, "high": 2}


class Outcome(NamedTuple):
    """What became of the items: pieces and twins by index, and the superseded ones."""

    pieces: Mapping[int, Piece]
    twins: Mapping[int, Twin]
    superseded: frozenset[int]


def decide(item: Item, items: Sequence[Item], outcome: Outcome) -> Decision:
    """The decision on one item."""
    if item.place in outcome.superseded:
        reason = "superseded by a later screenshot of the same target; its handle has it"
        return _decision(item, "retrieve", SUPERSEDED, "medium", reason)
    twin = outcome.twins.get(item.place)
    if twin is not None:
        return _duplicate(item, items[twin.place], twin.exact, outcome.pieces.get(twin.place))
    piece = outcome.pieces.get(item.place)
    rule = item.rule
    if piece is None:
        reason = f"did not fit the budget ({rule.reason}); its handle has it"
        return _decision(item, "retrieve", EXTERNALIZE, _risk(item), reason)
    if not piece.whole:
        reason = f"{rule.reason}; {_extent(item, piece)}, its handle has the rest"
        return _decision(item, rule.action, rule.id, _risk(item), reason)
    if rule.action == "abstract":
        reason = f"{rule.reason}; its handle has the original"
        return _decision(item, rule.action, rule.id, "medium", reason)
    return _decision(item, rule.action, rule.id, "low", rule.reason, handle=False)


def _duplicate(item: Item, twin: Item, exact: bool, piece: Piece | None) -> Decision:
    kind, rule_id = ("exact", DUPLICATE) if exact else ("near", NEAR_DUPLICATE)
    if piece is not None and piece.whole:
        risk: Risk = "medium" if twin.rule.action == "abstract" else "low"
        fate = "which the content holds"
    else:
        risk = _risk(item)
        fate = "which was not fully emitted; its handle has it"
    reason = f"{kind} duplicate of fragment #{twin.place}, {fate}"
    return _decision(item, "drop", rule_id, risk, reason)


def _risk(item: Item) -> Risk:
    """The risk of an item that isn't wholly in the content."""
    return "high" if item.critical else "medium"


def _extent(item: Item, piece: Piece) -> str:
    if item.log is not None:
        return f"{piece.text.count(chr(10)) + 1} of its {len(item.log.lines)} lines fit the budget"
    return f"{len(piece.text.encode())} of its {len(item.data)} bytes fit the budget"


def _decision(
    item: Item, action: Action, rule_id: str, risk: Risk, reason: str, *, handle: bool = True
) -> Decision:
    return Decision(
        fragment_id=item.fragment_id,
        content_hash=item.source,
        action=action,
        rule_id=rule_id,
        relevance=item.relevance,
        risk=risk,
        reason=reason + item.note,
        memory_id=item.memory_id,
        handle=handle_of(item.source) if handle else None,
    )


def overall_risk(decisions: Iterable[Decision]) -> Risk:
    """The worst of the decisions' risks."""
    return max((each.risk for each in decisions), key=_SEVERITY.__getitem__, default="low")


def warnings(decisions: Iterable[Decision]) -> tuple[ContextWarning, ...]:
    """The relevant fragments that are only there by their handle."""
    return tuple(
        ContextWarning(each.fragment_id, each.action, each.relevance, each.reason)
        for each in decisions
        if each.action == "retrieve" and each.relevance >= RETRIEVE_WARNING_RELEVANCE
    )


def retrieval_handles(items: Iterable[Item], outcome: Outcome) -> tuple[RetrievalHandle, ...]:
    """A handle for each source that is not, or not wholly, in the content."""
    missing: dict[int, RetrievalHandle] = {}
    for item in items:
        piece = outcome.pieces.get(item.place)
        if item.place not in outcome.twins and (piece is None or not piece.whole):
            handle = handle_of(item.source)
            missing.setdefault(item.source, RetrievalHandle(handle, item.fragment_id, item.tokens))
    return tuple(missing.values())


def sources(items: Iterable[Item]) -> tuple[tuple[SourceRef, ...], tuple[Source, ...]]:
    """Each distinct fragment once: the reference that is answered, and what is stored for it."""
    distinct: dict[int, Item] = {}
    for item in items:
        distinct.setdefault(item.source, item)
    return (
        tuple(
            SourceRef(item.fragment_id, handle_of(source), item.memory_id)
            for source, item in distinct.items()
        ),
        tuple(Source(source, item.data, item.mime) for source, item in distinct.items()),
    )
