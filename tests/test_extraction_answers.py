"""A model's answer: read in any wrapping, refused with the reason, never half taken."""

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core.errors import BackendRefused, InvalidInput
from veles_core.extraction import PROMPT, SCHEMA, extract_with, parse, passages
from veles_core.records import Attribute, ExtractedFact, Extraction, Relation

WHOLE = {
    "facts": [
        {"content": "Theo fixed the pump, }", "topics": ["Theo", "pump"]},
        {"content": "It held.", "topics": []},
    ],
    "relations": [{"subject": "Camille", "predicate": "sister of", "object": "Theo"}],
    "attributes": [{"entity": "Theo", "key": "age", "value": 15}],
}
GOOD = json.dumps(WHOLE)
FOUND = Extraction(
    (ExtractedFact("Theo fixed the pump, }", ("Theo", "pump")), ExtractedFact("It held.")),
    (Relation("Camille", "sister of", "Theo"),),
    (Attribute("Theo", "age", 15),),
)


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{json.dumps(WHOLE, indent=2)}\n```\n",
        f"Sure, here it is: {GOOD} Anything else?",
        f'A 5" pipe, {{braces}} and {{"more": 1}}: {GOOD} and {{after}}',
        f"<think>Two facts, I guess.</think>{GOOD}",
        f'<think>{{"facts": [{{"content": "a draft"}}]}}</think>\n{GOOD}',
        f'swallowed the opening tag {{"facts": ["draft"]}}</think>{GOOD}',
        f"{GOOD}<think>Was that good?</think>",
        f"<THINKING>hm {{</THINKING>{GOOD}",
        f'First {{"facts": ["a draft"]}}, then the final answer: {GOOD}',
        GOOD.replace("}]", "},\n ]").replace("]}", "],}"),
        GOOD.replace('"content"', '"text"').replace('"topics"', '"entities"'),
        GOOD.replace('"subject"', '"source"').replace('"object"', '"target"'),
        GOOD[:-1] + ', "comment": "done"}',
    ],
)
def test_the_wrapping_does_not_matter(answer: str) -> None:
    assert parse(answer) == FOUND


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"facts": ["a", "b"]}', Extraction((ExtractedFact("a"), ExtractedFact("b")))),
        ('{"facts": [{"content": "a"}]}', Extraction((ExtractedFact("a"),))),
        ('{"facts": [{"fact": "a", "topics": "t"}]}', Extraction((ExtractedFact("a", ("t",)),))),
        (
            '{"facts": [{"content": 5, "topics": [8443]}]}',
            Extraction((ExtractedFact("5", ("8443",)),)),
        ),
        ('{"facts": null, "relations": []}', Extraction()),
        ('{"facts": []}', Extraction()),
        ('{"relations": [{"subject": "a", "predicate": "is", "object": "A"}]}', Extraction()),
        ('{"facts": ["<think> is a tag"]}', Extraction((ExtractedFact("<think> is a tag"),))),
    ],
)
def test_small_slips_are_mended(answer: str, found: Extraction) -> None:
    assert parse(answer) == found


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("Sorry, I can't.", "no JSON object"),
        ("[]", "no JSON object"),
        ('{"answer": 42}', "no JSON object"),
        (GOOD[:-2], "cut off"),
        (GOOD[: len(GOOD) // 2], "cut off"),
        ("```json\n" + GOOD[:-40], "cut off"),
        (f"Draft: {GOOD} Final: {GOOD[:-5]}", "cut off"),
        (f"<think>{GOOD}", "no JSON object"),
        (f"<think>{GOOD}</think>Sorry.", "no JSON object"),
        ('{"facts": "one"}', '"facts" is not a list'),
        ('{"facts": [[]]}', 'an item of "facts" is not an object'),
        ('{"facts": [{"topics": []}]}', '"content" is missing'),
        ('{"facts": [{"content": true}]}', '"content" is missing or not a string'),
        ('{"facts": [{"content": "a", "topics": 5}]}', '"topics" of a fact is not a list'),
        ('{"facts": [{"content": "a", "topics": [null]}]}', '"topic" is missing'),
        ('{"facts": [{"content": " "}]}', "a fact is blank"),
        ('{"facts": ["\\ud800"]}', "surrogate"),
        ('{"relations": [{"subject": "a", "object": "b"}]}', '"predicate" is missing'),
        ('{"relations": [{"subject": "a", "predicate": " ", "object": "b"}]}', "blank"),
        ('{"attributes": [{"entity": "a", "key": "content", "value": 1}]}', "reserved"),
        ('{"attributes": [{"entity": "a", "key": "k", "value": NaN}]}', "malformed"),
        ('{"attributes": [{"entity": "a", "key": "k", "value": 1e999}]}', "not plain JSON"),
    ],
)
def test_the_rest_is_refused_with_the_reason(answer: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(answer)
    assert reason in refused.value.message


@given(st.integers(min_value=1, max_value=len(GOOD) - 1))
def test_a_cut_answer_is_never_taken_in_part(length: int) -> None:
    with pytest.raises(InvalidInput):
        parse(GOOD[:length])


@given(
    st.text(),
    st.lists(st.sampled_from(["{", "}", '"', "\\", "[", "<think>", "</think>", '{"facts":', ","])),
)
def test_any_answer_is_read_or_refused(text: str, marks: list[str]) -> None:
    for answer in (text, "".join(marks), "".join(marks) + text, text + GOOD + "".join(marks)):
        with contextlib.suppress(InvalidInput):
            parse(answer)


@pytest.mark.parametrize(
    "unit",
    ["{", '{"a":', '{"', '"\\"', "<think>", "</think>", "{}", "[", '{"facts":[', '{"facts": "'],
)
def test_junk_of_any_size_costs_little(unit: str) -> None:
    junk = unit * ((4 << 20) // len(unit))
    began = time.process_time()
    with pytest.raises(InvalidInput):
        parse(junk)
    assert time.process_time() - began < 5


class Model:
    """A chat model that answers what it was given to say, and notes what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[list[dict[str, str]]] = []

    def __call__(self, messages: object) -> str:
        self.asked.append([dict(message) for message in messages])  # type: ignore[attr-defined]
        return self.answers.pop(0)


def test_a_good_answer_costs_one_request() -> None:
    model = Model(GOOD)
    assert extract_with(model, "Theo fixed the pump.") == FOUND
    assert [message["role"] for message in model.asked[0]] == ["system", "user"]
    assert model.asked[0][0]["content"] == PROMPT
    assert model.asked[0][1]["content"] == "Theo fixed the pump."


def test_a_bad_answer_is_asked_for_once_more_with_the_reason() -> None:
    model = Model("Sorry, I can't.", GOOD)
    assert extract_with(model, "Theo fixed the pump.") == FOUND
    again = model.asked[1]
    assert again[:2] == model.asked[0]
    assert again[2] == {"role": "assistant", "content": "Sorry, I can't."}
    assert "no JSON object" in again[3]["content"]


def test_two_bad_answers_are_the_end() -> None:
    model = Model("Sorry, I can't.", GOOD[:-3])
    with pytest.raises(BackendRefused, match="cut off"):
        extract_with(model, "Theo fixed the pump.")
    assert len(model.asked) == 2


def test_a_long_text_is_asked_for_piece_by_piece() -> None:
    paragraph = "Sentence after sentence. " * 100 + "\n\n"
    model = Model(*[f'{{"facts": ["p{n}"]}}' for n in range(20)])
    found = extract_with(model, paragraph * 10)
    asked = [messages[1]["content"] for messages in model.asked]
    assert [fact.content for fact in found.facts] == [f"p{n}" for n in range(len(asked))]
    assert " ".join(asked).split() == (paragraph * 10).split()
    assert len(asked) == 3


def test_one_refused_piece_refuses_the_whole_text() -> None:
    model = Model(GOOD, "no", "no")
    with pytest.raises(BackendRefused):
        extract_with(model, "word " * 4000)


@given(st.text(), st.integers(min_value=8, max_value=64))
def test_passages_keep_every_character_but_the_space_between(text: str, limit: int) -> None:
    pieces = list(passages(text, limit))
    assert all(piece.strip() and len(piece.encode()) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_the_prompt_shows_what_the_schema_demands() -> None:
    start = PROMPT.index("{")
    example, _ = json.JSONDecoder().raw_decode(PROMPT, start)
    assert sorted(example) == sorted(SCHEMA["required"])  # type: ignore[call-overload]
    found = parse(json.dumps(example))
    assert found.facts
    assert found.relations
    assert found.attributes
