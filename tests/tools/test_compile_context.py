"""compile_context: a budget kept, prohibitions and exact lines kept with it, nothing lost."""

import base64
import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.serving import check_refusal, connected
from veles_core.server.app import open_memory

KIB, MIB = 1 << 10, 1 << 20
IDS = {"fragment_id", "content_hash", "memory_id", "fragment_ids"}

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
DASHBOARD = (
    "The billing dashboard shows what each team spends, drawn from the ledger of the night "
    "before, with a chart for every product and a table below it that can be sorted by owner. "
    "Whoever opens the billing dashboard sees their own team first, then the sum of the "
    "department, then the share of shared services that finance has spread over all of them. "
    "A filter on the left narrows the billing dashboard to a region or to a single account, "
    "and the link in the corner copies that view for a colleague, who sees the same numbers "
    "with the same colours on any screen. Teams look at it on Mondays, when the totals of the "
    "week are complete, and talk about the largest change in their stand-up. The chart of "
    "credits stands apart from the others because credits expire, and the tooltip of each bar "
    "names the invoice it belongs to. Below the fold the billing dashboard lists open disputes "
    "with their age and the person who looks after them, so that nothing waits longer than it "
    "should, and a note explains how estimates become final. This is copy number "
)
R1 = "Release rule: you cannot  merge\nto the main branch on Fridays."
R2 = "Reviewers: don’t approve your own change."
R3 = "Undo nothing here; the editor keeps a full history of the draft."


