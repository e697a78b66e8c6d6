"""Segmenting a session transcript: turns, and within each turn code, logs and the rest.

The segments partition the transcript's bytes exactly. Plain transcripts have markers at
line starts (``User:``, ``### Assistant`` …), JSONL ones an object a line.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from veles_core import ids
from veles_core.context.fences import Fence, fences
from veles_core.context.jsonl import Message, parse_messages
from veles_core.context.logs import log_runs
from veles_core.context.model import (
    Format,
    Fragment,
    Segment,
    Segmentation,
    SegmentationPolicy,
    SegmentKind,
)
from veles_core.errors import ContextOverLimit
from veles_core.limits import MAX_FACT_BYTES, MAX_TRANSCRIPT_SEGMENTS

_MARKER: Final = re.compile(
    r"\n(?:(system|user|human|assistant|ai|tool):|###[ \t]{1,8}(user|assistant)\b)", re.IGNORECASE
)
_ROLES: Final = {"ai": "AI"}  # the others are capitalised


class _Part(NamedTuple):
    """A segment before it is numbered: ``text`` is what it is compiled as."""

    turn: int
    role: str | None
    kind: SegmentKind
    text: str
    size: int  # bytes of the transcript


class _Turn(NamedTuple):
    start: int
    end: int
    role: str | None


class _Span(NamedTuple):
    """A stretch of a plain transcript in characters, and its bytes."""

    turn: int
    role: str | None
    kind: SegmentKind
    start: int
    end: int
    size: int


_Stretch = tuple[SegmentKind, int, int]


def segment(
    transcript: str, policy: SegmentationPolicy
) -> tuple[tuple[Fragment, ...], Segmentation]:
    """The fragments of a transcript in order, and the audit trail of its cutting.

    Raises InvalidInput for a forced format that the transcript doesn't have and
    ContextOverLimit for one of too many segments.
    """
    messages = parse_messages(transcript, policy.format)
    found: Format = "plain" if messages is None else "jsonl"
    if messages is None:
        spans, merged = _merge(_spans(transcript), policy.min_segment_bytes)
        parts = [_Part(*each[:3], transcript[each.start : each.end], each.size) for each in spans]
    else:
        parts, merged = [_message_part(turn, each) for turn, each in enumerate(messages)], 0
    _check_count(len(parts))
    system = _system_turn(parts) if policy.cache_system_turn else None
    fragments, segments, start = [], [], 0
    for index, part in enumerate(parts):
        fragments.append(
            Fragment(
                content=part.text,
                kind=None if part.kind == "body" else part.kind,
                metadata={"cache": True} if part.turn == system else {},
            )
        )
        end = start + part.size
        fragment_id = ids.source_id(part.text.encode())
        segments.append(Segment(index, part.turn, part.kind, start, end, fragment_id, part.role))
        start = end
    return tuple(fragments), Segmentation(found, tuple(segments), merged)


def _system_turn(parts: Iterable[_Part]) -> int | None:
    """The first turn that anyone speaks in, if it is the system's."""
    spoken = next((part for part in parts if part.role is not None), None)
    if spoken is None or spoken.role is None or spoken.role.casefold() != "system":
        return None
    return spoken.turn


def _message_part(turn: int, message: Message) -> _Part:
    return _Part(turn, message.role, _kind(message.content), message.content, message.size)


def _kind(text: str) -> SegmentKind:
    """What a message is that isn't cut: a single fence, mostly log lines, or neither."""
    fence = next(fences(text), None)
    if fence is not None and not (text[: fence.start] + text[fence.end :]).strip():
        return "code"
    logged = sum(end - start for start, end in log_runs(f"\n{text}", 0, len(text)))
    return "log" if fence is None and logged * 2 > len(text) else "body"


def _spans(text: str) -> Iterator[_Span]:
    """The spans of a plain transcript, unmerged."""
    padded = f"\n{text}"  # what is found with its line break starts where its line does
    fenced = list(fences(text))
    ahead = iter(fenced)
    fence = next(ahead, None)
    for number, turn in enumerate(_turns(padded, fenced)):
        found: list[_Stretch] = []
        at = turn.start
        while fence is not None and fence.start < turn.end:
            if fence.start >= at:
                if fence.start > at:
                    found += _body(padded, at, fence.start)
                at = fence.end if fence.closed else turn.end
                found.append(("code", fence.start, at))
            fence = next(ahead, None)
        if turn.end > at:
            found += _body(padded, at, turn.end)
        for kind, start, end in found:
            for piece_end in _storable_ends(text, start, end):
                size = len(text[start:piece_end].encode())
                yield _Span(number, turn.role, kind, start, piece_end, size)
                start = piece_end


def _turns(padded: str, fenced: Iterable[Fence]) -> Iterator[_Turn]:
    """The turns that the markers outside of closed fences begin; the first may be nobody's."""
    closed = iter([fence for fence in fenced if fence.closed])
    fence = next(closed, None)
    start, role, count = 0, None, 0
    for marker in _MARKER.finditer(padded):
        at = marker.start()
        while fence is not None and fence.end <= at:
            fence = next(closed, None)
        if fence is not None and fence.start <= at:
            continue
        if at > start:
            yield _Turn(start, at, role)
            count += 1
            _check_count(count)
        name = (marker[1] or marker[2]).lower()
        start, role = at, _ROLES.get(name, name.capitalize())
    yield _Turn(start, len(padded) - 1, role)


def _body(padded: str, start: int, end: int) -> Iterator[_Stretch]:
    for log_start, log_end in log_runs(padded, start, end):
        if log_start > start:
            yield "body", start, log_start
        yield "log", log_start, log_end
        start = log_end
    if end > start:
        yield "body", start, end


def _storable_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Ends of the pieces of ``text[start:end]`` that a source may hold; after a line if it can."""
    while end - start > MAX_FACT_BYTES // 4:
        window = text[start : min(end, start + MAX_FACT_BYTES)]
        if not window.isascii():
            window = window.encode()[:MAX_FACT_BYTES].decode(errors="ignore")
        if start + len(window) < end:
            window = window[: window.rfind("\n") + 1] or window
        start += len(window)
        yield start
    if start < end:
        yield end


def _merge(spans: Iterable[_Span], least: int) -> tuple[list[_Span], int]:
    """Spans under ``least`` bytes joined with the next of the same turn and kind; how many were."""
    merged: list[_Span] = []
    joined = 0
    for span in spans:
        last = merged[-1] if merged else span
        size = last.size + span.size
        if (
            last is not span
            and (last.turn, last.kind) == (span.turn, span.kind)
            and last.size < least
            and size <= MAX_FACT_BYTES
        ):
            merged[-1] = last._replace(end=span.end, size=size)
            joined += 1
        else:
            merged.append(span)
            _check_count(len(merged))
    return merged, joined


def _check_count(count: int) -> None:
    if count > MAX_TRANSCRIPT_SEGMENTS:
        raise ContextOverLimit(
            f"the transcript has more than {MAX_TRANSCRIPT_SEGMENTS} segments: raise "
            "segmentation.min_segment_bytes, or compile it in parts",
            field="transcript",
            limit=MAX_TRANSCRIPT_SEGMENTS,
        )
