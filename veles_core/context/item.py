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
from veles_core.context.logs import Log, collapse
from veles_core.context.model import CompileRequest, Fragment, PulledMemory
from veles_core.context.score import memory_weight, query_terms, recencies, relevance
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


def examine(
    request: CompileRequest, pulled: Sequence[PulledMemory], tokenizer: Tokenizer
) -> list[Item]:
    """The fragments of a request in order, then the pulled memories."""
    examiner = _Examiner(request, tokenizer)
    items = [examiner.fragment(place, each) for place, each in enumerate(request.fragments)]
    importance = request.policy.importance
    for memory, recency in zip(pulled, recencies(pulled, importance), strict=True):
        # Its metadata is the fact's own: it may not claim the caller's cache or verbatim.
        item = examiner.fragment(len(items), Fragment(memory.content))
        weight = memory_weight(memory, item.relevance, recency, importance)
        note = (
            f"; pulled from memory {memory.memory_id} (similarity {memory.score:.2f}, "
            f"confidence {memory.confidence:.2f}, recency {recency:.2f})"
        )
        items.append(item._replace(memory_id=memory.memory_id, weight=weight, note=note))
    return items


class _Examiner:
    """What looking at the fragments of one request has in common."""

    def __init__(self, request: CompileRequest, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._terms = query_terms(request.query)
        self._rules = enabled_rules(request.policy.disabled_rules)
        self._collapses = any(rule.id == LOG_DEDUP for rule in self._rules)
        self._normalize = bool(request.policy.normalize_log_timestamps)
        self._counted: dict[bytes, int] = {}

    def fragment(self, place: int, fragment: Fragment) -> Item:
        text, kind, mime = fragment.content, (fragment.kind or "").casefold(), None
        log = None
        if fragment.media is not None:
            mime = fragment.media.mime
            field = f"fragments[{place}].media.bytes_b64"
            data = media.decode(fragment.media.bytes_b64, field)
        else:
            data = text.encode()
            if kind == LOG and self._collapses:
                log = collapse(text, self._normalize)
        subject = Subject(data, text, kind, fragment.metadata, mime is not None, log)
        rule = classify(subject, self._rules)
        share = relevance(self._terms, text)
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
            tokens=self._count(data, text, mime),
            rule=rule,
            critical=is_critical(rule, kind),
            relevance=share,
            weight=share,
            log=log if rule.id == LOG_DEDUP else None,
            memory_id=None,
            note="",
        )

    def _count(self, data: bytes, text: str, mime: str | None) -> int:
        tokens = self._counted.get(data)
        if tokens is None:
            if mime is None:
                tokens = self._tokenizer.count(text)
            else:
                tokens = media.count_tokens(data, self._tokenizer)
            self._counted[data] = tokens
        return tokens
