"""Context windows of models by name: a static table, so that nobody has to be asked."""

import re
from dataclasses import dataclass
from typing import Final

from veles_core.errors import InvalidInput

AS_OF: Final = "2025-11-30"
SOURCE: Final = f"static table of published context windows, as of {AS_OF}"

# Tokens in the window, by the name without provider prefix, date and tag.
WINDOWS: Final[dict[str, int]] = {
    # Anthropic
    **dict.fromkeys(
        ("claude-3-opus", "claude-3-sonnet", "claude-3-haiku", "claude-3-5-sonnet",
         "claude-3-5-haiku", "claude-3-7-sonnet", "claude-opus-4", "claude-opus-4-1",
         "claude-opus-4-5", "claude-sonnet-4", "claude-sonnet-4-5", "claude-haiku-4-5"),
        200_000,
    ),
    # OpenAI
    "gpt-3.5-turbo": 16_385,
    "gpt-4": 8_192,
    **dict.fromkeys(("gpt-4-turbo", "gpt-4o", "gpt-4o-mini", "chatgpt-4o", "o1-mini"), 128_000),
    **dict.fromkeys(("gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"), 1_047_576),
    **dict.fromkeys(("o1", "o1-pro", "o3", "o3-mini", "o3-pro", "o4-mini"), 200_000),
    **dict.fromkeys(
        ("gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-pro", "gpt-5-codex", "gpt-5.1",
         "gpt-5.1-codex"),
        400_000,
    ),
    **dict.fromkeys(("gpt-oss-20b", "gpt-oss-120b"), 131_072),
    # Google
    "gemini-1.5-pro": 2_097_152,
    **dict.fromkeys(
        ("gemini-1.5-flash", "gemini-2.0-flash", "gemini-2.0-flash-lite", "gemini-2.5-pro",
         "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3-pro"),
        1_048_576,
    ),
    **dict.fromkeys(("gemma-3-4b", "gemma-3-12b", "gemma-3-27b"), 131_072),
    # Mistral
    **dict.fromkeys(
        ("mistral-large", "mistral-medium", "mistral-medium-3", "mistral-small", "ministral-3b",
         "ministral-8b", "pixtral-large", "mistral-nemo", "devstral-small", "devstral-medium",
         "magistral-small", "magistral-medium"),
        128_000,
    ),
    "codestral": 256_000,
    # DeepSeek
    **dict.fromkeys(
        ("deepseek-chat", "deepseek-reasoner", "deepseek-v3", "deepseek-v3.1", "deepseek-v3.2",
         "deepseek-r1"),
        128_000,
    ),
    # Qwen
    **dict.fromkeys(
        ("qwen2.5-7b-instruct", "qwen2.5-14b-instruct", "qwen2.5-32b-instruct",
         "qwen2.5-72b-instruct", "qwen2.5-coder-32b-instruct", "qwq-32b", "qwen3-8b", "qwen3-14b",
         "qwen3-32b", "qwen3-30b-a3b", "qwen3-235b-a22b"),
        131_072,
    ),
    **dict.fromkeys(("qwen3-max", "qwen3-coder", "qwen3-coder-480b-a35b-instruct"), 262_144),
    # Llama
    **dict.fromkeys(("llama-3-8b-instruct", "llama-3-70b-instruct"), 8_192),
    **dict.fromkeys(
        ("llama-3.1-8b-instruct", "llama-3.1-70b-instruct", "llama-3.1-405b-instruct",
         "llama-3.2-1b-instruct", "llama-3.2-3b-instruct", "llama-3.3-70b-instruct"),
        131_072,
    ),
    "llama-4-scout": 10_485_760,
    "llama-4-maverick": 1_048_576,
    # xAI
    **dict.fromkeys(("grok-2", "grok-3", "grok-3-mini"), 131_072),
    **dict.fromkeys(("grok-4", "grok-code-fast-1"), 256_000),
    **dict.fromkeys(("grok-4-fast", "grok-4-1-fast"), 2_000_000),
}  # fmt: skip

# What providers append to one model's name: a date, a revision, a tag.
_SUFFIX: Final = re.compile(
    r"([-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{4})|-latest|-preview|-exp|-versatile|-instant"
    r"|-v\d+|:[\w.-]*)$"
)


@dataclass(frozen=True, slots=True)
class BudgetSuggestion:
    """A model's window in tokens and what of it is left to fill; None for an unknown model."""

    window: int | None
    suggested_budget: int | None
    source: str = SOURCE


def suggest_budget(target_model: str, reserve_tokens: int = 0) -> BudgetSuggestion:
    """The window of a model, less the tokens reserved for its response, never below 0."""
    if reserve_tokens < 0:
        raise InvalidInput(
            f"reserve_tokens must be at least 0, not {reserve_tokens}",
            field="reserve_tokens",
            limit=0,
            actual=reserve_tokens,
        )
    window = _window(target_model)
    if window is None:
        return BudgetSuggestion(None, None)
    return BudgetSuggestion(window, max(0, window - reserve_tokens))


def _window(target_model: str) -> int | None:
    """The row of a name: whole, without its provider, then without one suffix after another."""
    name = target_model.strip().lower().rpartition("/")[2]
    name = re.sub(r"^([a-z]+\.)*(anthropic|meta|mistral|deepseek|qwen|openai)\.", "", name)
    while name not in WINDOWS:
        shorter = _SUFFIX.sub("", name)
        if shorter == name:
            return None
        name = shorter
    return WINDOWS[name]
