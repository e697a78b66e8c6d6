"""One fragment as the stages of the compiler see it: what it is, weighs and costs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from veles_core import ids
from veles_core.context import media
from veles_core.context.classify import (
    LOG,
    LOG_DEDUP,
    STABLE_PREFIX,
    Rule,
    Subject,
    classify,
    enabled_rules,
    is_critical,
)
from veles_core.context.constraints import forbidding
from veles_core.context.logs import Log, collapse
from veles_core.context.model import CompileRequest, Fragment, Importance, Policy, PulledMemory
from veles_core.context.score import Query, fold, memory_weight, recencies
from veles_core.protocols import Tokenizer


class Item(NamedTuple):
    """A fragment or pulled memory, examined.

    ``place`` is its index in the input, ``source`` the id of its exact bytes ``data``,
    ``text`` those bytes as text (empty for media), ``tokens`` the count of the whole
    original. Relevance is the share of the query's terms in it, ``weight`` what that
    becomes for packing. ``log`` is its collapsed form if its rule is to abstract it,
    ``note`` where it came from if not from the request.
    """

    place: int
    fragment_id: int
    source: int
    data: bytes
    text: str
    mime: str | None
    kind: str
    metadata: Mapping[str, Any]
    priority: int
    tokens: int
    rule: Rule
    critical: bool
    relevance: float
    weight: float
    log: Log | None
    memory_id: int | None
    note: str

    @property
    def cached(self) -> bool:
        """Whether it belongs to the stable prefix."""
        return self.rule.id == STABLE_PREFIX


class _Raw(NamedTuple):
    """A fragment's exact bytes, and the collapsed form of a log with repeated lines."""

    fragment: Fragment
    data: bytes
    kind: str
    log: Log | None

    def wording(self) -> str:
        """The folded text in which a constraint would stand; a log says a thing once."""
        return fold(self.log.text() if self.log else self.fragment.content)


def examine(
    request: CompileRequest, pulled: Sequence[PulledMemory], tokenizer: Tokenizer
) -> list[Item]:
    """The fragments of a request in order, then the pulled memories."""
    rules = enabled_rules(request.policy.disabled_rules)
    # A memory's metadata is the fact's own: it may not claim the caller's cache or verbatim.
    fragments = [*request.fragments, *(Fragment(memory.content) for memory in pulled)]
    raws = [_read(place, fragment, request.policy) for place, fragment in enumerate(fragments)]
    forbid = forbidding([raw.wording() for raw in raws])
    query = Query(request.query)
    counted: dict[tuple[bytes, bool], int] = {}
    items = []
    for place, raw in enumerate(raws):
        key = raw.data, raw.fragment.media is None
        if key not in counted:
            counted[key] = _count(raw, tokenizer)
        items.append(_item(place, raw, forbid[place], rules, query, counted[key]))
    first = len(request.fragments)
    items[first:] = _weighed(items[first:], pulled, request.policy.importance)
    return items


def _read(place: int, fragment: Fragment, policy: Policy) -> _Raw:
    kind = (fragment.kind or "").casefold()
    if fragment.media is not None:
        field = f"fragments[{place}].media.bytes_b64"
        return _Raw(fragment, media.decode(fragment.media.bytes_b64, field), kind, None)
    log = None
    if kind == LOG and LOG_DEDUP not in policy.disabled_rules:
        log = collapse(fragment.content, bool(policy.normalize_log_timestamps))
    return _Raw(fragment, fragment.content.encode(), kind, log)


def _count(raw: _Raw, tokenizer: Tokenizer) -> int:
    if raw.fragment.media is not None:
        return media.count_tokens(raw.data, tokenizer)
    return tokenizer.count(raw.fragment.content)


def _item(
    place: int,
    raw: _Raw,
    forbids: bool,
    rules: tuple[Rule, ...],
    query: Query,
    tokens: int,
) -> Item:
    fragment, data, kind, log = raw
    text, mime = fragment.content, fragment.media.mime if fragment.media else None
    rule = classify(
        Subject(data, text, kind, fragment.metadata, mime is not None, log, forbids), rules
    )
    share = query.share(text)
    source = ids.source_id(data)
    given = fragment.id
    return Item(
        place=place,
        fragment_id=source if given is None else ids.parse_id(given, f"fragments[{place}].id"),
        source=source,
        data=data,
        text=text,
        mime=mime,
        kind=kind,
        metadata=fragment.metadata,
        priority=fragment.priority,
        tokens=tokens,
        rule=rule,
        critical=is_critical(rule, kind),
        relevance=share,
        weight=share,
        log=log if rule.id == LOG_DEDUP else None,
        memory_id=None,
        note="",
    )


def _weighed(
    items: Sequence[Item], pulled: Sequence[PulledMemory], importance: Importance
) -> list[Item]:
    """The items of pulled memories, each with its weight and where it came from."""
    recency = recencies(pulled, importance)
    return [
        item._replace(
            memory_id=memory.memory_id,
            weight=memory_weight(memory, item.relevance, recent, importance),
            note=f"; pulled from memory {memory.memory_id} (similarity {memory.score:.2f}, "
            f"confidence {memory.confidence:.2f}, recency {recent:.2f})",
        )
        for item, memory, recent in zip(items, pulled, recency, strict=True)
    ]
