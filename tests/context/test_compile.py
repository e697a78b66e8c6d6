"""The rules of the compiler, one by one, through its public functions."""

import base64
import re
import struct
import zlib

import pytest

from veles_core import ids
from veles_core.builtin.heuristic_tokenizer import HeuristicTokenizer
from veles_core.context.compile import compile_context, explain
from veles_core.context.handles import handle_of
from veles_core.context.model import (
    ChunkPolicy,
    CompileRequest,
    Fragment,
    Importance,
    Media,
    ModelPrice,
    Policy,
    Pricing,
    PulledMemory,
)
from veles_core.errors import InvalidInput, NotFound


class Words:
    """A token for up to six letters of a word, for a sign, and for a run of whitespace."""

    def count(self, text):
        return len(re.findall(r"\w{1,6}|[^\w\s]|\s{2,}", text))


WORDS = Words()


def compiled(*fragments, budget=1000, query="canary rollout", pulled=(), **options):
    parts = tuple(Fragment(each) if isinstance(each, str) else each for each in fragments)
    return compile_context(CompileRequest(query, parts, budget, **options), WORDS, pulled)


def context(*fragments, **options):
    return compiled(*fragments, **options).context


def decision(fragment, **options):
    return context(fragment, **options).decisions[0]


def png(width, height, seed=0):
    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = (b"\0" + bytes([seed]) * width * 3) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def image(data, mime="image/png"):
    return Media(mime, base64.b64encode(data).decode())


def screenshot(data, target="main", **options):
    return Fragment(media=image(data), kind="screenshot", metadata={"target": target}, **options)


LONG = "\n\n".join(
    " ".join(f"The {word} canary went out and every probe stayed green." for _ in range(6))
    for word in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
)


# Rules: the first enabled one that matches wins


@pytest.mark.parametrize(
    ("fragment", "rule", "action"),
    [
        (Fragment(media=image(png(4, 4))), "media.atomic", "preserve"),
        (Fragment("x", metadata={"verbatim": True}), "preserve.marked_verbatim", "preserve"),
        (
            Fragment("x", metadata={"verbatim": True, "cache": True}),
            "preserve.marked_verbatim",
            "preserve",
        ),
        (Fragment("never x", metadata={"cache": True}), "cache.stable_prefix", "cache"),
        (Fragment("x", metadata={"cache": 1, "verbatim": "yes"}), "preserve.default", "preserve"),
        (Fragment("never()", kind="code"), "preserve.code_fence", "preserve"),
        (Fragment("so:\n```\nx\n```"), "preserve.code_fence", "preserve"),
        (Fragment("so:\n~~~\nx\n~~~"), "preserve.code_fence", "preserve"),
        (Fragment("an ~~~ inline"), "preserve.default", "preserve"),
        (Fragment("Do not merge 1 2 3"), "preserve.negative_constraint", "preserve"),
        (Fragment("a 1\na 1\nb 2", kind="log"), "abstract.log_dedup", "abstract"),
        (Fragment("a 1\na 1\nb 2"), "preserve.exact_values", "preserve"),
        (Fragment("a 1\nb 2\nc 3", kind="log"), "preserve.exact_values", "preserve"),
        (Fragment("v1.2 of 7, in 2026"), "preserve.exact_values", "preserve"),
        (Fragment("٣ ٤ ٥"), "preserve.exact_values", "preserve"),
        (Fragment("1,2,3 are one token"), "preserve.default", "preserve"),
        (Fragment("see HTTPS://example.com"), "preserve.url", "preserve"),
        (Fragment("at www.example.com"), "preserve.url", "preserve"),
        (Fragment("http:// alone"), "preserve.default", "preserve"),
        (Fragment("just prose"), "preserve.default", "preserve"),
    ],
)
def test_first_matching_rule_wins(fragment, rule, action):
    found = decision(fragment)
    assert (found.rule_id, found.action) == (rule, action)
    assert found.risk == ("medium" if action == "abstract" else "low")


@pytest.mark.parametrize(
    ("disabled", "fragment", "rule"),
    [
        ("preserve.negative_constraint", Fragment("Never 1 2 3"), "preserve.exact_values"),
        ("abstract.log_dedup", Fragment("a\na", kind="log"), "preserve.default"),
        ("cache.stable_prefix", Fragment("x", metadata={"cache": True}), "preserve.default"),
        ("media.atomic", Fragment(media=image(png(4, 4))), "preserve.default"),
        ("preserve.default", Fragment("x"), "preserve.default"),
    ],
)
def test_a_disabled_rule_is_passed_over_but_the_default_always_holds(disabled, fragment, rule):
    found = context(fragment, policy=Policy(disabled_rules=(disabled,)))
    assert found.decisions[0].rule_id == rule
    assert all(section.kind == "body" for section in found.sections)


