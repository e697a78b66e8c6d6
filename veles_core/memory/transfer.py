"""A memory as JSON lines: the verbatim way out of a store, and back in.

One object a line with a ``type``: ``fact`` (a hub has ``"kind": "entity"``), ``edge``
or ``document``. Facts come first, so that edges find their ends. Vectors are not
written: the reading store embeds again, whatever model it has.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from typing import Any, Final, NamedTuple

from veles_core.errors import InvalidInput
from veles_core.ids import edge_id, entity_id, fact_id, parse_id
from veles_core.limits import MAX_METADATA_BYTES
from veles_core.memory import provenance
from veles_core.memory.facts import checked_relation
from veles_core.memory.live import Live, Memory
from veles_core.memory.metadata import plain_json
from veles_core.memory.text import checked_text
from veles_core.protocols import Progress, Store
from veles_core.records import Document, Edge, Fact, FactKind, FactRecord

PAGE: Final = 1000  # things read or written at once
ALL: Final = 2**62  # no limit on the edges of one fact

HUB_PREFIX: Final = "Entity: "


class Filed(NamedTuple):
    """A document and the namespace it is filed under."""

    namespace: str
    document: Document


Item = Fact | Edge | Filed


@dataclass(frozen=True, slots=True)
class Transferred:
    """How much was imported; ``left_out`` had expired, or led to something that had."""

    facts: int = 0
    edges: int = 0
    documents: int = 0
    left_out: int = 0


def export_lines(store: Store, include_internal: bool) -> Iterator[str]:
    """Every visible fact and edge, and with ``include_internal`` hubs and documents too."""
    exported: set[int] = set()
    for fact in _facts(store, include_internal):
        exported.add(fact.id)
        yield _line(_fact_json(fact))
    for fact_ids in _pages(sorted(exported)):
        for edge in store.edges_from(fact_ids, ALL):
            if edge.target in exported:
                yield _line(_edge_json(edge))
    for namespace in store.namespaces() if include_internal else ():
        for document in _documents(store, namespace):
            yield _line(_document_json(namespace, document))


def read_items(lines: Iterable[str]) -> Iterator[tuple[int, Item]]:
    """Each line's item with its line number, checked; InvalidInput names the line."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield number, _item(json.loads(line))
        except (InvalidInput, KeyError, TypeError, ValueError, RecursionError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise InvalidInput(
                f"line {number} is not an exported memory: {reason[:300]}; nothing was imported",
                field="file",
                actual=number,
            ) from None


def import_items(
    memory: Memory, items: Iterable[Item], now: float, progress: Progress
) -> Transferred:
    """Write items, a transaction a page.

    A fact that is there already is replaced. What has expired by ``now`` is left out, and
    so are edges to it.
    """
    done = Transferred()
    known: set[int] = set()  # facts that were written just now
    for kind, run in groupby(items, type):
        while page := list(islice(run, PAGE)):
            fresh = [item for item in page if not _expired(item, now)]
            if kind is Fact:
                written = memory.write(partial(_put_facts, fresh))
                known.update(item.id for item in fresh if isinstance(item, Fact))
            elif kind is Edge:
                written = memory.write(partial(_put_edges, fresh, known))
            else:
                written = memory.write(partial(_put_documents, fresh))
            done = _sum(done, written, Transferred(left_out=len(page) - len(fresh)))
            progress(done.facts + done.edges + done.documents + done.left_out, None)
    return done


def _put_facts(facts: Sequence[Any], live: Live) -> Transferred:
    store, embedder = live.store, live.embedder
    embedded = [fact for fact in facts if fact.kind == "fact"]
    hubs = [FactRecord(fact, None) for fact in facts if fact.kind == "entity"]
    vectors = list(embedder.embed([fact.content for fact in embedded])) if embedded else []
    with store.transaction():
        if embedded:
            provenance.confirm(store, embedder.identity, len(vectors[0]))
        rows = zip(embedded, vectors, strict=True)
        store.put_facts([*(FactRecord(fact, vector) for fact, vector in rows), *hubs])
    return Transferred(facts=len(facts))


def _put_edges(edges: Sequence[Any], known: Set[int], live: Live) -> Transferred:
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    with live.store.transaction():
        there = {fact.id for fact in live.store.get_facts(sorted(ends - known))} | (ends & known)
        kept = [edge for edge in edges if edge.source in there and edge.target in there]
        live.store.put_edges(kept)
    return Transferred(edges=len(kept), left_out=len(edges) - len(kept))


def _put_documents(documents: Sequence[Any], live: Live) -> Transferred:
    with live.store.transaction():
        for namespace, run in groupby(documents, lambda filed: filed.namespace):
            live.store.put_documents(namespace, [filed.document for filed in run])
    return Transferred(documents=len(documents))


def _expired(item: Item, now: float) -> bool:
    match item:
        case Fact(expires_at=expires_at) | Filed(document=Document(expires_at=expires_at)):
            return expires_at is not None and expires_at <= now
        case Edge():
            return False


def _sum(*parts: Transferred) -> Transferred:
    return Transferred(
        sum(part.facts for part in parts),
        sum(part.edges for part in parts),
        sum(part.documents for part in parts),
        sum(part.left_out for part in parts),
    )


def _facts(store: Store, internal: bool) -> Iterator[Fact]:
    after: int | None = None
    while page := store.scan_facts(after, PAGE, internal=internal):
        yield from page
        after = page[-1].id


def _documents(store: Store, namespace: str) -> Iterator[Document]:
    after: str | None = None
    while page := store.scan_documents(namespace, after, PAGE):
        yield from page
        after = page[-1].key


def _pages(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[start : start + PAGE] for start in range(0, len(ids), PAGE))


def _line(item: dict[str, Any]) -> str:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"))


def _fact_json(fact: Fact) -> dict[str, Any]:
    hub = {"kind": fact.kind} if fact.kind == "entity" else {}
    return {
        "type": "fact",
        "id": str(fact.id),
        **hub,
        "content": fact.content,
        "metadata": dict(fact.metadata),
        "confidence": fact.confidence,
        "expires_at": fact.expires_at,
    }


def _edge_json(edge: Edge) -> dict[str, Any]:
    ends = {"from": str(edge.source), "relation": edge.relation, "to": str(edge.target)}
    return {"type": "edge", **ends}


def _document_json(namespace: str, document: Document) -> dict[str, Any]:
    return {
        "type": "document",
        "namespace": namespace,
        "key": document.key,
        "value_b64": base64.b64encode(document.value).decode(),
        "expires_at": document.expires_at,
    }


def _item(line: Any) -> Item:
    match line["type"]:
        case "fact":
            return _fact(line)
        case "edge":
            source, target = parse_id(line["from"], "from"), parse_id(line["to"], "to")
            relation = checked_relation(line["relation"])
            return Edge(edge_id(source, relation, target), source, relation, target)
        case "document":
            value = base64.b64decode(line["value_b64"], validate=True)
            document = Document(_text(line["key"]), value, _time(line["expires_at"]))
            return Filed(_text(line["namespace"]), document)
        case other:
            raise InvalidInput(f"its type {str(other)[:40]!r} is none of fact, edge, document")


def _fact(line: Any) -> Fact:
    id, content = parse_id(line["id"], "id"), checked_text(line["content"], "content")
    hub = line.get("kind", "fact") == "entity"
    expected = entity_id(content.removeprefix(HUB_PREFIX)) if hub else fact_id(content)
    if id != expected:
        raise InvalidInput(f"its id {id} isn't that of its content, {expected}")
    confidence = float(line["confidence"])
    if not 0 <= confidence <= 1:
        raise InvalidInput(f"its confidence {confidence} is outside of 0 to 1")
    metadata = plain_json(line["metadata"], "metadata", 2 * MAX_METADATA_BYTES)
    kind: FactKind = "entity" if hub else "fact"
    return Fact(id, line["content"], metadata, confidence, _time(line["expires_at"]), kind)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{str(value)[:40]!r} is no string")
    return value


def _time(value: Any) -> float | None:
    return None if value is None else float(value)
