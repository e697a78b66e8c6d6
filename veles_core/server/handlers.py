"""Handlers: from a tool's arguments to the service's verb of the same name, and back.

Each takes the service and the arguments' model and answers the JSON of the tool.
"""

from typing import TYPE_CHECKING

from veles_core.memory import answers
from veles_core.records import Predicate
from veles_core.wire import answers as wire
from veles_core.wire import memory as arguments

if TYPE_CHECKING:
    from veles_core.memory.service import MemoryService


def remember(service: "MemoryService", given: arguments.Remember) -> wire.Remembered:
    links = [answers.Link(link.target, link.relation) for link in given.links]
    stored = service.remember(
        given.fact, links=links, metadata=given.metadata, ttl_seconds=given.ttl_seconds
    )
    return {"id": stored.id, "id_str": str(stored.id)}


def recall(service: "MemoryService", given: arguments.Recall) -> wire.Memories:
    found = service.recall(given.query, given.k, given.filter)
    return {"memories": [_recalled(memory) for memory in found.memories]}


def recall_where(service: "MemoryService", given: arguments.RecallWhere) -> wire.Memories:
    predicates = [Predicate(each.field, each.op, each.value) for each in given.filters]
    found = service.recall_where(given.query, predicates, given.k)
    return {"memories": [_recalled(memory) for memory in found.memories]}


def recall_fused(service: "MemoryService", given: arguments.RecallFused) -> wire.FusedMemories:
    found = service.recall_fused(
        given.query,
        given.k,
        given.filter,
        given.hops,
        given.graph_boost,
        given.pool,
        given.date_field,
    )
    answer: wire.FusedMemories = {"memories": [_recalled(memory) for memory in found.memories]}
    if found.dated_context is not None:
        answer |= {"dated_context": found.dated_context, "now": found.now}
    return answer


def relate(service: "MemoryService", given: arguments.Relate) -> wire.Related:
    edge = service.relate(given.source, given.target, given.relation)
    return {"edge_id": edge.edge_id, "edge_id_str": str(edge.edge_id)}


def unrelate(service: "MemoryService", given: arguments.Unrelate) -> wire.Unrelated:
    edge = service.unrelate(given.source, given.target, given.relation)
    return {"found": edge.found, "removed": edge.removed}


def forget(service: "MemoryService", given: arguments.Forget) -> wire.Forgotten:
    gone = service.forget(given.id)
    return {"id": gone.id, "id_str": str(gone.id), "found": gone.found}


def feedback(service: "MemoryService", given: arguments.Feedback) -> wire.Reinforced:
    learned = service.feedback(given.id, given.success)
    return {"id": learned.id, "id_str": str(learned.id), "confidence": learned.confidence}


def why(service: "MemoryService", given: arguments.Why) -> wire.Trail:
    trail = service.why(given.decision, given.max_hops, given.filter)
    return {
        "nodes": [
            {"id": node.id, "id_str": str(node.id), "content": node.content, "hop": node.hop}
            for node in trail.nodes
        ],
        "edges": [
            {
                "from": edge.source,
                "from_str": str(edge.source),
                "to": edge.target,
                "to_str": str(edge.target),
                "relation": edge.relation,
            }
            for edge in trail.edges
        ],
        "truncated": trail.truncated,
    }


def memory_status(service: "MemoryService", _given: arguments.MemoryStatus) -> wire.Status:
    status = service.memory_status()
    filled = status.provenance
    return {
        "embedder": {
            "model": status.embedder.model,
            "dimension": status.embedder.dimension,
            "semantic": status.embedder.semantic,
        },
        "provenance": {
            "recorded": filled is not None,
            "model": filled.model if filled else None,
            "dimension": filled.dimension if filled else None,
        },
        "extraction": {
            "configured": status.extraction.configured,
            "autograph_active": status.extraction.autograph_active,
            "autograph_dropped": status.extraction.autograph_dropped,
            "autograph_failed": status.extraction.autograph_failed,
        },
        "memory": {"facts": status.memory.facts, "edges": status.memory.edges},
    }


def list_memories(service: "MemoryService", given: arguments.ListMemories) -> wire.Page:
    page = service.list_memories(given.cursor, given.limit, given.filter, given.include_internal)
    return {
        "memories": [
            {
                "id": memory.id,
                "id_str": str(memory.id),
                "content": memory.content,
                "metadata": dict(memory.metadata),
            }
            for memory in page.memories
        ],
        "next_cursor": None if page.next_cursor is None else str(page.next_cursor),
    }


def entity(service: "MemoryService", given: arguments.Entity) -> wire.EntityView:
    view = service.entity(given.name)
    return {
        "found": view.found,
        "id": view.id,
        "id_str": str(view.id),
        "name": view.name,
        "attributes": dict(view.attributes),
        "relations": [
            {
                "predicate": relation.predicate,
                "target": relation.name,
                "target_id": relation.id,
                "target_id_str": str(relation.id),
            }
            for relation in view.relations
        ],
        "relations_in": [
            {
                "predicate": relation.predicate,
                "source": relation.name,
                "source_id": relation.id,
                "source_id_str": str(relation.id),
            }
            for relation in view.relations_in
        ],
        "relations_truncated": view.relations_truncated,
        "relations_in_truncated": view.relations_in_truncated,
    }


def remember_extracted(
    service: "MemoryService", given: arguments.RememberExtracted
) -> wire.Receipt:
    receipt = service.remember_extracted(
        given.text, given.metadata, given.extractor, given.idempotency_key
    )
    return {
        "request_id": receipt.request_id,
        "state": receipt.state,
        "reused": receipt.reused,
    }


def extraction_status(
    service: "MemoryService", given: arguments.ExtractionStatus
) -> wire.ExtractionResult:
    result = service.extraction_status(given.request_id)
    return {
        "request_id": result.request_id,
        "state": result.state,
        "ids": list(result.ids),
        "ids_str": [str(id) for id in result.ids],
        "skipped_over_cap": result.skipped_over_cap,
        "error": result.error,
    }


def _recalled(memory: answers.Memory) -> wire.Recalled:
    return {
        "id": memory.id,
        "id_str": str(memory.id),
        "score": memory.score,
        "content": memory.content,
        "metadata": dict(memory.metadata),
    }
