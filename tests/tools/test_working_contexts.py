"""Working contexts: a session's state, saved, listed, resumed and saved again."""

from typing import Any

import pytest

from tests.serving import check_refusal
from veles_core.testing.clock import SettableClock

MIB = 1 << 20
BIG = "18446744073709551615"
SOURCE = {"fragment_id": BIG, "handle": f"ctx://source/{BIG}", "memory_id": "9007199254740993"}
WORKING: dict[str, Any] = {
    "goal": "resize the cluster 🚀",
    "active_constraints": [{"text": "never on Fridays", "source": SOURCE}, {"text": "ask first"}],
    "verified_facts": [{"text": "it has six nodes"}],
    "open_hypotheses": [],
    "decisions": [{"fragment_id": BIG, "rule_id": "preserve.url"}],
    "exact_evidence": [SOURCE, {"fragment_id": "0", "handle": "ctx://source/0"}],
    "pending_actions": ['{"not": "decoded"}', "null", " drain node 7\r\n"],
}


def save(client: Any, working: Any, project: str = "ops", session: str = "s1") -> dict[str, Any]:
    answer: dict[str, Any] = client.call(
        "save_working_context", project=project, session=session, working=working
    )
    return answer


def load(client: Any, project: str = "ops", session: str = "s1") -> dict[str, Any]:
    answer: dict[str, Any] = client.call("load_working_context", project=project, session=session)
    return answer


def sessions(client: Any, project: str = "ops") -> list[str]:
    listed = client.call("list_working_contexts", project=project)["sessions"]
    return [entry["session"] for entry in listed]


def test_a_state_that_arrives_as_json_text_is_a_state(client: Any) -> None:
    save(client, '{"goal":"resize the cluster"}')
    loaded = load(client)
    assert loaded["found"] is True
    assert loaded["working"]["goal"] == "resize the cluster"


def test_a_state_comes_back_as_it_was_saved_and_may_be_saved_back(client: Any) -> None:
    saved = save(client, WORKING)
    assert saved == {"id": int(saved["id_str"]), "id_str": saved["id_str"]}
    loaded = load(client)
    assert loaded == {"found": True, "working": WORKING, "other_sessions": []}
    assert save(client, loaded["working"]) == saved
    assert load(client) == loaded


def test_ids_may_be_sent_as_numbers_and_come_back_as_strings(client: Any) -> None:
    source = {"fragment_id": int(BIG), "handle": SOURCE["handle"], "memory_id": 5}
    working = {
        "verified_facts": [{"text": "a", "source": source}],
        "decisions": [{"fragment_id": 7, "rule_id": "r"}],
        "exact_evidence": [source],
        "goal": None,
        "pending_actions": None,
    }
    save(client, working)
    expected = SOURCE | {"memory_id": "5"}
    assert load(client)["working"] == {
        "verified_facts": [{"text": "a", "source": expected}],
        "decisions": [{"fragment_id": "7", "rule_id": "r"}],
        "exact_evidence": [expected],
    }


def test_what_was_never_saved_is_not_found_but_its_neighbours_are_told(client: Any) -> None:
    assert load(client) == {"found": False, "working": None, "other_sessions": []}
    save(client, WORKING, session="s-1")
    save(client, WORKING, session="s-2")
    found = load(client)
    assert sorted(found.pop("other_sessions")) == ["s-1", "s-2"]  # a second may pass in between
    assert found == {"found": False, "working": None}
    assert load(client, session="s-1")["other_sessions"] == ["s-2"]
    assert load(client, project="OPS") == {"found": False, "working": None, "other_sessions": []}


def test_saving_again_replaces_the_whole_state(client: Any) -> None:
    first = save(client, WORKING)
    assert save(client, {"goal": "another"}, session=" s1 ") == first
    assert load(client)["working"] == {"goal": "another"}
    assert sessions(client) == ["s1"]


def test_sessions_are_listed_newest_first(timed: Any, clock: SettableClock) -> None:
    for session in ("b", "a", "c"):
        save(timed, WORKING, session=session)
    clock.advance(60)
    save(timed, WORKING, session="c")
    save(timed, WORKING, project="shop", session="d")
    listed = timed.call("list_working_contexts", project=" ops ")["sessions"]
    now = int(clock.now())
    assert listed == [
        {"session": "c", "saved_at": now},
        {"session": "a", "saved_at": now - 60},
        {"session": "b", "saved_at": now - 60},
    ]
    assert sessions(timed, "nowhere") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [(("p\x1fq", "r"), ("p", "q\x1fr")), (("p/q", "r"), ("p", "q/r")), (("pq", "r"), ("p", "qr"))],
)
def test_two_pairs_never_share_a_state(
    client: Any, one: tuple[str, str], other: tuple[str, str]
) -> None:
    first, second = save(client, {"goal": "one"}, *one), save(client, {"goal": "other"}, *other)
    assert first["id"] != second["id"]
    assert load(client, *one)["working"] == {"goal": "one"}
    assert load(client, *other)["working"] == {"goal": "other"}
    assert sessions(client, one[0]) == [one[1]]


