"""The arguments and answers of all tools, as compact as they can be read.

A required member ends in "!"; an optional slot's advertised default follows " = ". A list
holds the shape of its items; "*" stands for a member of any name; "or null" is an answer's
absent value. A tuple holds an object and null.
"""

from typing import Any

NATURAL = "integer >= 0"
ID = "integer or string >= 0"  # a string if the request's policy asks for it

# Arguments

LINK = {"target!": "string", "relation!": "string"}
EDGE = {"from!": "string", "to!": "string", "relation!": "string"}
OP = "string of eq ne lt le gt ge"
COMPARISON = {"field!": "string", "op!": OP, "value!": "number or string or boolean"}
FRAGMENT = {
    "content": 'string = ""',
    "path": "string",
    "media": {"mime!": "string", "bytes_b64!": "string"},
    "id": "string",
    "kind": "string",
    "priority": "integer >= 0 <= 255",
    "metadata": "object",
}
POLICY = {
    "chunk": {
        "boundary": 'string of paragraph sentence fixed = "paragraph"',
        "max_chunk_bytes": "integer >= 0 = 2048",
        "overlap_bytes": "integer >= 0 = 0",
    },
    "disabled_rules": ["string"],
    "event_ttl_seconds": NATURAL,
    "ids_as_strings": "boolean = false",
    "importance": {
        "confidence": "number = 0.2",
        "recency": "number = 0.1",
        "recency_field": "string",
    },
    "near_dup_dedup": "boolean = true",
    "normalize_log_timestamps": "boolean = false",
    "pricing": {
        "version!": "string",
        "currency!": "string",
        "models!": {"*": {"input_micros_per_million_tokens!": NATURAL}},
    },
    "record_events": "boolean = true",
    "response_reserve_tokens": "integer >= 0 = 0",
    "slim_response": "boolean = false",
    "source_ttl_seconds": NATURAL,
    "store_sources": "boolean = true",
}
COMPILATION = {
    "query!": "string",
    "token_budget!": NATURAL,
    "project": "string",
    "target_model": "string",
}
COMPILE_CONTEXT = COMPILATION | {
    "fragments!": [FRAGMENT],
    "memory_scope": {
        "project": "string",
        "k": NATURAL,
        "hops": NATURAL,
        "graph_boost": "number",
    },
    "policy": POLICY,
}
SESSION = {"project!": "string", "session!": "string"}
SOURCE = {"fragment_id!": "string", "handle!": "string", "memory_id": "string"}
STATEMENT = {"text!": "string", "source": SOURCE}

INPUTS: dict[str, Any] = {
    "remember": {
        "fact!": "string",
        "links": [LINK],
        "metadata": "object",
        "ttl_seconds": NATURAL,
    },
    "recall": {"query!": "string", "k": NATURAL, "filter": "object"},
    "recall_where": {"query!": "string", "filters!": [COMPARISON], "k": NATURAL},
    "recall_fused": {
        "query!": "string",
        "k": NATURAL,
        "filter": "object",
        "hops": NATURAL,
        "graph_boost": "number",
        "pool": NATURAL,
        "date_field": "string",
    },
    "relate": EDGE,
    "unrelate": EDGE,
    "forget": {"id!": "string"},
    "feedback": {"id!": "string", "success!": "boolean"},
    "why": {"decision!": "string", "max_hops": NATURAL, "filter": "object"},
    "memory_status": {},
    "list_memories": {
        "cursor": "string",
        "limit": NATURAL,
        "filter": "object",
        "include_internal": "boolean",
    },
    "entity": {"name!": "string"},
    "remember_extracted": {
        "text!": "string",
        "metadata": "object",
        "extractor": "string",
        "idempotency_key": "string",
    },
    "extraction_status": {"request_id!": "string"},
    "compile_context": COMPILE_CONTEXT,
    "compile_transcript": COMPILATION
    | {
        "transcript": "string",
        "path": "string",
        "policy": POLICY | {"normalize_log_timestamps": "boolean = true"},
        "segmentation": {
            "format": "string of auto plain jsonl",
            "min_segment_bytes": "integer >= 0 = 256",
            "cache_system_turn": "boolean = true",
        },
    },
    "explain_compilation": {
        "request!": COMPILE_CONTEXT,
        "fragment_id!": "string",
        "fragment_index": NATURAL,
    },
    "retrieve_context_source": {"handle!": "string"},
    "context_savings": {"project": "string"},
    "suggest_budget": {"target_model!": "string", "reserve_tokens": NATURAL},
    "save_working_context": SESSION
    | {
        "working!": {
            "goal": "string",
            "active_constraints": [STATEMENT],
            "verified_facts": [STATEMENT],
            "open_hypotheses": [STATEMENT],
            "decisions": [{"fragment_id!": "string", "rule_id!": "string"}],
            "exact_evidence": [SOURCE],
            "pending_actions": ["string"],
        }
    },
    "load_working_context": SESSION,
    "list_working_contexts": {"project!": "string"},
    "migration_start": {
        "target_backend!": "string",
        "pause_budget_ms!": NATURAL,
        "journal_max_bytes": NATURAL,
        "fact_batch": NATURAL,
        "replay_batch": NATURAL,
        "edge_cap": NATURAL,
        "observation_window": NATURAL,
        "verification_reserve_ms": NATURAL,
    },
    "migration_status": {},
    "migration_cancel": {},
    "migration_recover": {},
}

