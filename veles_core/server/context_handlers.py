"""Handlers of the context tools: from arguments to the service's verb, and back to JSON.

``as_id`` is how a request wants the ids of its answer: ``int``, or ``str`` if its policy
says ``ids_as_strings``.
"""

from typing import TYPE_CHECKING, cast

from veles_core.context import model
from veles_core.wire import answers as memory
from veles_core.wire import context as arguments
from veles_core.wire import context_answers as wire
from veles_core.wire import working

if TYPE_CHECKING:
    from veles_core.memory.service import MemoryService

AsId = type[int] | type[str]


def compile_context(service: "MemoryService", given: arguments.CompileContext) -> wire.Compiled:
    return _compiled(service.compile_context(given.asked()), _as_id(given.policy))


def compile_transcript(
    service: "MemoryService", given: arguments.CompileTranscript
) -> wire.CompiledTranscript:
    done, as_id = service.compile_transcript(given.asked()), _as_id(given.policy)
    return {
        "context": _compiled(done.context, as_id),
        "segmentation": {
            "format_detected": done.segmentation.format_detected,
            "segments": [
                {
                    "index": segment.index,
                    "turn": segment.turn,
                    "role": segment.role,
                    "kind": segment.kind,
                    "byte_start": segment.byte_start,
                    "byte_end": segment.byte_end,
                    "fragment_id": as_id(segment.fragment_id),
                }
                for segment in done.segmentation.segments
            ],
            "merged_segments": done.segmentation.merged_segments,
        },
    }


def explain_compilation(
    service: "MemoryService", given: arguments.ExplainCompilation
) -> wire.Decision:
    decision = service.explain_compilation(
        given.request.asked(), given.fragment_id, given.fragment_index
    )
    return _decision(decision, _as_id(given.request.policy))


def retrieve_context_source(
    service: "MemoryService", given: arguments.RetrieveContextSource
) -> wire.Retrieved:
    source = service.retrieve_context_source(given.handle)
    answer: wire.Retrieved = {"handle": source.handle, "content": source.content}
    if source.media is not None:
        answer["media"] = {"mime": source.media.mime, "bytes_b64": source.media.bytes_b64}
    return answer


def context_savings(service: "MemoryService", given: arguments.ContextSavings) -> wire.Savings:
    savings = service.context_savings(given.project)
    return {
        "events": savings.events,
        "tokens_in": savings.tokens_in,
        "tokens_out": savings.tokens_out,
        "tokens_saved": savings.tokens_saved,
        "cost_saved_micros_by_currency": dict(savings.cost_saved_micros_by_currency),
        "truncated": False,  # the store adds up all of them
    }


def suggest_budget(service: "MemoryService", given: arguments.SuggestBudget) -> wire.Suggestion:
    suggestion = service.suggest_budget(given.target_model, given.reserve_tokens)
    return {
        "window": suggestion.window,
        "suggested_budget": suggestion.suggested_budget,
        "source": suggestion.source,
    }


def save_working_context(
    service: "MemoryService", given: working.SaveWorkingContext
) -> memory.Remembered:
    saved = service.save_working_context(given.project, given.session, given.working.saved())
    return {"id": saved.id, "id_str": str(saved.id)}


def load_working_context(
    service: "MemoryService", given: working.LoadWorkingContext
) -> working.Loaded:
    loaded = service.load_working_context(given.project, given.session)
    return {
        "found": loaded.found,
        "working": cast("working.SavedState | None", loaded.working),
        "other_sessions": list(loaded.other_sessions),
    }


def list_working_contexts(
    service: "MemoryService", given: working.ListWorkingContexts
) -> working.Sessions:
    return {
        "sessions": [
            {"session": entry.session, "saved_at": entry.saved_at}
            for entry in service.list_working_contexts(given.project)
        ]
    }


def _as_id(policy: arguments.Policy) -> AsId:
    return str if policy.ids_as_strings else int


def _compiled(context: model.CompiledContext, as_id: AsId) -> wire.Compiled:
    insights = context.insights
    return {
        "content": context.content,
        "sections": [
            {
                "kind": section.kind,
                "content": section.content,
                "fragment_ids": [as_id(id) for id in section.fragment_ids],
            }
            for section in context.sections
        ],
        "decisions": [_decision(decision, as_id) for decision in context.decisions],
        "sources": [_source(source, as_id) for source in context.sources],
        "retrieval_handles": [
            {
                "handle": handle.handle,
                "fragment_id": as_id(handle.fragment_id),
                "estimated_tokens": handle.estimated_tokens,
            }
            for handle in context.retrieval_handles
        ],
        "insights": {
            "tokens_in": insights.tokens_in,
            "tokens_out": insights.tokens_out,
            "tokens_saved": insights.tokens_saved,
            "tokens_saved_by_rule": dict(insights.tokens_saved_by_rule),
            "estimated_cost_saved_micros": insights.estimated_cost_saved_micros,
            "currency": insights.currency,
            "pricing_version": insights.pricing_version,
        },
        "risk": context.risk,
        "warnings": [
            {
                "fragment_id": as_id(warning.fragment_id),
                "action": warning.action,
                "relevance": warning.relevance,
                "reason": warning.reason,
            }
            for warning in context.warnings
        ],
    }


def _decision(decision: model.Decision, as_id: AsId) -> wire.Decision:
    memory_id = decision.memory_id
    answer: wire.Decision = {
        "fragment_id": as_id(decision.fragment_id),
        "memory_id": None if memory_id is None else as_id(memory_id),
        "action": decision.action,
        "rule_id": decision.rule_id,
        "reason": decision.reason,
        "relevance": decision.relevance,
        "risk": decision.risk,
        "content_hash": as_id(decision.content_hash),
    }
    if decision.handle is not None:
        answer["handle"] = decision.handle
    return answer


def _source(source: model.SourceRef, as_id: AsId) -> wire.Source:
    answer: wire.Source = {"fragment_id": as_id(source.fragment_id), "handle": source.handle}
    if source.memory_id is not None:
        answer["memory_id"] = as_id(source.memory_id)
    return answer
