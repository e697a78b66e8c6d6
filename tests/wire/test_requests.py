"""Requests: what arguments ask of the compiler and of a migration, defaults included."""

from dataclasses import replace
from typing import Any

import pytest

from veles_core.context import model
from veles_core.errors import InvalidInput
from veles_core.migration.job import Limits
from veles_core.wire.arguments import read
from veles_core.wire.context import CompileContext, CompileTranscript
from veles_core.wire.migration import MigrationStart
from veles_core.wire.working import WorkingContext

TASK: dict[str, Any] = {"query": "q", "token_budget": 9}


def test_what_is_left_out_is_the_compilers_own_default() -> None:
    asked = read(CompileContext, TASK | {"fragments": [{"content": "a"}, {"path": "/b"}]}).asked()
    policy = replace(model.Policy(), normalize_log_timestamps=False)
    fragments = (model.Fragment("a"), model.Fragment(path="/b"))
    assert asked == model.CompileRequest("q", fragments, 9, policy=policy)


def test_what_a_transcript_leaves_out_is_its_own_default() -> None:
    asked = read(CompileTranscript, TASK | {"transcript": "t"}).asked()
    policy = replace(model.Policy(), normalize_log_timestamps=True)
    assert asked == model.TranscriptRequest("q", 9, transcript="t", policy=policy)


def test_everything_that_is_given_arrives() -> None:
    fragment = {
        "id": "7",
        "kind": "screenshot",
        "priority": 255,
        "metadata": {"target": "a"},
        "media": {"mime": "image/png", "bytes_b64": "AAAA"},
    }
    policy = {
        "chunk": {"boundary": "fixed", "max_chunk_bytes": 1, "overlap_bytes": 2},
        "disabled_rules": ["preserve.url"],
        "event_ttl_seconds": 3,
        "ids_as_strings": True,
        "importance": {"confidence": 0.5, "recency": 1, "recency_field": "d"},
        "near_dup_dedup": False,
        "normalize_log_timestamps": True,
        "pricing": {
            "version": "v",
            "currency": "c",
            "models": {"m": {"input_micros_per_million_tokens": 4}},
        },
        "record_events": False,
        "response_reserve_tokens": 5,
        "slim_response": True,
        "source_ttl_seconds": 6,
        "store_sources": False,
    }
    scope = {"project": "p", "k": 1, "hops": 2, "graph_boost": 3}
    more = {"project": "p", "target_model": "m", "memory_scope": scope, "policy": policy}
    asked = read(CompileContext, TASK | more | {"fragments": [fragment]}).asked()
    assert asked == model.CompileRequest(
        query="q",
        fragments=(
            model.Fragment(
                id=7,
                kind="screenshot",
                priority=255,
                metadata={"target": "a"},
                media=model.Media("image/png", "AAAA"),
            ),
        ),
        token_budget=9,
        project="p",
        target_model="m",
        memory_scope=model.MemoryScope("p", 1, 2, 3.0),
        policy=model.Policy(
            chunk=model.ChunkPolicy("fixed", 1, 2),
            disabled_rules=("preserve.url",),
            event_ttl_seconds=3,
            ids_as_strings=True,
            importance=model.Importance(0.5, 1.0, "d"),
            near_dup_dedup=False,
            normalize_log_timestamps=True,
            pricing=model.Pricing("v", "c", {"m": model.ModelPrice(4)}),
            record_events=False,
            response_reserve_tokens=5,
            slim_response=True,
            source_ttl_seconds=6,
            store_sources=False,
        ),
    )


def test_a_transcripts_segmentation_arrives() -> None:
    given = {"format": "plain", "min_segment_bytes": "0", "cache_system_turn": "false"}
    asked = read(CompileTranscript, TASK | {"path": "/t", "segmentation": given}).asked()
    assert asked.segmentation == model.SegmentationPolicy("plain", 0, False)
    assert (asked.transcript, asked.path) == (None, "/t")


def test_the_work_limits_that_are_left_out_are_the_migrations_own() -> None:
    start = {"target_backend": "hash", "pause_budget_ms": 7}
    assert read(MigrationStart, start).limits() == Limits(7)
    sizes = ("journal_max_bytes", "fact_batch", "replay_batch", "edge_cap")
    times = ("observation_window", "verification_reserve_ms")
    given = {name: str(number) for number, name in enumerate(sizes + times)}
    assert read(MigrationStart, start | given).limits() == Limits(7, 0, 1, 2, 3, 4, 5)


def test_a_state_is_saved_as_it_was_sent_but_for_nulls_and_numeric_ids() -> None:
    source = {"fragment_id": 2**64 - 1, "handle": "h", "memory_id": None}
    given = {"goal": None, "pending_actions": [], "exact_evidence": [source]}
    assert read(WorkingContext, given).saved() == {
        "pending_actions": [],
        "exact_evidence": [{"fragment_id": str(2**64 - 1), "handle": "h"}],
    }


def test_a_callers_own_key_is_not_repeated_whole() -> None:
    models = {"m" * 10_000: {"input_micros_per_million_tokens": "x"}}
    pricing = {"version": "", "currency": "", "models": models}
    with pytest.raises(InvalidInput) as caught:
        read(CompileContext, TASK | {"fragments": [], "policy": {"pricing": pricing}})
    assert caught.value.field == "policy"
    assert len(caught.value.message) < 250