# Answers

REMEMBERED = {"id!": NATURAL, "id_str!": "string"}
LISTED = REMEMBERED | {"content!": "string", "metadata": "object or null"}
MEMORIES = {"memories!": [LISTED | {"score!": "number"}]}
ACTION = "string of preserve abstract retrieve drop cache"
RISK = "string of low medium high"
COMPILED = {
    "content!": "string",
    "sections!": [{"kind!": "string of cache body", "content!": "string", "fragment_ids!": [ID]}],
    "decisions!": [
        {
            "fragment_id!": ID,
            "memory_id!": "integer or string or null >= 0",
            "action!": ACTION,
            "rule_id!": "string",
            "reason!": "string",
            "relevance!": "number",
            "risk!": RISK,
            "content_hash!": ID,
            "handle": "string or null",
        }
    ],
    "sources!": [
        {"fragment_id!": ID, "handle!": "string", "memory_id": "integer or string or null >= 0"}
    ],
    "retrieval_handles!": [{"handle!": "string", "fragment_id!": ID, "estimated_tokens!": NATURAL}],
    "insights!": {
        "tokens_in!": NATURAL,
        "tokens_out!": NATURAL,
        "tokens_saved!": NATURAL,
        "tokens_saved_by_rule!": {"*": NATURAL},
        "estimated_cost_saved_micros!": "integer or null >= 0",
        "currency!": "string or null",
        "pricing_version!": "string or null",
    },
    "risk!": RISK,
    "warnings!": [
        {"fragment_id!": ID, "action!": ACTION, "relevance!": "number", "reason!": "string"}
    ],
}
SAVED_SOURCE = {"fragment_id!": "string", "handle!": "string", "memory_id": "string or null"}
SAVED_STATEMENT = {"text!": "string", "source": (SAVED_SOURCE, "null")}
SAVED_STATE = {
    "goal": "string or null",
    "active_constraints": [SAVED_STATEMENT],
    "verified_facts": [SAVED_STATEMENT],
    "open_hypotheses": [SAVED_STATEMENT],
    "decisions": [{"fragment_id!": "string", "rule_id!": "string"}],
    "exact_evidence": [SAVED_SOURCE],
    "pending_actions": ["string"],
}
JOB = {
    "epoch_id!": "string",
    "phase!": "string of prepared capturing base_copied catching_up non_converging cutover_ready "
    "quiescing activated committed cancelled",
    "running!": "boolean",
    "target_backend!": "string",
    "target_model!": "string",
    "target_dimension!": NATURAL,
    "destination!": "string",
    "cancellation_requested!": "boolean",
    "last_error!": "string or null",
    "recovery_action!": "string or null",
    "progress!": {
        "base_facts!": NATURAL,
        "base_edge_sets!": NATURAL,
        "base_batches!": NATURAL,
        "input_watermark!": NATURAL,
        "output_watermark!": NATURAL,
        "distinct_dirty_facts!": NATURAL,
        "distinct_edge_sources!": NATURAL,
        "pending_journal_bytes!": NATURAL,
        "estimated_pause_ms!": "integer or null >= 0",
        "measured_cutover_ms!": "integer or null >= 0",
    },
    "quality!": (
        {"queries!": NATURAL, "overlap_at_10!": "number", "mean_rank_shift!": "number"},
        "null",
    ),
}
MIGRATION = {"configured!": "boolean", "job!": (JOB, "null")}