def test_exact_values_are_critical_but_a_time_stamp_in_each_log_line_is_no_promise():
    lines = "".join(f"2026-03-01T09:00:{n:02}Z step {n}\n" for n in range(60))
    budget = {"budget": 300, "policy": Policy(chunk=ChunkPolicy(max_chunk_bytes=300))}
    assert decision(Fragment(lines), **budget).risk == "high"
    assert decision(Fragment(lines, kind="log"), **budget).risk == "medium"


# Cases


def billing_request():
    paragraph = " ".join(
        "The billing dashboard lists open invoices and lets the team filter them by owner."
        for _ in range(13)
    )
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    return (
        *(Fragment(f"{paragraph} {word}", priority=9) for word in words),
        Fragment("Release rule: you cannot  merge\nto the main branch on Fridays."),
        Fragment("Reviewers: don’t approve your own change."),
        Fragment("Undo nothing here; the editor keeps a full history of the draft."),
    )


def test_a_prohibition_survives_compression():
    fragments = billing_request()
    request = CompileRequest("billing dashboard", fragments, 120)
    found = compile_context(request, HeuristicTokenizer()).context
    assert fragments[10].content in found.content
    assert fragments[11].content in found.content
    for each in found.decisions[10:12]:
        assert (each.action, each.rule_id, each.risk) == (
            "preserve",
            "preserve.negative_constraint",
            "low",
        )
    assert found.decisions[12].rule_id != "preserve.negative_constraint"
    assert found.insights.tokens_out <= 120
    assert found.risk == "medium"


def test_a_prohibition_that_fits_nowhere_is_high_risk_and_retrievable():
    fragments = billing_request()
    request = CompileRequest("billing dashboard", fragments, 10)
    done = compile_context(request, HeuristicTokenizer())
    assert done == compile_context(request, HeuristicTokenizer())
    assert done.context.risk == "high"
    sources = {handle_of(source.id): source.data for source in done.sources}
    for fragment, each in list(zip(fragments, done.context.decisions, strict=True))[10:12]:
        assert (each.action, each.risk) == ("retrieve", "high")
        assert sources[each.handle] == fragment.content.encode()


def incident(heartbeat):
    lines = [heartbeat(n) for n in range(40)]
    for n in range(20):
        lines.insert(
            3 * n,
            f"2026-03-01T09:00:{n:02}Z ERROR charge refused order ORD-{n * 37 + 10000} code=51",
        )
    return "\n".join([*lines, "FATAL worker stopped"])


@pytest.mark.parametrize("normalize", [None, False, True])
def test_log_lines_that_differ_in_a_number_all_stay(normalize):
    text = incident(lambda _: "INFO heartbeat ok")
    done = compiled(
        Fragment(text, kind="log"), budget=20_000, policy=Policy(normalize_log_timestamps=normalize)
    )
    lines = done.context.content.split("\n")
    assert len(lines) == 22
    assert sum("ORD-" in line for line in lines) == 20
    assert lines.count("FATAL worker stopped") == 1
    assert lines[1] == "INFO heartbeat ok (x40)"
    [found] = done.context.decisions
    assert (found.action, found.rule_id, found.risk) == ("abstract", "abstract.log_dedup", "medium")
    assert done.context.sources[0].handle == handle_of(done.sources[0].id)
    assert done.sources[0].data == text.encode()


def test_normalised_time_stamps_group_lines_under_the_first_one():
    text = incident(lambda n: f"2026-03-01T09:00:{n:02}Z INFO poll queue")
    found = context(
        Fragment(text, kind="log"), budget=20_000, policy=Policy(normalize_log_timestamps=True)
    )
    lines = found.content.split("\n")
    assert lines[1] == "2026-03-01T09:00:00Z INFO poll queue (x40)"
    assert sum("poll queue" in line for line in lines) == 1
    assert sum("ORD-" in line for line in lines) == 20


def test_text_that_looks_like_special_tokens_is_kept_byte_for_byte():
    text = "<|endoftext|><|fim_prefix|>"
    assert context(text).content == text


# Duplicates


def test_exact_and_near_duplicates_are_dropped_while_their_twin_is_there():
    found = context("The canary is green.", "The canary is green.", "the  CANARY\nis Ｇreen.")
    assert found.content == "The canary is green."
    assert [(d.action, d.rule_id, d.risk) for d in found.decisions] == [
        ("preserve", "preserve.default", "low"),
        ("drop", "drop.duplicate", "low"),
        ("drop", "drop.near_duplicate", "low"),
    ]
    assert found.decisions[2].handle in {ref.handle for ref in found.sources}
    assert found.risk == "low"


