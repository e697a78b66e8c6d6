"""The outline's grammar, line by line, and its promise for any text at all."""

import contextlib
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core import plugins
from veles_core.builtin.outline_extractor import OutlineExtractor
from veles_core.errors import InvalidInput
from veles_core.hookspecs import Host
from veles_core.records import Attribute, ExtractedFact, Extraction, Relation

extract = OutlineExtractor().extract


def test_each_directive_says_its_part() -> None:
    found = extract(
        "fact: The gateway moved | Edge Gateway; Ports\n"
        "edge: Edge Gateway | depends on | Auth Service\n"
        'attr: Edge Gateway | region | "north"\n'
        "It rained.\n"
    )
    assert found == Extraction(
        (
            ExtractedFact("The gateway moved", ("Edge Gateway", "Ports")),
            ExtractedFact("It rained."),
        ),
        (Relation("Edge Gateway", "depends on", "Auth Service"),),
        (Attribute("Edge Gateway", "region", "north"),),
    )


@pytest.mark.parametrize(
    "line",
    [
        "fact: T | a",
        "FACT: T | a",
        "  fact  :  T  |  a  ",
        "- fact: T | a",
        "\t*   Fact :T|a",
        "fact: T | a; ; a;",
        "fact: T | a;  A ",
    ],
)
def test_case_indent_bullets_and_spaces_do_not_matter(line: str) -> None:
    (fact,) = extract(line).facts
    assert fact.content == "T"
    assert [topic.lower() for topic in fact.topics] == ["a"]


@pytest.mark.parametrize(
    "line",
    [
        "factual: this is no directive",
        "the fact: it rained",
        "-fact: no space after the bullet | a",
        "1. fact: numbered | a",
        "- fact - no colon",
        "plain | with | bars; and more",
        "- a bullet alone",
        "edges: many",
    ],
)
def test_any_other_line_is_a_fact_as_it_stands(line: str) -> None:
    assert extract(f"  {line} ") == Extraction((ExtractedFact(line),))


def test_topics_may_be_left_empty() -> None:
    assert extract("fact: T |").facts == extract("fact: T | ; ;").facts == (ExtractedFact("T"),)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"x | y"', "x | y"),
        ('["a|b", 1]', ["a|b", 1]),
        ('{"a": {"b": null}}', {"a": {"b": None}}),
        ("15", 15),
        ("1.5e3", 1500.0),
        ("true", True),
        ("null", None),
        ("word", "word"),
        ("two words", "two words"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ("007", "007"),
        ("2026-03-01", "2026-03-01"),
    ],
)
def test_values_are_json_or_else_words(written: str, value: object) -> None:
    (attribute,) = extract(f"attr: a | k | {written}").attributes
    assert attribute == Attribute("a", "k", value)
    assert type(attribute.value) is type(value)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("fact:", "a fact is blank"),
        ("fact: | topic", "a fact is blank"),
        ("fact: T | a | b", "at most one |"),
        ("edge: a | b", "not 2 parts"),
        ("edge: a | b | c | d", "not 4 parts"),
        ("edge: | b | c", "a subject is blank"),
        ("edge: a |  | c", "a predicate is blank"),
        ("edge: a | b |", "an object is blank"),
        ("edge: a | b | \ud800", "surrogate"),
        (f"edge: a | {'x' * 513} | c", "513 bytes; at most 512"),
        (f"edge: {'x' * 513} | b | c", "513 bytes; at most 512"),
        ("edge: a | b\x07c | d", "control character"),
        ("attr: a | k", "not 2 parts"),
        ("attr: a | k |", "value is missing"),
        ("attr: | k | 1", "an entity is blank"),
        ("attr: a | | 1", "a key is blank"),
        ('attr: a | k | "open', "malformed"),
        ("attr: a | k | {open", "malformed"),
        ("attr: a | k | [1, NaN]", "malformed"),
        ('attr: a | k | "x" | y', "malformed"),
        ("attr: a | k | x | y", "quoted string"),
        ("attr: a | k | 1e999", "not plain JSON"),
        ('attr: a | k | "\\ud800"', "not plain JSON"),
        ("attr: a | k | " + "[" * 40 + "]" * 40, "nested deeper"),
        ("attr: a | k | " + "[" * 100_000, "nested too deeply"),
        ("attr: a | k | " + json.dumps("x" * 70_000), "70002 bytes; at most 65536"),
        ("attr: a | content | 1", "reserved"),
        ("attr: a | _veles_date | 1", "reserved"),
    ],
)
def test_a_malformed_directive_is_refused_with_its_line(line: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=r"^line 3 of the outline: ") as refused:
        extract(f"fact: fine | a\n\n{line}\nfact: never looked at")
    assert reason in refused.value.message
    assert refused.value.field == "text"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_in_any_of_the_usual_ways(end: str) -> None:
    assert [fact.content for fact in extract(end.join(["a", "fact: b", "", "c"])).facts] == [
        "a",
        "b",
        "c",
    ]


def test_rarer_separators_belong_to_the_fact() -> None:
    assert extract("a\u2028b\u0085c\x0bd").facts == (ExtractedFact("a\u2028b\u0085c\x0bd"),)


def test_edges_from_an_entity_to_itself_are_dropped() -> None:
    assert extract("edge: Gateway | is |  ＧＡＴＥＷＡＹ") == Extraction()


def test_direction_is_kept() -> None:
    assert extract("edge: a | r | b\nedge: b | r | a").relations == (
        Relation("a", "r", "b"),
        Relation("b", "r", "a"),
    )


def test_nothing_stated_is_nothing_found() -> None:
    assert extract("") == extract(" \n\t\n") == Extraction()


def test_it_is_a_builtin_extractor() -> None:
    extractor = plugins.discover([]).open("extractor", "outline", Host(Path()))
    assert extractor.extract("a") == Extraction((ExtractedFact("a"),))
    extractor.close()


lines = st.one_of(
    st.text(),
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "- ", " * ", "\t"]),
        st.sampled_from(["fact", "EDGE", "Attr"]),
        st.sampled_from([":", " :", ""]),
        st.text(alphabet='ab |;"[]{}1,:\\\n\r', max_size=30),
    ),
)


@given(st.lists(lines, max_size=6).map("\n".join))
def test_any_text_is_read_or_refused_and_always_alike(text: str) -> None:
    def outcome() -> Extraction | str:
        try:
            return extract(text)
        except InvalidInput as error:
            return error.message

    found = outcome()
    assert outcome() == found
    assert isinstance(found, Extraction) or found.startswith("line ")


@pytest.mark.parametrize(
    "text",
    [
        "fact: A thing happened | Some Topic; Another\n" * 25_000,
        "- " * 500_000,
        "fact" + " " * 1_000_000,
        "fact:" + "|" * 1_000_000,
        "attr: a | k | " + "x|" * 500_000,
        "fact: x | " + "a;" * 500_000,
        "\n" * 1_000_000,
    ],
)
def test_the_time_taken_is_linear(text: str) -> None:
    began = time.process_time()
    with contextlib.suppress(InvalidInput):
        extract(text)
    assert time.process_time() - began < 3
