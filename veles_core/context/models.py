"""Context windows of models by name: a static table, so that nobody has to be asked."""

import re
from dataclasses import dataclass
from typing import Final

from veles_core.errors import InvalidInput

AS_OF: Final = "2026-09-22"
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
    **dict.fromkeys(
        ("claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8", "claude-opus-5",
         "claude-opus-5-5", "claude-sonnet-4-6", "claude-sonnet-5", "claude-sonnet-5-5",
         "claude-haiku-5-5", "claude-fable-5", "claude-fable-5-1", "claude-fable-5-2",
         "claude-mythos-5", "claude-mythos-5-1"),
        1_000_000,
    ),
    # OpenAI
    "gpt-3.5-turbo": 16_385,
    **dict.fromkeys(("gpt-3.5-turbo-0301", "gpt-3.5-turbo-0613"), 4_096),
    "gpt-4": 8_192,
    **dict.fromkeys(
        ("gpt-4-1106-preview", "gpt-4-0125-preview", "gpt-4-turbo", "gpt-4o", "gpt-4o-mini",
         "chatgpt-4o", "gpt-4.5", "o1-preview", "o1-mini", "gpt-5-chat", "gpt-5.1-chat"),
        128_000,
    ),
    **dict.fromkeys(("gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"), 1_047_576),
    **dict.fromkeys(("o1", "o1-pro", "o3", "o3-mini", "o3-pro", "o4-mini"), 200_000),
    **dict.fromkeys(
        ("gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-pro", "gpt-5-codex", "gpt-5.1",
         "gpt-5.1-codex", "gpt-5.1-codex-mini", "gpt-5.1-codex-max", "gpt-5.2"),
        400_000,
    ),
    **dict.fromkeys(("gpt-5.4", "gpt-5.5", "gpt-5.6-sol"), 1_050_000),
    **dict.fromkeys(("gpt-oss-20b", "gpt-oss-120b"), 131_072),
    # Google
    "gemini-1.5-pro": 2_097_152,
    **dict.fromkeys(
        ("gemini-1.5-flash", "gemini-2.0-flash", "gemini-2.0-flash-lite", "gemini-2.5-pro",
         "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3-pro", "gemini-3-flash",
         "gemini-3.1-pro", "gemini-3.1-flash-lite", "gemini-3.8-flash", "gemini-4-carbon",
         "gemini-4-argon"),
        1_048_576,
    ),
    **dict.fromkeys(("gemma-3-4b", "gemma-3-12b", "gemma-3-27b"), 131_072),
    **dict.fromkeys(("gemma-4-26b-a4b", "gemma-4-31b"), 262_144),
    # Mistral
    **dict.fromkeys(
        ("mistral-large-2407", "mistral-large-2411", "mistral-medium-2505", "mistral-medium-2508",
         "mistral-medium-3", "mistral-medium-3.1", "mistral-small", "ministral-3b",
         "ministral-8b", "pixtral-large", "mistral-nemo", "devstral-small", "devstral-medium",
         "magistral-small", "magistral-medium"),
        128_000,
    ),
    **dict.fromkeys(
        ("mistral-large-2402", "mistral-medium-2312", "mistral-small-2402", "mistral-small-2409",
         "mistral-small-2501", "codestral-2405", "open-mixtral-8x7b"),
        32_000,
    ),
    **dict.fromkeys(("magistral-small-2506", "magistral-medium-2506"), 40_000),
    "open-mixtral-8x22b": 64_000,
    **dict.fromkeys(
        ("codestral", "mistral-large", "mistral-large-3", "mistral-medium", "mistral-medium-3-5",
         "mistral-medium-3.5"),
        256_000,
    ),
    # DeepSeek
    **dict.fromkeys(
        ("deepseek-chat", "deepseek-reasoner", "deepseek-v3", "deepseek-v3.1", "deepseek-v3.2",
         "deepseek-r1"),
        128_000,
    ),
    **dict.fromkeys(("deepseek-v4-pro", "deepseek-v4-flash"), 1_048_576),
    # Qwen
    **dict.fromkeys(
        ("qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b", "qwen2.5-72b", "qwen2.5-coder-32b",
         "qwq-32b", "qwen3-8b", "qwen3-14b", "qwen3-32b", "qwen3-30b-a3b", "qwen3-235b-a22b"),
        131_072,
    ),
    **dict.fromkeys(
        ("qwen3-30b-a3b-instruct-2507", "qwen3-30b-a3b-thinking-2507",
         "qwen3-235b-a22b-instruct-2507", "qwen3-235b-a22b-thinking-2507", "qwen3-235b-a22b-2507",
         "qwen3-next-80b-a3b", "qwen3-max", "qwen3-coder", "qwen3-coder-30b-a3b",
         "qwen3-coder-480b-a35b"),
        262_144,
    ),
    **dict.fromkeys(("qwen3.5-plus", "qwen3.6-plus", "qwen3.7-plus"), 1_000_000),
    "qwen3.7-max": 991_000,
    # Llama
    **dict.fromkeys(("llama-3-8b", "llama-3-70b"), 8_192),
    **dict.fromkeys(
        ("llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b", "llama-3.2-1b", "llama-3.2-3b",
         "llama-3.3-70b"),
        131_072,
    ),
    "llama-4-scout": 10_485_760,
    "llama-4-maverick": 1_048_576,
    # xAI
    **dict.fromkeys(("grok-2", "grok-3", "grok-3-mini"), 131_072),
    **dict.fromkeys(("grok-4", "grok-code-fast-1", "grok-build-0.1"), 256_000),
    **dict.fromkeys(("grok-4.5", "grok-4.6"), 500_000),
    **dict.fromkeys(("grok-4.3", "grok-4.20"), 1_000_000),
    **dict.fromkeys(("grok-4-fast", "grok-4-1-fast"), 2_000_000),
}  # fmt: skip

_LONGEST_NAME: Final = 200

# What providers put before one model's name, and append to it: a date, a revision, a tag.
_PREFIX: Final = re.compile(
    r"^([a-z]+\.)*(anthropic|meta|mistral|deepseek|qwen|openai)\.|^meta-(?=llama)"
)
_SUFFIX: Final = re.compile(
    r"([-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{2}-\d{4}|\d{4}|\d{3})|-v\d+|:[\w.-]*"
    r"|-latest|-preview|-exp|-versatile|-instant|-instruct|-it|-17b-16e|-17b-128e"
    r"|-non-reasoning|-reasoning)$"
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
    if len(target_model) > _LONGEST_NAME:
        return None
    name = _PREFIX.sub("", target_model.strip().lower().rpartition("/")[2])
    if name.startswith(("claude-", "grok-4.1-")):
        name = name.replace(".", "-")  # claude-sonnet-4.5, as some providers write it
    while name not in WINDOWS:
        shorter = _SUFFIX.sub("", name)
        if shorter == name:
            return None
        name = shorter
    return WINDOWS[name]