def test_near_duplicates_stay_if_the_policy_says_so():
    found = context("green", "GREEN", "green", policy=Policy(near_dup_dedup=False))
    assert [d.action for d in found.decisions] == ["preserve", "preserve", "drop"]


def test_a_critical_near_duplicate_is_kept():
    found = context("never deploy on FRIDAY", "Never deploy on Friday", "NEVER deploy on Friday")
    assert [d.action for d in found.decisions] == ["preserve"] * 3


def test_an_exact_duplicate_survives_as_the_one_that_matters_most():
    plain, marked = Fragment("keep me"), Fragment("keep me", metadata={"verbatim": True})
    found = context(plain, marked)
    assert [d.action for d in found.decisions] == ["drop", "preserve"]
    assert "#1" in found.decisions[0].reason


def test_a_duplicate_of_a_twin_that_was_not_fully_emitted_says_so():
    found = context(LONG, LONG, LONG.upper(), budget=200)
    assert found.decisions[0].risk == "medium"
    for each in found.decisions[1:]:
        assert (each.action, each.risk) == ("drop", "medium")
        assert "not fully emitted" in each.reason
    marked = Fragment(LONG, metadata={"verbatim": True})
    found = context(marked, marked, budget=200)
    assert [d.risk for d in found.decisions] == ["high", "high"]
    assert "not fully emitted" in found.decisions[1].reason


def test_media_is_compared_by_its_decoded_bytes():
    data = png(8, 8)
    found = context(Fragment(media=image(data)), Fragment(media=image(data, "image/jpeg")))
    assert [d.rule_id for d in found.decisions] == ["media.atomic", "drop.duplicate"]
    assert found.decisions[0].content_hash == ids.source_id(data)


def test_text_is_no_duplicate_of_media_with_the_same_bytes():
    found = context(Fragment(media=image(b"green", "text/plain")), "green")
    assert [d.action for d in found.decisions] == ["preserve", "preserve"]
    assert found.content == "green"


def test_a_later_screenshot_of_the_same_target_supersedes_the_earlier_ones():
    shots = [png(8, 8, seed) for seed in range(3)]
    found = context(*map(screenshot, shots), screenshot(shots[0], "other"), Fragment("text"))
    assert [(d.action, d.rule_id, d.risk) for d in found.decisions[:4]] == [
        ("retrieve", "retrieve.screenshot_superseded", "medium"),
        ("retrieve", "retrieve.screenshot_superseded", "medium"),
        ("preserve", "media.atomic", "low"),
        ("preserve", "media.atomic", "low"),
    ]
    assert found.risk == "medium"


def test_the_same_screenshot_again_is_not_lost_between_the_two_rules():
    shot = png(8, 8)
    found = context(screenshot(shot), screenshot(shot))
    assert [d.rule_id for d in found.decisions] == [
        "retrieve.screenshot_superseded",
        "media.atomic",
    ]


# Packing


def test_critical_before_priority_before_relevance_before_input_order():
    def kept(*fragments):
        found = context(*fragments, budget=3, query="canary rollout")
        return [d.action != "retrieve" for d in found.decisions].index(True)

    assert kept(Fragment("red blue", priority=255), "never red blue") == 1
    assert kept("red blue", Fragment("blue red", priority=1)) == 1
    assert kept("red blue", "red canary") == 1
    assert kept(Fragment("red blue", priority=1), "red canary") == 0
    assert kept("red blue", "blue red") == 0


def test_the_content_is_the_prefix_then_the_rest_in_input_order():
    cached = Fragment("stable", metadata={"cache": True})
    found = context("one", Fragment("two", priority=9), cached, "never three")
    assert found.content == "stable\n\none\n\ntwo\n\nnever three"
    assert [(s.kind, s.content) for s in found.sections] == [
        ("cache", "stable"),
        ("body", "\n\none\n\ntwo\n\nnever three"),
    ]
    assert found.sections[1].fragment_ids == tuple(
        found.decisions[n].fragment_id for n in (0, 1, 3)
    )


def test_later_items_still_get_their_chance():
    found = context("red " * 50, "blue", "green " * 50, "teal", budget=5)
    assert found.content == "blue\n\nteal"


def test_the_joiner_is_charged_only_between_blocks():
    assert context("one two three", budget=3).content == "one two three"
    assert context("one", "two", budget=3).content == "one\n\ntwo"
    assert context("one", "two", budget=2).content == "one"


