"""The rules: what a fragment is, and with that what may be done to it.

The first enabled rule that matches wins. What a critical rule keeps is either wholly in
the content or reported with risk ``high``.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, AnyStr, Final, NamedTuple

from veles_core.context.fences import has_fence
from veles_core.context.logs import Log
from veles_core.context.model import Action

LOG: Final = "log"
CODE: Final = "code"

_DIGITS: Final = re.compile(r"\d\S*+")
_ASCII_DIGITS: Final = re.compile(rb"\d\S*+")
_EXACT_VALUES: Final = 3  # fewer tokens with a digit are a mention, not a record
_URL: Final = re.compile(r"\w://\S|\bwww\.\w")


class Subject(NamedTuple):
    """What the rules look at.

    ``log`` is the collapsed form of a log with repeated lines, ``forbids`` whether the
    text holds a negative constraint.
    """

    data: bytes
    text: str
    kind: str
    metadata: Mapping[str, Any]
    is_media: bool
    log: Log | None
    forbids: bool


class Rule(NamedTuple):
    """One row of the table: ``when`` it applies, the action if there is room, and why."""

    id: str
    when: str
    action: Action
    critical: bool
    reason: str
    matches: Callable[[Subject], bool]


def _is_code(subject: Subject) -> bool:
    return subject.kind == CODE or has_fence(subject.text)


def _has_exact_values(subject: Subject) -> bool:
    if not subject.text.isascii():
        return _occurs(_DIGITS, subject.text, _EXACT_VALUES)
    data = subject.data
    if len(data) - len(data.translate(None, b"0123456789")) < _EXACT_VALUES:
        return False  # too few digits, seen faster than by a search
    return _occurs(_ASCII_DIGITS, data, _EXACT_VALUES)


def _occurs(pattern: re.Pattern[AnyStr], text: AnyStr, times: int) -> bool:
    """Whether the pattern occurs at least so many times."""
    at = 0
    for _ in range(times):
        match = pattern.search(text, at)
        if match is None:
            return False
        at = match.end()
    return True


def _has_url(subject: Subject) -> bool:
    text = subject.text
    return ("://" in text or "www." in text) and _URL.search(text) is not None


RULES: Final = (
    Rule(
        "media.atomic",
        "the fragment is `media`",
        "preserve",
        True,
        "media is packed whole or not at all",
        lambda subject: subject.is_media,
    ),
    Rule(
        "preserve.marked_verbatim",
        "`metadata.verbatim` is `true`",
        "preserve",
        True,
        "the caller marked it verbatim",
        lambda subject: subject.metadata.get("verbatim") is True,
    ),
    Rule(
        "cache.stable_prefix",
        "`metadata.cache` is `true`",
        "cache",
        True,
        "the caller marked it for the stable prefix",
        lambda subject: subject.metadata.get("cache") is True,
    ),
    Rule(
        "preserve.code_fence",
        "kind `code`, or a ```` ``` ```` or `~~~` fence in the text",
        "preserve",
        True,
        "code has to survive verbatim",
        _is_code,
    ),
    Rule(
        "preserve.negative_constraint",
        "a sentence tells the reader not to do something (six languages)",
        "preserve",
        True,
        "it forbids something, and that must not be weakened",
        lambda subject: subject.forbids,
    ),
    Rule(
        "abstract.log_dedup",
        "kind `log` with repeated lines",
        "abstract",
        False,
        "repeated log lines are collapsed into one with its count",
        lambda subject: subject.log is not None,
    ),
    Rule(
        "preserve.exact_values",
        f"{_EXACT_VALUES} or more tokens hold a digit (critical unless of kind `log`)",
        "preserve",
        True,
        "numbers, dates and identifiers have to survive verbatim",
        _has_exact_values,
    ),
    Rule(
        "preserve.url",
        "a URL in the text",
        "preserve",
        True,
        "URLs have to survive verbatim",
        _has_url,
    ),
    Rule(
        "preserve.default",
        "anything else; can't be disabled",
        "preserve",
        False,
        "kept as far as the budget reaches",
        lambda _: True,
    ),
)
DEFAULT: Final = RULES[-1]
LOG_DEDUP: Final = "abstract.log_dedup"
STABLE_PREFIX: Final = "cache.stable_prefix"


def enabled_rules(disabled: Collection[str]) -> tuple[Rule, ...]:
    """The rules that a policy leaves on."""
    return tuple(rule for rule in RULES if rule is DEFAULT or rule.id not in disabled)


def classify(subject: Subject, rules: tuple[Rule, ...]) -> Rule:
    """The first of the rules that matches."""
    return next(rule for rule in rules if rule.matches(subject))


def is_critical(rule: Rule, kind: str) -> bool:
    """Whether what the rule keeps must be whole; a time stamp in each log line is no promise."""
    return rule.critical and not (kind == LOG and rule.id == "preserve.exact_values")