OUTPUTS: dict[str, Any] = {
    "remember": REMEMBERED,
    "recall": MEMORIES,
    "recall_where": MEMORIES,
    "recall_fused": MEMORIES | {"dated_context": "string or null", "now": "string or null"},
    "relate": {"edge_id!": NATURAL, "edge_id_str!": "string"},
    "unrelate": {"found!": "boolean", "removed!": NATURAL},
    "forget": REMEMBERED | {"found!": "boolean"},
    "feedback": REMEMBERED | {"confidence!": "number"},
    "why": {
        "nodes!": [REMEMBERED | {"content!": "string", "hop!": NATURAL}],
        "edges!": [
            {
                "from!": NATURAL,
                "from_str!": "string",
                "to!": NATURAL,
                "to_str!": "string",
                "relation!": "string",
            }
        ],
        "truncated!": "boolean",
    },
    "memory_status": {
        "embedder!": {
            "model!": "string or null",
            "dimension!": "integer or null >= 0",
            "semantic!": "boolean or null",
        },
        "provenance!": {
            "recorded!": "boolean",
            "model!": "string or null",
            "dimension!": "integer or null >= 0",
        },
        "extraction!": {
            "configured!": "boolean",
            "autograph_active!": "boolean",
            "autograph_dropped!": NATURAL,
            "autograph_failed!": NATURAL,
        },
        "memory!": {"facts!": NATURAL, "edges!": "integer or null >= 0"},
    },
    "list_memories": {"memories!": [LISTED], "next_cursor!": "string or null"},
    "entity": {
        "found!": "boolean",
        "id!": NATURAL,
        "id_str!": "string",
        "name!": "string",
        "attributes!": "object",
        "relations!": [
            {
                "predicate!": "string",
                "target!": "string",
                "target_id!": NATURAL,
                "target_id_str!": "string",
            }
        ],
        "relations_in!": [
            {
                "predicate!": "string",
                "source!": "string",
                "source_id!": NATURAL,
                "source_id_str!": "string",
            }
        ],
        "relations_truncated!": "boolean",
        "relations_in_truncated!": "boolean",
    },
    "remember_extracted": {"request_id!": "string", "state!": "string", "reused!": "boolean"},
    "extraction_status": {
        "request_id!": "string",
        "state!": "string",
        "ids!": [NATURAL],
        "ids_str!": ["string"],
        "skipped_over_cap!": "integer or null >= 0",
        "error!": "string or null",
    },
    "compile_context": COMPILED,
    "compile_transcript": {
        "context!": COMPILED,
        "segmentation!": {
            "format_detected!": "string of auto plain jsonl",
            "segments!": [
                {
                    "index!": NATURAL,
                    "turn!": NATURAL,
                    "role!": "string or null",
                    "kind!": "string of body code log",
                    "byte_start!": NATURAL,
                    "byte_end!": NATURAL,
                    "fragment_id!": ID,
                }
            ],
            "merged_segments!": NATURAL,
        },
    },
    "explain_compilation": COMPILED["decisions!"][0],
    "retrieve_context_source": {
        "handle!": "string",
        "content!": "string",
        "media": ({"mime!": "string", "bytes_b64!": "string"}, "null"),
    },
    "context_savings": {
        "events!": NATURAL,
        "tokens_in!": NATURAL,
        "tokens_out!": NATURAL,
        "tokens_saved!": NATURAL,
        "cost_saved_micros_by_currency!": {"*": NATURAL},
        "truncated!": "boolean",
    },
    "suggest_budget": {
        "window!": "integer or null >= 0",
        "suggested_budget!": "integer or null >= 0",
        "source!": "string",
    },
    "save_working_context": REMEMBERED,
    "load_working_context": {
        "found!": "boolean",
        "working!": (SAVED_STATE, "null"),
        "other_sessions!": ["string"],
    },
    "list_working_contexts": {"sessions!": [{"session!": "string", "saved_at!": NATURAL}]},
    "migration_start": MIGRATION,
    "migration_status": MIGRATION,
    "migration_cancel": MIGRATION,
    "migration_recover": MIGRATION,
}
