"""compile_transcript: a session's transcript cut into segments, and compiled like any context."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.serving import check_refusal, connected
from veles_core.server.app import open_memory

MIB = 1 << 20
CODE = "```python\nprint('one')\nprint('two')\n```\n"
LOG = "".join(f"2026-03-01T09:00:{n:02}Z INFO poll queue\n" for n in range(30))
PLAIN = (
    "System: You review code with care.\n"
    "User: Why did the queue stall?\n"
    f"{LOG}"
    "### Assistant\nIt polled without pause. Ünïcode 🚀 too.\n"
    f"{CODE}"
    "Tool: done\n"
)
MESSAGES = [
    {"role": "system", "content": "You review code."},
    {"role": "user", "content": [{"type": "text", "text": "Why did it "}, {"text": "stall?"}]},
    {"role": "assistant", "content": "It polled."},
]
JSONL = "".join(json.dumps(message) + "\n" for message in MESSAGES)


def compiled(client: Any, transcript: str = PLAIN, **more: Any) -> dict[str, Any]:
    request = {"query": "queue stall", "token_budget": 2000, "transcript": transcript} | more
    answer: dict[str, Any] = client.call("compile_transcript", **request)
    return answer


def test_segments_partition_the_transcript(client: Any) -> None:
    answer = compiled(client, segmentation={"min_segment_bytes": 0})
    segmentation = answer["segmentation"]
    segments = segmentation["segments"]
    assert segmentation["format_detected"] == "plain"
    assert [segment["index"] for segment in segments] == list(range(len(segments)))
    data, position = PLAIN.encode(), 0
    for segment in segments:
        assert segment["byte_start"] == position
        position = segment["byte_end"]
    assert position == len(data)
    told = [(segment["turn"], segment["role"], segment["kind"]) for segment in segments]
    assert told == [
        (0, "System", "body"),
        (1, "User", "body"),
        (1, "User", "log"),
        (2, "Assistant", "body"),
        (2, "Assistant", "code"),
        (3, "Tool", "body"),
    ]
    code = segments[4]
    assert data[code["byte_start"] : code["byte_end"]].decode() == CODE
    decisions = answer["context"]["decisions"]
    assert [each["fragment_id"] for each in decisions] == [s["fragment_id"] for s in segments]


def test_the_context_is_what_compile_context_answers(client: Any) -> None:
    answer = compiled(client)
    plain = client.call("compile_context", query="x", token_budget=99, fragments=[{"content": "a"}])
    assert answer.keys() == {"context", "segmentation"}
    assert answer["context"].keys() == plain.keys()
    assert answer["context"]["insights"]["tokens_out"] <= 2000
    assert compiled(client) == answer


def test_small_segments_are_joined_within_their_turn(client: Any) -> None:
    turn = "User: one\n```\na\n```\ntwo\n```\nb\n```\nthree\n"
    apart = compiled(client, turn, segmentation={"min_segment_bytes": 0})["segmentation"]
    joined = compiled(client, "User: a\n" + "\nmore\n" * 9)["segmentation"]
    assert len(apart["segments"]) == 5
    assert apart["merged_segments"] == 0
    assert len(joined["segments"]) == 1


def test_logs_of_a_transcript_collapse_whatever_their_times(client: Any) -> None:
    def rules(**policy: Any) -> set[str]:
        answer = compiled(client, policy=policy)["context"]
        return {decision["rule_id"] for decision in answer["decisions"]}

    assert "abstract.log_dedup" in rules()
    assert "abstract.log_dedup" not in rules(normalize_log_timestamps=False)


def test_the_system_turn_leads_the_cache(client: Any) -> None:
    first = compiled(client)["context"]["sections"][0]
    assert first["kind"] == "cache"
    assert first["content"].startswith("System: You review code with care.")
    kept = compiled(client, segmentation={"cache_system_turn": False})["context"]["sections"]
    assert {section["kind"] for section in kept} == {"body"}


def test_messages_as_json_lines_are_told_by_themselves_or_by_name(client: Any) -> None:
    for segmentation in (None, {"format": "auto"}, {"format": "jsonl"}, '{"format":"jsonl"}'):
        answer = compiled(client, JSONL, segmentation=segmentation)
        found = answer["segmentation"]
        assert found["format_detected"] == "jsonl"
        assert [s["role"] for s in found["segments"]] == ["system", "user", "assistant"]
        assert found["segments"][-1]["byte_end"] == len(JSONL.encode())
        assert "Why did it \nstall?" in answer["context"]["content"]
    forced = compiled(client, JSONL, segmentation={"format": "plain"})
    assert forced["segmentation"]["format_detected"] == "plain"


def test_ids_may_be_strings_throughout(client: Any) -> None:
    numbers = compiled(client)
    strings = compiled(client, policy={"ids_as_strings": "true"})
    expected = [str(s["fragment_id"]) for s in numbers["segmentation"]["segments"]]
    assert [s["fragment_id"] for s in strings["segmentation"]["segments"]] == expected
    decisions = strings["context"]["decisions"]
    assert [decision["fragment_id"] for decision in decisions] == expected
    assert [source["fragment_id"] for source in strings["context"]["sources"]] == expected


def test_a_transcript_is_read_from_a_file_below_a_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "session.txt").write_text(PLAIN, encoding="utf-8")
    (tmp_path / "large.txt").write_bytes(b"x" * (8 * MIB + 1))
    monkeypatch.setenv("VELESDB_MEMORY_INGEST_ROOTS", str(tmp_path))
    with open_memory() as service, connected(lambda: service) as client:
        path = str(tmp_path / "session.txt")
        given = client.call("compile_transcript", query="queue stall", token_budget=2000, path=path)
        assert given == compiled(client)
        for wrong, word, data in [
            (str(tmp_path / "large.txt"), "8388608", {"limit": 8 * MIB}),
            (str(tmp_path), "not a regular file", {}),
            ("session.txt", "absolute", {}),
            ("/etc/passwd", "outside", {}),
        ]:
            request = {"query": "x", "token_budget": 9, "path": wrong}
            check_refusal(client, "compile_transcript", request, word, field="path", **data)


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({"transcript": None}, "transcript", ["exactly one", "path"], {}),
        ({"transcript": ""}, "transcript", ["exactly one"], {}),
        ({"path": "/session.txt"}, "transcript", ["exactly one"], {}),
        ({"transcript": None, "path": "/session.txt"}, "path",
         ["VELESDB_MEMORY_INGEST_ROOTS"], {}),
        ({"transcript": {"role": "user"}}, "transcript", ["must be a string", "an object"], {}),
        ({"transcript": "x" * (8 * MIB + 1)}, "transcript",
         ["8388609 bytes", "8388608", "in parts"], {"limit": 8 * MIB, "actual": 8 * MIB + 1}),
        ({"query": None}, "query", ["required"], {}),
        ({"token_budget": None}, "token_budget", ["required"], {}),
        ({"token_budget": 0}, "token_budget", ["leaves no room"], {}),
        ({"token_budget": "many"}, "token_budget", ["must be an integer"], {}),
        ({"segmentation": {"format": "xml"}}, "segmentation",
         ["must be one of 'auto', 'plain' or 'jsonl'", '"xml"'], {}),
        ({"segmentation": {"format": "jsonl"}}, "transcript", ["line 1"], {}),
        ({"segmentation": {"min_segment_bytes": -1}}, "segmentation", ["at least 0"],
         {"limit": 0}),
        ({"segmentation": {"cache": True}}, "segmentation", ["segmentation.cache is not a"], {}),
        ({"segmentation": [1]}, "segmentation", ["must be an object"], {}),
        ({"policy": {"disabled_rules": ["x"]}}, "policy.disabled_rules", ["unknown rule 'x'"], {}),
        ({"memory_scope": {}}, "memory_scope", ["not a known argument"], {}),
        ({"fragments": []}, "fragments", ["not a known argument"], {}),
    ],
)  # fmt: skip
def test_a_bad_request_is_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], data: dict[str, Any]
) -> None:
    request = {"query": "x", "token_budget": 99, "transcript": "User: a"} | arguments
    check_refusal(refusing, "compile_transcript", request, *words, field=field, **data)
