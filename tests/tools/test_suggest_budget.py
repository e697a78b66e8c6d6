"""suggest_budget: a window from a dated table, or an honest unknown."""

import re
from typing import Any

import pytest

from tests.serving import check_refusal


def test_a_window_less_what_the_response_needs(client: Any) -> None:
    whole = client.call("suggest_budget", target_model="claude-sonnet-4-5")
    assert whole["window"] == whole["suggested_budget"] == 200_000
    assert re.search(r"static table .* as of \d{4}-\d{2}-\d{2}", whole["source"])
    part = client.call("suggest_budget", target_model="claude-sonnet-4-5", reserve_tokens="8000")
    assert part == whole | {"suggested_budget": 192_000}
    nothing = client.call("suggest_budget", target_model="gpt-4", reserve_tokens=2**70)
    assert (nothing["window"], nothing["suggested_budget"]) == (8192, 0)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("  Claude-Sonnet-4-5 ", "claude-sonnet-4-5"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("GPT-4o-2024-08-06", "gpt-4o"),
        ("deepseek/deepseek-chat", "deepseek-chat"),
        ("x-ai/grok-4", "grok-4"),
    ],
)
def test_a_name_is_known_however_providers_write_it(client: Any, name: str, same: str) -> None:
    found = client.call("suggest_budget", target_model=name)
    assert found == client.call("suggest_budget", target_model=same)
    assert found["window"] > 0


@pytest.mark.parametrize("name", ["", "  ", "my-own-model", "gpt", "claude-sonnet-4-5-turbo", "/"])
def test_an_unlisted_model_is_unknown_and_no_error(client: Any, name: str) -> None:
    answer = client.call("suggest_budget", target_model=name)
    assert (answer["window"], answer["suggested_budget"]) == (None, None)
    assert "static table" in answer["source"]


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({}, "target_model", ["required"], {}),
        ({"target_model": 4}, "target_model", ["must be a string", "4"], {}),
        ({"target_model": "x", "reserve_tokens": -1}, "reserve_tokens", ["at least 0", "-1"],
         {"limit": 0}),
        ({"target_model": "x", "reserve_tokens": "few"}, "reserve_tokens",
         ["must be an integer"], {}),
        ({"model": "x"}, "model", ["did you mean target_model?"], {}),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], data: dict[str, Any]
) -> None:
    check_refusal(refusing, "suggest_budget", arguments, *words, field=field, **data)