def test_forgetting_a_state_takes_it_from_the_index(client: Any) -> None:
    saved = save(client, WORKING)
    assert client.call("forget", id=saved["id_str"]) == saved | {"found": True}
    assert client.call("forget", id=saved["id_str"])["found"] is False
    assert sessions(client) == []
    assert load(client)["found"] is False


def test_a_large_state_is_kept_and_one_over_the_limit_is_not(client: Any) -> None:
    def of(size: int) -> dict[str, Any]:
        return {"goal": "g" * (size - len('{"goal":""}'))}

    save(client, of(MIB))
    before = load(client)
    assert before["working"] == of(MIB)
    arguments = {"project": "ops", "session": "s1", "working": of(MIB + 1)}
    check_refusal(
        client,
        "save_working_context",
        arguments,
        "1048577 bytes",
        "1048576",
        field="working",
        limit=MIB,
        actual=MIB + 1,
    )
    assert load(client) == before


def nothing_in(field: str) -> dict[str, Any]:
    return {"goal": " \n", field: []}


@pytest.mark.parametrize(
    ("working", "words"),
    [
        (None, ["working is required"]),
        ({}, ["working is empty", "replace a real state"]),
        ({"goal": ""}, ["is empty"]),
        (nothing_in("decisions"), ["is empty"]),
        (nothing_in("pending_actions"), ["is empty"]),
        ([], ["must be an object", "an array"]),
        ("resize the cluster", ["must be an object"]),
        ({"goal": 5}, ["working.goal must be a string", "5"]),
        ({"goals": "x"}, ["working.goals is not a known argument", "did you mean goal?"]),
        ({"goal": "x", "notes": []}, ["working.notes is not a known argument"]),
        ({"pending_actions": "drain"}, ["working.pending_actions must be an array"]),
        ({"pending_actions": [{"text": "a"}]}, ["pending_actions[0] must be a string"]),
        ({"verified_facts": ["it has six nodes"]}, ["verified_facts[0] must be an object"]),
        ({"verified_facts": [{"fact": "x"}]}, ["verified_facts[0].fact is not a known"]),
        ({"verified_facts": [{}]}, ["verified_facts[0].text is required"]),
        ({"open_hypotheses": [{"text": "a", "source": "b"}]}, ["source must be an object"]),
        ({"exact_evidence": [{"fragment_id": "5"}]}, ["exact_evidence[0].handle is required"]),
        ({"exact_evidence": [{"fragment_id": "-5", "handle": "h"}]}, ["must be an id", '"-5"']),
        ({"exact_evidence": [SOURCE | {"fragment_id": 5.0}]}, ["fragment_id must be an id"]),
        ({"exact_evidence": [SOURCE | {"memory_id": True}]}, ["memory_id must be an id"]),
        ({"exact_evidence": [SOURCE | {"note": "x"}]}, ["exact_evidence[0].note is not a known"]),
        ({"decisions": [{"fragment_id": "5"}]}, ["decisions[0].rule_id is required"]),
        ({"decisions": ["preserve.url"]}, ["decisions[0] must be an object"]),
    ],
)
def test_what_is_no_state_replaces_none(refusing: Any, working: Any, words: list[str]) -> None:
    save(refusing, WORKING)
    arguments = {"project": "ops", "session": "s1", "working": working}
    check_refusal(refusing, "save_working_context", arguments, *words, field="working")
    assert load(refusing)["working"] == WORKING


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("save_working_context", {"project": "p", "session": "s", "working": {"goal": "g"}}),
        ("load_working_context", {"project": "p", "session": "s"}),
        ("list_working_contexts", {"project": "p"}),
    ],
)
def test_a_session_has_two_names(refusing: Any, tool: str, arguments: dict[str, Any]) -> None:
    for slot in arguments.keys() & {"project", "session"}:
        for value, word in [
            (None, "required"),
            ("", "empty"),
            (" \t", "empty"),
            (5, "must be a string"),
        ]:
            check_refusal(refusing, tool, arguments | {slot: value}, word, field=slot)
    check_refusal(refusing, tool, arguments | {"sesion": "s"}, "not a known", field="sesion")
    assert sessions(refusing, "p") == []
