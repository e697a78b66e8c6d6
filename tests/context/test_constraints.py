"""What forbids and what merely denies, by two committed lists in six languages."""

from pathlib import Path
from time import process_time

import pytest

from veles_core.context.constraints import forbidding
from veles_core.context.prohibitions import PROHIBITIONS
from veles_core.context.score import fold

HERE = Path(__file__).parent


def sentences(name):
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [tuple(line.split("\t", 1)) for line in lines]


FORBIDDING = sentences("forbidding.txt")
DESCRIBING = sentences("describing.txt")


def forbids(text):
    return forbidding([fold(text)])[0]


def test_the_lists_are_long_and_in_six_languages():
    for listed in (FORBIDDING, DESCRIBING):
        assert len({text for _, text in listed}) == len(listed) >= 60
        assert {language for language, _ in listed} == {"de", "en", "es", "fr", "it", "pt"}


def test_precision_and_recall():
    hits = sum(forbids(text) for _, text in FORBIDDING)
    false_hits = [text for _, text in DESCRIBING if forbids(text)]
    assert hits / len(FORBIDDING) >= 0.95
    assert hits / (hits + len(false_hits)) >= 0.95


@pytest.mark.parametrize(
    "text",
    [
        "NEVER merge",
        "you cannot  merge",
        "you cannot\n\tmerge",
        "You must\r\n   not merge",
        "don't merge",
        "don’t merge",
        "DON’T merge",
        "They mustn't merge",
        "They mustn’t merge",
        "Ｎever merge",
    ],
)
def test_case_whitespace_width_and_apostrophes_do_not_count(text):
    assert forbids(text)


@pytest.mark.parametrize(
    "text",
    ["undo nothing", "the file does not exist", "cannot open socket", "nevertheless", "knot"],
)
def test_whole_words_and_orders_only(text):
    assert not forbids(text)


def test_texts_searched_together_do_not_run_into_each_other():
    texts = ["you must", "not at all", "Never merge", "", "do", "not merge", "interdit"]
    assert forbidding(list(map(fold, texts))) == [forbids(text) for text in texts]
    assert forbidding(list(map(fold, texts))) == [False, False, True, False, False, False, True]


def test_a_word_far_into_a_long_text_is_found():
    assert forbids("The file does not exist. " * 5000 + "Never merge. " + "All is well. " * 5000)


@pytest.mark.parametrize("cue", sorted(PROHIBITIONS))
def test_every_cue_is_searched_in_linear_time(cue):
    def seconds(count):
        text = f"{cue} " * count
        started = process_time()
        forbidding([text])
        return process_time() - started

    seconds(100)  # compiles the patterns
    assert min(seconds(4000) for _ in range(2)) < 0.05 + 12 * min(seconds(1000) for _ in range(3))