def png(width: int, height: int, payload: int) -> str:
    """A well-formed image of random-looking pixels, in base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(i * i % 251 for i in range(payload)), 0)
    image = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels)
    return base64.b64encode(image + chunk(b"IEND", b"")).decode()


def compiled(client: Any, *fragments: Any, **more: Any) -> dict[str, Any]:
    texts = [{"content": each} if isinstance(each, str) else each for each in fragments]
    request = {"query": "x", "token_budget": 1000, "fragments": texts} | more
    answer: dict[str, Any] = client.call("compile_context", **request)
    return answer


def stringified(answer: Any, name: str = "") -> Any:
    """An answer with each of its ids as a decimal string."""
    match answer:
        case dict():
            return {key: stringified(value, key) for key, value in answer.items()}
        case list():
            return [stringified(item, name) for item in answer]
        case int() if name in IDS:
            return str(answer)
    return answer


# What it answers


def test_what_fits_is_kept_whole(client: Any) -> None:
    canary = "The canary is green: 2% traffic, zero errors in the last 10 minutes."
    runbook = "Rollback runbook: kubectl rollout undo deployment/canary."
    answer = compiled(client, canary, runbook, query="state of the canary deploy", token_budget=500)
    assert canary in answer["content"]
    assert runbook in answer["content"]
    assert "".join(section["content"] for section in answer["sections"]) == answer["content"]
    first, second = answer["decisions"]
    assert (first["action"], second["action"]) == ("preserve", "preserve")
    assert first["memory_id"] is None
    assert "handle" not in first
    assert answer["insights"]["tokens_saved"] == 0
    assert answer["insights"]["tokens_out"] <= 500
    assert (answer["risk"], answer["warnings"], answer["retrieval_handles"]) == ("low", [], [])
    assert [source["fragment_id"] for source in answer["sources"]] == [
        first["fragment_id"],
        second["fragment_id"],
    ]


def test_a_prohibition_survives_compression(client: Any) -> None:
    copies = [{"content": DASHBOARD + word + ".", "priority": 9} for word in WORDS]
    rules = [{"content": rule, "priority": 0} for rule in (R1, R2, R3)]
    request: dict[str, Any] = {"query": "billing dashboard", "fragments": copies + rules}

    answer = client.call("compile_context", **request, token_budget=120)
    assert R1 in answer["content"]
    assert R2 in answer["content"]
    r1, r2, r3 = answer["decisions"][-3:]
    for decision in (r1, r2):
        assert decision["action"] == "preserve"
        assert decision["rule_id"] == "preserve.negative_constraint"
        assert decision["risk"] == "low"
    assert r3["rule_id"] != "preserve.negative_constraint"
    assert answer["insights"]["tokens_out"] <= 120
    assert answer["risk"] != "high"
    assert client.call("compile_context", **request, token_budget=120) == answer

    answer = client.call("compile_context", **request, token_budget=10)
    assert answer["risk"] == "high"
    for decision, rule in zip(answer["decisions"][-3:-1], (R1, R2), strict=True):
        assert (decision["action"], decision["risk"]) == ("retrieve", "high")
        source = client.call("retrieve_context_source", handle=decision["handle"])
        assert source["content"] == rule
    again = client.call("compile_context", **request, token_budget=10)
    assert json.dumps(again) == json.dumps(answer)


def test_log_lines_that_differ_only_in_a_number_stay(client: Any) -> None:
    orders = [f"ORD-{10_007 + 7919 * n}" for n in range(20)]
    errors = [
        f"2026-03-01T09:00:{2 * n:02}Z ERROR charge refused order {order} code=51"
        for n, order in enumerate(orders)
    ]

    def scattered(repeated: list[str]) -> list[str]:
        lines = []
        for n, error in enumerate(errors):
            lines += [error, *repeated[2 * n : 2 * n + 2]]
        return [*lines[:30], "FATAL worker stopped", *lines[30:]]

    heartbeat, poll = "INFO heartbeat ok", "INFO poll queue"
    beating = scattered([heartbeat] * 40)
    polling = scattered([f"2026-03-01T09:01:{n:02}Z {poll}" for n in range(40)])
    for lines, policy, repeated in [
        (beating, {}, f"{heartbeat} (x40)"),
        (beating, {"normalize_log_timestamps": True}, f"{heartbeat} (x40)"),
        (polling, {"normalize_log_timestamps": True}, f"2026-03-01T09:01:00Z {poll} (x40)"),
    ]:
        original = "\n".join(lines)
        log = {"content": original, "kind": "log"}
        answer = compiled(client, log, token_budget=20_000, policy=policy)
        kept = answer["content"].splitlines()
        assert len(lines) == 61
        assert len(kept) == 22
        assert kept[1] == repeated
        assert [line for line in kept if "ERROR" in line] == errors
        assert kept.count("FATAL worker stopped") == 1
        (decision,) = answer["decisions"]
        assert decision["action"] == "abstract"
        assert decision["rule_id"] == "abstract.log_dedup"
        assert decision["risk"] == "medium"
        (source,) = answer["sources"]
        found = client.call("retrieve_context_source", handle=source["handle"])
        assert found["content"] == original


def test_what_does_not_fit_is_set_aside_with_a_warning(client: Any) -> None:
    relevant = "the queue alarm " * 200
    answer = compiled(client, "short note", relevant, query="queue alarm", token_budget=4)
    (handle,) = [h for h in answer["retrieval_handles"] if h["estimated_tokens"] > 100]
    assert answer["insights"]["tokens_out"] <= 4
    assert client.call("retrieve_context_source", handle=handle["handle"])["content"] == relevant
    (warning,) = answer["warnings"]
    assert (warning["fragment_id"], warning["action"]) == (handle["fragment_id"], "retrieve")
    assert warning["relevance"] == 1.0


def test_ids_may_be_strings_throughout(client: Any) -> None:
    client.call("remember", fact="The queue alarm rings at 500", metadata={"project": "ops"})
    request: dict[str, Any] = {
        "query": "queue alarm",
        "token_budget": 30,
        "project": "ops",
        "memory_scope": {},
        "fragments": [
            {"content": "the queue alarm " * 200},
            {"content": "kept", "id": "18446744073709551615", "metadata": {"cache": True}},
            {"content": "kept too", "id": 2**64 - 2},
        ],
    }
    numbers = client.call("compile_context", **request)
    strings = client.call("compile_context", **request, policy={"ids_as_strings": True})
    assert strings == stringified(numbers)
    assert strings != numbers
    assert all((numbers["warnings"], numbers["retrieval_handles"], numbers["decisions"][-1]))
    assert numbers["decisions"][1]["fragment_id"] == 2**64 - 1
    assert strings["decisions"][2]["fragment_id"] == "18446744073709551614"
    assert strings["decisions"][-1]["memory_id"] is not None


def test_memories_are_pulled_for_the_query(client: Any) -> None:
    facts = [("The queue alarm rings at 500", "ops"), ("The queue alarm is red", "shop")]
    ids = [
        client.call("remember", fact=fact, metadata={"project": project})["id"]
        for fact, project in facts
    ]
    for scope, project, expected in [
        (None, None, set()),
        ({}, None, set(ids)),
        ({}, "ops", {ids[0]}),
        ({"project": "shop"}, "ops", {ids[1]}),
        ({"k": 1}, None, {ids[0]}),
        ({"k": 0}, None, set()),
    ]:
        answer = compiled(client, "a", query="queue alarm 500", memory_scope=scope, project=project)
        pulled = {decision["memory_id"] for decision in answer["decisions"][1:]}
        assert pulled == expected, (scope, project)
    assert facts[0][0] in compiled(client, "a", query="queue", memory_scope={})["content"]


def test_a_slim_response_leaves_out_the_audit(client: Any) -> None:
    whole = compiled(client, "a note", "another")
    slim = compiled(client, "a note", "another", policy={"slim_response": True})
    assert slim == whole | {"decisions": [], "sections": []}


def test_a_policy_may_keep_nothing(client: Any) -> None:
    answer = compiled(client, "a note", policy={"store_sources": False, "record_events": False})
    assert client.call("context_savings")["events"] == 0
    handle = answer["sources"][0]["handle"]
    error = client.refused("retrieve_context_source", handle=handle)
    assert error.data["category"] == "NotFound"


def test_the_cached_prefix_does_not_depend_on_the_rest(client: Any) -> None:
    stable = {"content": "You are a careful reviewer.", "metadata": {"cache": True}}
    prefixes = set()
    for query, other in [("a", "one note"), ("b", "another, longer note " * 50)]:
        answer = compiled(client, other, stable, query=query, token_budget=60)
        first = answer["sections"][0]
        assert first["kind"] == "cache"
        assert answer["content"].startswith(first["content"])
        prefixes.add(first["content"])
    assert len(prefixes) == 1


def test_a_price_turns_tokens_into_money(client: Any) -> None:
    models = {"m": {"input_micros_per_million_tokens": "3000000"}}
    pricing = {"version": "2026-01", "currency": "USD", "models": models}
    text = "a repeated paragraph of some length " * 20
    for model, priced in [("m", True), ("other", False), (None, False)]:
        insights = compiled(client, text, text, target_model=model, policy={"pricing": pricing})[
            "insights"
        ]
        cost = 3 * insights["tokens_saved"] if priced else None
        assert insights["tokens_saved"] > 0
        assert insights["estimated_cost_saved_micros"] == cost
        assert insights["currency"] == ("USD" if priced else None)
        assert insights["pricing_version"] == ("2026-01" if priced else None)


def test_an_image_is_a_fragment_of_its_area(client: Any) -> None:
    image = {"media": {"mime": "image/png", "bytes_b64": png(90, 75, 90 * 75)}}
    answer = compiled(client, image)
    assert answer["insights"]["tokens_in"] == 9
    assert answer["decisions"][0]["rule_id"] == "media.atomic"


def test_arguments_may_arrive_as_json_text(client: Any) -> None:
    fragments = [{"content": "a note", "priority": 3}, {"content": '{"content": "b"}'}]
    plain = compiled(client, *fragments, policy={"chunk": {"max_chunk_bytes": 300}})
    text = client.call(
        "compile_context",
        query="x",
        token_budget="1000",
        fragments=json.dumps(fragments),
        policy='{"chunk": "{\\"max_chunk_bytes\\": \\"300\\"}"}',
        memory_scope=None,
    )
    assert text == plain
    assert '{"content": "b"}' in plain["content"]


def test_a_budget_beyond_reason_is_clamped(client: Any) -> None:
    assert compiled(client, "a note", token_budget=2**70)["content"] == "a note"
    assert compiled(client)["content"] == ""


# What it refuses

ONE = [{"content": "a"}]
PRICE = {"input_micros_per_million_tokens": 1}


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({"query": None}, "query", ["required"], {}),
        ({"query": "x" * (MIB + 1)}, "query", ["1048577 bytes", "1048576"], {"limit": MIB}),
        ({"token_budget": None}, "token_budget", ["required"], {}),
        ({"token_budget": 0}, "token_budget", ["0", "leaves no room"], {"actual": 0}),
        ({"token_budget": -1}, "token_budget", ["at least 0", "-1"], {"limit": 0}),
        ({"token_budget": 500.0}, "token_budget", ["must be an integer", "500.0"], {}),
        ({"token_budget": 9, "policy": {"response_reserve_tokens": 9}}, "token_budget",
         ["response_reserve_tokens 9", "leaves no room"], {"actual": 9}),
        ({"project": "p" * (64 * KIB + 1)}, "project", ["65537 bytes", "65536"],
         {"limit": 64 * KIB, "actual": 64 * KIB + 1}),
        ({"target_model": 4}, "target_model", ["must be a string"], {}),
        ({"memory_scope": {"k": -1}}, "memory_scope", ["memory_scope.k", "at least 0"],
         {"limit": 0}),
        ({"memory_scope": {"limit": 3}}, "memory_scope", ["memory_scope.limit", "not a known"], {}),
        ({"memory_scope": {"graph_boost": "NaN"}}, "memory_scope", ["graph_boost", "number"], {}),
        ({"budget": 9}, "budget", ["did you mean token_budget?"], {}),
    ],
)  # fmt: skip
def test_a_bad_request_is_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], data: dict[str, Any]
) -> None:
    request = {"query": "x", "token_budget": 100, "fragments": ONE} | arguments
    check_refusal(refusing, "compile_context", request, *words, field=field, **data)


@pytest.mark.parametrize(
    ("fragments", "field", "words", "data"),
    [
        (None, "fragments", ["required"], {}),
        ({}, "fragments", ["must be an array", "an object"], {}),
        ("a, b", "fragments", ["must be an array"], {}),
        (ONE * 1025, "fragments", ["1025 fragments", "limit of 1024", "several calls"],
         {"limit": 1024, "actual": 1025}),
        ([*ONE, "a"], "fragments", ["fragments[1] must be an object"], {}),
        ([*ONE, {}], "fragments[1]", ["holds 0 of path", "exactly one"], {"actual": 0}),
        ([*ONE, {"content": ""}], "fragments[1]", ["exactly one"], {"actual": 0}),
        ([{"content": "a", "path": "/a"}], "fragments[0]", ["holds 2", "exactly one"],
         {"limit": 1, "actual": 2}),
        ([{"content": "a", "media": {"mime": "image/png", "bytes_b64": "AAAA"}}], "fragments[0]",
         ["holds 2", "exactly one"], {"actual": 2}),
        ([*ONE, {"content": "x" * (MIB + 1)}], "fragments[1].content",
         ["1048577 bytes", "1048576", "split it"], {"limit": MIB, "actual": MIB + 1}),
        ([{"content": "é" * (MIB // 2 + 1)}], "fragments[0].content", ["1048578 bytes"],
         {"limit": MIB}),
        ([{"content": 5}], "fragments", ["fragments[0].content must be a string"], {}),
        ([{"content": "a", "metadata": {"a": "x" * 64 * KIB}}], "fragments[0].metadata",
         ["65544 bytes", "65536"], {"limit": 64 * KIB, "actual": 64 * KIB + 8}),
        ([{"content": "a", "metadata": "x"}], "fragments", ["metadata must be an object"], {}),
        ([{"content": "a", "priority": 256}], "fragments", ["priority", "at most 255", "256"],
         {"limit": 255}),
        ([{"content": "a", "priority": "high"}], "fragments", ["priority must be an integer"], {}),
        ([{"content": "a", "id": "-1"}], "fragments", ["fragments[0].id must be an id"], {}),
        ([{"content": "a", "id": 1.0}], "fragments", ["fragments[0].id must be an id"], {}),
        ([{"content": "a", "text": "b"}], "fragments", ["fragments[0].text is not a known"], {}),
        ([{"media": {"mime": "image/png"}}], "fragments", ["media.bytes_b64 is required"], {}),
        ([{"media": {"mime": "image/png", "bytes_b64": "not base64!"}}],
         "fragments[0].media.bytes_b64", ["base64"], {}),
        ([{"media": {"mime": "image/png", "bytes_b64": "A" * 4 * (MIB // 3 + 2)}}],
         "fragments[0].media.bytes_b64", ["1048576"], {"limit": MIB}),
    ],
)  # fmt: skip
def test_bad_fragments_are_refused(
    refusing: Any, fragments: Any, field: str, words: list[str], data: dict[str, Any]
) -> None:
    request = {"query": "x", "token_budget": 100, "fragments": fragments}
    check_refusal(refusing, "compile_context", request, *words, field=field, **data)


@pytest.mark.parametrize(
    ("policy", "field", "words", "data"),
    [
        ([], "policy", ["must be an object"], {}),
        ({"rules": []}, "policy", ["policy.rules is not a known"], {}),
        ({"disabled_rules": ["preserve.urls"]}, "policy.disabled_rules",
         ["'preserve.urls'", "preserve.url,"], {"actual": "preserve.urls"}),
        ({"disabled_rules": "preserve.url"}, "policy", ["disabled_rules must be an array"], {}),
        ({"chunk": {"boundary": "word"}}, "policy",
         ["policy.chunk.boundary must be one of 'paragraph', 'sentence' or 'fixed'", '"word"'], {}),
        ({"chunk": {"max_chunk_bytes": -1}}, "policy", ["max_chunk_bytes", "at least 0"],
         {"limit": 0}),
        ({"chunk": {"size": 1}}, "policy", ["policy.chunk.size is not a known"], {}),
        ({"importance": {"confidence": "high"}}, "policy", ["confidence must be a number"], {}),
        ({"importance": {"recency": "Infinity"}}, "policy", ["finite number"], {}),
        ({"event_ttl_seconds": 2**40}, "policy.event_ttl_seconds", ["200000000000"],
         {"limit": 200_000_000_000, "actual": 2**40}),
        ({"source_ttl_seconds": 2**70}, "policy.source_ttl_seconds", ["200000000000"], {}),
        ({"response_reserve_tokens": -3}, "policy", ["at least 0", "-3"], {}),
        ({"ids_as_strings": "yes"}, "policy", ["ids_as_strings must be a boolean"], {}),
        ({"pricing": {"version": "1", "currency": "USD"}}, "policy", ["models is required"], {}),
        ({"pricing": {"version": "1", "currency": "USD", "models": []}}, "policy",
         ["models must be an object"], {}),
        ({"pricing": {"version": "1", "currency": "USD", "models": {"m": {}}}}, "policy",
         ["models.m.input_micros_per_million_tokens is required"], {}),
        ({"pricing": {"version": "1", "currency": "USD", "models": {"m" * 999: 3}}}, "policy",
         ["must be an object, not 3"], {}),
        ({"pricing": {"version": "1", "currency": "U" * 257, "models": {"m": PRICE}}},
         "policy.pricing.currency", ["257 bytes", "256"], {"limit": 256, "actual": 257}),
    ],
)  # fmt: skip
def test_a_bad_policy_is_refused(
    refusing: Any, policy: Any, field: str, words: list[str], data: dict[str, Any]
) -> None:
    request = {"query": "x", "token_budget": 100, "fragments": ONE, "policy": policy}
    check_refusal(refusing, "compile_context", request, *words, field=field, **data)


def test_files_are_not_read_unless_a_directory_is_named(client: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("swordfish")
    request = {"query": "x", "token_budget": 100, "fragments": [{"path": str(secret)}]}
    words = "VELESDB_MEMORY_INGEST_ROOTS"
    check_refusal(client, "compile_context", request, words, field="fragments")


def test_files_below_a_root_are_read_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "root", tmp_path / "root-2"
    for folder in (root, outside, root / "folder"):
        folder.mkdir()
    (root / "notes.txt").write_bytes("Zeile eins\r\nÜber\n".encode())
    (root / "latin.txt").write_bytes(b"caf\xe9")
    (root / "large.txt").write_bytes(b"x" * (MIB + 1))
    (outside / "secret.txt").write_text("swordfish")
    (root / "link.txt").symlink_to(outside / "secret.txt")
    os.mkfifo(root / "pipe")
    monkeypatch.setenv("VELESDB_MEMORY_INGEST_ROOTS", str(root))
    with open_memory() as service, connected(lambda: service) as client:
        answer = compiled(client, {"path": str(root / "notes.txt")})
        handle = answer["sources"][0]["handle"]
        source = client.call("retrieve_context_source", handle=handle)
        assert source["content"] == "Zeile eins\r\nÜber\n"

        for path, word in [
            ("notes.txt", "absolute"),
            (str(root / "folder"), "not a regular file"),
            (str(root / "pipe"), "not a regular file"),
            (str(root / "latin.txt"), "not UTF-8"),
            (str(root / "large.txt"), "1048576"),
            (str(root / "absent.txt"), "No such file"),
            (str(root / "link.txt"), "outside"),
            (str(root / ".." / "root-2" / "secret.txt"), "outside"),
            (str(outside / "secret.txt"), "outside"),
            ("/dev/zero", "outside"),
            ("/etc/passwd\x00.txt", "absolute"),
        ]:
            request = {"query": "x", "token_budget": 99, "fragments": [*ONE, {"path": path}]}
            check_refusal(client, "compile_context", request, word, field="fragments")
            message = client.refused("compile_context", **request).message
            assert "swordfish" not in message
            assert str(outside) not in message.replace(path, "")

        many = [{"path": str(root / "notes.txt")}] * 65
        request = {"query": "x", "token_budget": 99, "fragments": many}
        check_refusal(
            client, "compile_context", request, "more than 64 files", field="fragments", limit=64
        )
