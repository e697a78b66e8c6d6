"""context_savings: what recorded compilations saved, in tokens and in each currency."""

from typing import Any

import pytest

from tests.serving import check_refusal
from veles_core.testing.clock import SettableClock

TEXT = "a repeated paragraph of some length " * 20
NOTHING = {
    "events": 0,
    "tokens_in": 0,
    "tokens_out": 0,
    "tokens_saved": 0,
    "cost_saved_micros_by_currency": {},
    "truncated": False,
}


def compiled(client: Any, project: str | None = None, **policy: Any) -> dict[str, Any]:
    """The insights of a compilation that saves something."""
    answer = client.call(
        "compile_context",
        query="x",
        token_budget=1000,
        fragments=[{"content": TEXT}, {"content": TEXT}],
        project=project,
        target_model="m",
        policy=policy,
    )
    insights: dict[str, Any] = answer["insights"]
    return insights


def pricing(currency: str, micros: int) -> dict[str, Any]:
    models = {"m": {"input_micros_per_million_tokens": micros}}
    return {"version": "1", "currency": currency, "models": models}


def test_nothing_was_saved_yet(client: Any) -> None:
    assert client.call("context_savings") == NOTHING
    assert client.call("context_savings", project="unknown") == NOTHING


def test_events_add_up_in_all_and_for_each_project(client: Any) -> None:
    one = compiled(client, "ops")
    client.call("compile_transcript", query="x", token_budget=99, transcript="User: a")
    compiled(client, "ops")
    ops = client.call("context_savings", project="ops")
    assert ops == NOTHING | {
        "events": 2,
        "tokens_in": 2 * one["tokens_in"],
        "tokens_out": 2 * one["tokens_out"],
        "tokens_saved": 2 * one["tokens_saved"],
    }
    assert one["tokens_saved"] > 0
    everything = client.call("context_savings")
    assert everything["events"] == 3
    assert everything["tokens_in"] > ops["tokens_in"]
    assert client.call("context_savings", project="OPS") == NOTHING
    assert client.call("context_savings", project="") == NOTHING


def test_money_is_added_up_by_currency_without_rounding(client: Any) -> None:
    for currency, micros in [("USD", 3_000_000), ("EUR", 1_000_000), ("USD", 3_000_000)]:
        saved = compiled(client, pricing=pricing(currency, micros))["tokens_saved"]
    compiled(client)
    answer = client.call("context_savings")
    assert answer["cost_saved_micros_by_currency"] == {"EUR": saved, "USD": 6 * saved}
    assert answer["events"] == 4


def test_an_event_may_have_a_lifetime(timed: Any, clock: SettableClock) -> None:
    compiled(timed, "ops", event_ttl_seconds=10)
    compiled(timed, "ops")
    assert timed.call("context_savings", project="ops")["events"] == 2
    clock.advance(10)
    assert timed.call("context_savings", project="ops")["events"] == 1
    assert timed.call("context_savings")["events"] == 1


def test_what_is_not_recorded_does_not_count(client: Any) -> None:
    compiled(client, record_events=False)
    assert client.call("context_savings") == NOTHING


@pytest.mark.parametrize(
    ("arguments", "field", "words"),
    [
        ({"project": 5}, "project", ["must be a string", "5"]),
        ({"project": ["a"]}, "project", ["must be a string"]),
        ({"projects": "a"}, "projects", ["did you mean project?"]),
    ],
)
def test_bad_arguments_are_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str]
) -> None:
    check_refusal(refusing, "context_savings", arguments, *words, field=field)
