"""The page about the compiler says what the compiler does."""

import json
import re
from pathlib import Path

from veles_core.builtin.heuristic_tokenizer import HeuristicTokenizer
from veles_core.context.classify import RULES
from veles_core.context.compile import compile_context
from veles_core.context.decide import DUPLICATE, EXTERNALIZE, NEAR_DUPLICATE, SUPERSEDED
from veles_core.context.model import CompileRequest, Fragment

PAGE = (Path(__file__).parents[2] / "docs/context-compiler.md").read_text("utf-8")


def between(opening, closing):
    return PAGE.split(f"<!-- {opening}", 1)[1].split("-->\n", 1)[1].split(f"<!-- {closing}", 1)[0]


def test_the_rules_are_those_of_the_code():
    table = "| rule | applies if | action | critical |\n|---|---|---|---|\n"
    for rule in RULES:
        critical = "yes" if rule.critical else "no"
        table += f"| `{rule.id}` | {rule.when} | `{rule.action}` | {critical} |\n"
    assert between("rules", "end of rules") == table


def test_the_other_decisions_are_named():
    for rule in (DUPLICATE, NEAR_DUPLICATE, SUPERSEDED, EXTERNALIZE):
        assert f"| `{rule}` |" in PAGE


def test_the_worked_example_is_what_happens():
    example = between("example", "end of example")
    asked = json.loads(re.search(r"```json\n(.*?)```", example, re.DOTALL)[1])
    fragments = tuple(Fragment(**fragment) for fragment in asked["fragments"])
    request = CompileRequest(asked["query"], fragments, asked["token_budget"])
    context = compile_context(request, HeuristicTokenizer()).context
    assert re.search(r"```text\n(.*?)\n```", example, re.DOTALL)[1] == context.content
    rows = re.findall(r"\| (\d) \| `(.*?)` \| `(.*?)` \| (\w+) \| (.*) \|", example)
    assert rows == [
        (str(index), each.action, each.rule_id, each.risk, each.reason)
        for index, each in enumerate(context.decisions)
    ]
    assert [warning.relevance for warning in context.warnings] == [0.8]
