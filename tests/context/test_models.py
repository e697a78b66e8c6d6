"""The table of context windows, and the names that lead to its rows."""

import re

import pytest

from veles_core.context.models import AS_OF, SOURCE, WINDOWS, BudgetSuggestion, suggest_budget
from veles_core.errors import InvalidInput


def test_each_row_is_found_by_its_own_name() -> None:
    for name, window in WINDOWS.items():
        assert name == name.strip().lower()
        assert suggest_budget(name) == BudgetSuggestion(window, window, SOURCE)
        assert 4_096 <= window <= 10_485_760
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", AS_OF)
    assert AS_OF in SOURCE


@pytest.mark.parametrize(
    "start", ["claude", "gpt", "o3", "gemini", "mistral", "deepseek", "qwen", "llama", "grok"]
)
def test_each_vendor_has_rows(start: str) -> None:
    assert any(name.startswith(start) for name in WINDOWS)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        (" Claude-Sonnet-4-5\n", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic/claude-3.7-sonnet:thinking", "claude-3-7-sonnet"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
        ("claude-opus-4-1@20250805", "claude-opus-4-1"),
        ("openrouter/anthropic/claude-haiku-4.5", "claude-haiku-4-5"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("chatgpt-4o-latest", "chatgpt-4o"),
        ("azure/gpt-4-0613", "gpt-4"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("mistral-large-2512", "mistral-large"),
        ("anthropic/claude-opus-5.5", "claude-opus-5-5"),
        ("gpt-5.5-2026-04-23", "gpt-5.5"),
        ("gemini-3.1-pro-preview", "gemini-3.1-pro"),
        ("google/gemma-4-31b-it", "gemma-4-31b"),
        ("grok-4.20-0309-non-reasoning", "grok-4.20"),
        ("deepseek/deepseek-v3.2-exp", "deepseek-v3.2"),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b-instruct-2507"),
        ("Qwen/Qwen2.5-72B-Instruct", "qwen2.5-72b"),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("groq/llama-3.3-70b-versatile", "llama-3.3-70b"),
        ("meta-llama/llama-4-scout-17b-16e-instruct", "llama-4-scout"),
        ("x-ai/grok-4.1-fast", "grok-4-1-fast"),
        ("grok-4-fast-non-reasoning", "grok-4-fast"),
    ],
)
def test_names_as_providers_write_them(name: str, row: str) -> None:
    assert suggest_budget(name) == suggest_budget(row)
    assert suggest_budget(row).window == WINDOWS[row]


@pytest.mark.parametrize(
    ("dated", "window"),
    [
        ("gpt-4-1106-preview", 128_000),
        ("o1-preview-2024-09-12", 128_000),
        ("gpt-3.5-turbo-0613", 4_096),
        ("mistral-small-2402", 32_000),
        ("mistral-large-2411", 128_000),
    ],
)
def test_a_dated_model_of_another_window_has_its_own_row(dated: str, window: int) -> None:
    assert suggest_budget(dated).window == window


@pytest.mark.parametrize(
    "name", ["", " ", "/", ":", "-latest", "gpt", "claude", "claude-sonnet-4-5-turbo", "gpt-9", "4"]
)
def test_an_unlisted_name_is_unknown(name: str) -> None:
    assert suggest_budget(name, 5) == BudgetSuggestion(None, None, SOURCE)


def test_the_reserve_is_taken_off_and_never_below_nothing() -> None:
    assert suggest_budget("gpt-4", 192) == BudgetSuggestion(8192, 8000, SOURCE)
    assert suggest_budget("gpt-4", 10**30).suggested_budget == 0
    with pytest.raises(InvalidInput, match="at least 0"):
        suggest_budget("gpt-4", -1)


def test_a_hostile_name_takes_no_time() -> None:
    assert suggest_budget("-2024" * 10_000).window is None
    assert suggest_budget("a." * 50_000 + "x").window is None