def test_a_text_that_does_not_fit_is_cut_after_a_paragraph_then_filled_up_with_sentences():
    found = context(LONG, budget=200, policy=Policy(chunk=ChunkPolicy(max_chunk_bytes=400)))
    assert LONG.startswith(found.content)
    assert found.content.rstrip().endswith("green.")
    assert found.insights.tokens_out > 185
    [each] = found.decisions
    assert (each.action, each.risk) == ("preserve", "medium")
    assert f"{len(found.content)} of its {len(LONG)} bytes" in each.reason
    assert [h.handle for h in found.retrieval_handles] == [each.handle]


class Blocks:
    """A token a started block of 16 characters: the whole costs less than its parts."""

    def count(self, text):
        return -(-len(text) // 16)


def test_what_the_assembled_whole_costs_less_than_its_parts_is_filled_once_more():
    fragments = tuple(Fragment(f"red {n:02}") for n in range(60))
    found = compile_context(CompileRequest("x", fragments, 20), Blocks()).context
    assert found.content.count("red") > 20  # each alone is a token, and so is each joiner
    assert found.insights.tokens_out <= 20


def test_an_over_full_budget_is_used():
    paragraph = " ".join("It then looked at each of the many files in turn." for _ in range(900))
    words = "word " * 5000
    for text in (paragraph, words):
        assert 970 <= context(text, budget=1000).insights.tokens_out <= 1000


def test_a_collapsed_log_that_does_not_fit_is_cut_at_lines_that_matter_most():
    lines = [f"INFO step {n} of many took place here" for n in range(300)]
    lines[100:100] = ["INFO heartbeat ok"] * 500
    lines[250] = "ERROR the disk of node seven is full"
    text = "\n".join(lines)
    found = context(Fragment(text, kind="log"), budget=100)
    kept = found.content.split("\n")
    assert "INFO heartbeat ok (x499)" in kept
    assert "ERROR the disk of node seven is full" in kept
    places = [text.index(line.removesuffix(" (x499)")) for line in kept]
    assert places == sorted(places)
    assert 90 <= found.insights.tokens_out <= 100
    [each] = found.decisions
    assert (each.action, each.rule_id, each.risk) == ("abstract", "abstract.log_dedup", "medium")
    assert f"{len(kept)} of its 302 lines" in each.reason
    assert found.retrieval_handles[0].handle == each.handle


def test_media_that_does_not_fit_is_retrievable_at_high_risk():
    found = context(Fragment(media=image(png(300, 300))), budget=50)
    [each] = found.decisions
    assert (each.action, each.rule_id, each.risk) == ("retrieve", "budget.externalize", "high")
    assert found.retrieval_handles[0].estimated_tokens == 120


def test_no_fragments_give_an_empty_context():
    found = context()
    assert (found.content, found.sections, found.risk) == ("", (), "low")
    assert found.insights.tokens_saved == 0


# The reserve, warnings, insights, slim answers


def test_the_reserve_is_kept_free():
    found = context(LONG, budget=300, policy=Policy(response_reserve_tokens=100))
    assert found.insights.tokens_out <= 200


def test_a_relevant_fragment_that_is_only_retrievable_is_warned_about():
    found = context(
        "canary " + "red " * 50, "rollout canary " + "blue " * 50, "teal " * 50, budget=9
    )
    assert [w.relevance for w in found.warnings] == [0.5, 1.0]
    assert found.warnings[0].fragment_id == found.decisions[0].fragment_id
    assert all(w.action == "retrieve" for w in found.warnings)


def test_savings_are_credited_to_the_rules_that_made_them():
    log = Fragment("INFO poll\n" * 100, kind="log")
    found = context("green", "green", log, "red " * 300, budget=50)
    insights = found.insights
    assert set(insights.tokens_saved_by_rule) == {
        "abstract.log_dedup",
        "budget.externalize",
        "drop.duplicate",
    }
    assert sum(insights.tokens_saved_by_rule.values()) == insights.tokens_saved
    assert insights.tokens_saved == insights.tokens_in - insights.tokens_out


def test_the_cost_is_in_whole_micros_rounded_down():
    pricing = Pricing("v7", "EUR", {"m": ModelPrice(3_000_001)})
    options = {"budget": 50, "policy": Policy(pricing=pricing)}
    insights = context("red " * 300, target_model="m", **options).insights
    assert insights.tokens_saved == 300
    assert insights.estimated_cost_saved_micros == 900  # 900.0003
    assert (insights.currency, insights.pricing_version) == ("EUR", "v7")
    for model in ("other", None):
        insights = context("red " * 300, target_model=model, **options).insights
        assert insights.estimated_cost_saved_micros is insights.currency is None


def test_a_slim_answer_leaves_out_decisions_and_sections_only():
    options = {"budget": 9, "query": "red"}
    whole = context("red " * 50, "blue", **options)
    slim = context("red " * 50, "blue", policy=Policy(slim_response=True), **options)
    assert (slim.decisions, slim.sections) == ((), ())
    for name in ("content", "sources", "retrieval_handles", "insights", "risk", "warnings"):
        assert getattr(slim, name) == getattr(whole, name)


def test_a_given_id_replaces_the_content_derived_one_but_not_the_handle():
    found = context(Fragment("x", id=" 77 "))
    assert found.decisions[0].fragment_id == found.sources[0].fragment_id == 77
    assert found.decisions[0].content_hash == ids.source_id(b"x")
    assert found.sources[0].handle == handle_of(ids.source_id(b"x"))


# Pulled memories


def memory(number, content, **options):
    return PulledMemory(number, content, **options)


def test_pulled_memories_come_after_the_fragments_and_say_where_they_are_from():
    found = context("green", pulled=[memory(2**63 + 1, "the canary"), memory(5, "green")])
    assert [d.memory_id for d in found.decisions] == [None, 2**63 + 1, 5]
    assert f"memory {2**63 + 1}" in found.decisions[1].reason
    assert [d.action for d in found.decisions] == ["preserve", "preserve", "drop"]
    assert found.sources[1].memory_id == 2**63 + 1


@pytest.mark.parametrize(
    ("importance", "kept"),
    [
        (Importance(confidence=0.0, recency=0.0), 0),
        (Importance(confidence=0.5, recency=0.0), 1),
        (Importance(confidence=0.0, recency=0.5), 2),
        (Importance(confidence=0.0, recency=0.5, recency_field="seen"), 0),
        (Importance(confidence=-0.5, recency=0.0), 2),
    ],
)
def test_importance_decides_which_memory_is_packed(importance, kept):
    pulled = [
        memory(0, "red one", metadata={"_veles_date": 20250101, "seen": 20260301}),
        memory(1, "red two", confidence=0.9, metadata={"_veles_date": 20250101}),
        memory(2, "red six", confidence=0.4, metadata={"_veles_date": 20260301, "seen": 20260101}),
    ]
    found = context(pulled=pulled, budget=2, policy=Policy(importance=importance))
    assert [d.action for d in found.decisions].index("preserve") == kept


def test_a_memory_that_is_close_in_meaning_is_packed_before_an_unrelated_fragment():
    found = context("red blue", pulled=[memory(1, "teal gold", score=0.8)], budget=2)
    assert [d.action for d in found.decisions] == ["retrieve", "preserve"]
    assert found.decisions[1].relevance == 0.0


def test_a_memory_can_not_claim_the_callers_prefix():
    found = context(pulled=[memory(1, "red", metadata={"cache": True, "verbatim": True})])
    assert found.decisions[0].rule_id == "preserve.default"


# Explaining


def test_explain_gives_the_decision_of_the_compilation():
    fragments = (Fragment("green"), Fragment("green"), Fragment("red " * 50))
    request = CompileRequest("x", fragments, 9, policy=Policy(slim_response=True))
    decisions = context(*fragments, budget=9, query="x").decisions
    for index in range(3):
        assert explain(request, WORDS, fragment_index=index) == decisions[index]
    wanted = str(decisions[2].fragment_id)
    assert explain(request, WORDS, fragment_id=wanted) == decisions[2]
    assert explain(request, WORDS, fragment_id=wanted, fragment_index=1) == decisions[1]


def test_explain_by_id_finds_the_survivor_of_identical_fragments():
    fragments = (Fragment("green"), Fragment("green", metadata={"verbatim": True}))
    found = explain(CompileRequest("x", fragments, 9), WORDS, fragment_id=ids.source_id(b"green"))
    assert found.action == "preserve"


def test_explain_refuses_what_is_not_there():
    request = CompileRequest("x", (Fragment("green"),), 9)
    with pytest.raises(InvalidInput, match="fragment_index 1 is out of range") as refused:
        explain(request, WORDS, fragment_index=1)
    assert refused.value.field == "fragment_index"
    with pytest.raises(InvalidInput, match="fragment_index -1"):
        explain(request, WORDS, fragment_index=-1)
    with pytest.raises(NotFound, match="fragment_id 7"):
        explain(request, WORDS, fragment_id="7")
    with pytest.raises(InvalidInput, match="fragment_id must be"):
        explain(request, WORDS)
