"""The heuristic tokenizer against real tiktoken: never under, seldom far over, additive."""

import random
import re
import threading
import time
from pathlib import Path
from typing import Final

import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks import tokenizer_bounds, tokenizer_data
from veles_core.builtin import heuristic_tokenizer as heuristic
from veles_core.builtin.heuristic_tokenizer import HeuristicTokenizer
from veles_core.protocols import Tokenizer
from veles_core.testing import TokenizerContract
from veles_plugins.tokenize_tiktoken.ranks import load_ranks
from veles_plugins.tokenize_tiktoken.tokenizer import TiktokenTokenizer

HEURISTIC: Final = HeuristicTokenizer()
EXACT: Final = [TiktokenTokenizer(name) for name in tokenizer_bounds.ENCODINGS]
SAMPLES: Final = tokenizer_bounds.samples()

# What the cuts turn on, next to each other more often than in any text.
ATOMS: Final = [
    *" \t\n\r/'\"-=.;,_(){}[]<>*#&\\|~`^%$@!?+:0123456789abcdeszESTtDdMlLvVrR",
    *"ſéÉßжЖλńựỰ漢の한글ाक्שم½²Ⅷ٣ªʰǅ\u0301\u200d\ufe0f❤👩🏽😀🇫—“”’…·×。、（\u3000\xa0\u2028\x85",
    *"\x00\x1c\x7f𝒳𠀀\U0001e900\ud800\udfff",
    *("\r\n", "//", "/*", "'s", "'S", "'ll", "'ſ", "  ", "    ", "\n\n", " the", "return"),
    *("a" * 64, "aB1+/" * 13, "0f" * 32, " " * 90, "=" * 80, "x" * 140),
]  # fmt: skip
PLAIN: Final = [atom for atom in ATOMS if atom.isascii() and len(atom) < 10 and atom.strip(" \t")]


@pytest.fixture(scope="module")
def tokens() -> list[str]:
    """Tokens of both encodings that are whole characters, rarest first."""
    found = []
    for name in tokenizer_bounds.ENCODINGS:
        for token in reversed(load_ranks(name)):
            try:
                found.append(token.decode())
            except UnicodeDecodeError:
                continue
    return found


def assert_never_under(text: str) -> None:
    count = HEURISTIC.count(text)
    for encoding in EXACT:
        assert count >= encoding.count(text), ascii(text)


class TestHeuristic(TokenizerContract):
    @pytest.fixture
    def tokenizer(self) -> Tokenizer:
        return HEURISTIC


@pytest.mark.parametrize("name", SAMPLES)
def test_no_class_of_text_is_counted_under(name: str) -> None:
    text = SAMPLES[name]
    assert_never_under(text)
    for start in range(0, min(len(text), 1500), 37):
        assert_never_under(text[start : start + 90])


@pytest.mark.parametrize("name", SAMPLES)
def test_prose_code_and_json_are_not_far_over(name: str) -> None:
    limits = {"prose-english": 1.7, "code": 1.5, "json": 1.5}
    limit = next((limits[start] for start in limits if name.startswith(start)), 6.0)
    count = HEURISTIC.count(SAMPLES[name])
    for encoding in EXACT:
        assert count <= limit * encoding.count(SAMPLES[name])


@settings(max_examples=800, deadline=None)
@given(st.lists(st.sampled_from(ATOMS), max_size=14).map("".join))
@example("foo'ſbar")  # a long s is an s in contractions
@example(";\n//\n/foo")  # slashes after a line break belong to the signs before it, or don't
@example("字\n   ")  # spaces at the end are one chunk in one encoding, two in the other
@example("\ud800\udfff(")  # two surrogates make one character of four bytes
def test_what_the_cuts_turn_on_is_never_counted_under(text: str) -> None:
    assert_never_under(text)


@settings(max_examples=500, deadline=None)
@given(st.text(max_size=40))
def test_random_unicode_is_never_counted_under(text: str) -> None:
    assert_never_under(text)


@pytest.mark.parametrize("seed", range(2))
def test_rare_tokens_side_by_side_are_never_counted_under(seed: int, tokens: list[str]) -> None:
    chance = random.Random(seed)
    for _ in range(800):
        parts = chance.choices(tokens[seed * len(tokens) // 2 :], k=2)
        assert_never_under("".join(parts))
        assert_never_under(parts[0] + parts[1].swapcase() + chance.choice(ATOMS))


def test_no_character_is_counted_under() -> None:
    for code in (*range(0x10000), *range(0x1F000, 0x1FC00)):
        assert_never_under(chr(code) * 2)


def test_the_data_are_the_first_merges_and_every_charge() -> None:
    assert tokenizer_data.main(["--check"]) == 0
    assert tokenizer_data.DATA.stat().st_size <= 200_000


def test_tiktoken_sees_each_character_of_certain_class_in_that_class() -> None:
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))

    def members(pattern: str) -> set[str]:
        """What of all characters tiktoken's own engine finds."""
        single = {bytes([byte]): byte for byte in range(256)}
        probe = tiktoken.Encoding("p", pat_str=pattern, mergeable_ranks=single, special_tokens={})
        return set(probe.decode(probe.encode_ordinary(every)))

    def held(ranges: str) -> set[str]:
        return set(re.findall(f"[{ranges}]", every))

    upper, lower = heuristic.cased_letters()
    assert held(upper) <= members(r"\p{Lu}")
    assert held(lower) <= members(r"\p{Ll}")
    assert held(heuristic.BLANK) == members(r"[^\S\r\n]")
    assert not held(heuristic.SIGN) & members(r"[\s\p{L}\p{N}\p{M}]")
    assert members("(?i:[sdmtlver])") - held("ſ") == held("sdmtlverSDMTLVER")
    assert "ſ" not in held(upper + lower)


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_a_number_of_up_to_three_digits_is_one_token(digits: int) -> None:
    numbers = [str(number).zfill(digits) for number in range(10**digits)]
    assert {encoding.count(number) for number in numbers for encoding in EXACT} == {1}
    assert {HEURISTIC.count(number) for number in numbers} == {1}


def test_repeated_lines_count_as_often_as_they_stand_there() -> None:
    lines = [f"  {i % 7}12 {'🍉' * (i % 3)} took {i % 90} ms{'/' * (i % 2)}\n" for i in range(3000)]
    assert HEURISTIC.count("".join(lines)) == sum(map(HEURISTIC.count, lines))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(ATOMS), max_size=30).map("".join))
def test_pieces_are_the_text_however_it_is_cut(text: str) -> None:
    patterns = heuristic.patterns()
    pieces = patterns.pieces.findall(text)
    assert "".join(pieces) == text
    if text.isascii() and not heuristic.FIND_BLOB.search(text):
        assert patterns.plain.findall(text) == pieces


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(PLAIN), max_size=8).map("".join), max_size=12),
    st.lists(st.sampled_from([" ", "\n", "\t", "x"]), max_size=6).map("".join),
)
@example(["a/\n/b", "//\n\n//x"], "")  # slashes after a line break
def test_a_text_split_at_its_blanks_counts_as_its_pieces(words: list[str], near: str) -> None:
    text = " ".join([*filter(None, map(str.strip, words)), "and so on" * 30, *words[:1]]) + near
    pieces = heuristic.patterns().plain.findall(text)
    assert HEURISTIC.count(text) == sum(map(HEURISTIC.count, pieces))


@settings(max_examples=300, deadline=None)
@given(*(st.lists(st.sampled_from(ATOMS), max_size=14).map("".join) for _ in range(2)))
def test_counts_add_up_at_line_breaks(before: str, after: str) -> None:
    first = after.lstrip(" \t")[:1]
    if first and not first.isspace() and after[0] != "/":
        before += "\n"
        whole = HEURISTIC.count(before + after)
        assert whole == HEURISTIC.count(before) + HEURISTIC.count(after)


def test_a_long_text_counts_as_its_lines() -> None:
    lines = [f"{i}: the job of {'x' * (i % 70)} is done\n" for i in range(6000)]
    assert HEURISTIC.count("".join(lines)) == sum(map(HEURISTIC.count, lines))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(ATOMS), max_size=14).map("".join), st.integers(0, 200))
def test_a_cut_is_the_longest_prefix_within_the_limit(text: str, limit: int) -> None:
    fitting = [end for end in range(len(text) + 1) if HEURISTIC.count(text[:end]) <= limit]
    assert HEURISTIC.cut(text, limit) == fitting[-1]


@pytest.mark.parametrize("limit", [1, 100, 5_000, 60_000])
def test_a_cut_of_a_long_text(limit: int) -> None:
    text = "".join(SAMPLES.values()) * 4
    end = HEURISTIC.cut(text, limit)
    assert HEURISTIC.count(text[:end]) <= limit
    if end < len(text):
        assert all(HEURISTIC.count(text[: end + more]) > limit for more in (1, 2, 3, 200))


HOSTILE = {
    "line feeds": "\n",
    "CRLF": "\r\n",
    "fences": "```\n",
    "NUL": "\0",
    "spaces": " ",
    "one word": "qz",
    "quotes": "a'",
    "slashes": "./\n/",
    "signs": ".\n/",
    "ideographs": "漢",
    "ideographs and spaces": "漢 \n/",
    "nearly a blob": "aG" * 31 + "a ",
    "digits": "1",
    "deep": "(" * 99 + " ",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_linear_time(name: str) -> None:
    text = HOSTILE[name] * ((1 << 20) // len(HOSTILE[name].encode()))
    start = time.process_time()
    HEURISTIC.count(text)
    HEURISTIC.cut(text, 1000)
    assert time.process_time() - start < 5  # measured: 0.1 to 0.6 s


def test_threads_share_one_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heuristic, "_MOST_KEPT", 50)  # so that they keep forgetting
    shared = HeuristicTokenizer()
    expected = {name: HEURISTIC.count(text) for name, text in SAMPLES.items()}
    seen: list[dict[str, int]] = []

    def work() -> None:
        seen.append({name: shared.count(text) for name, text in SAMPLES.items()})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [expected] * 4


def test_the_table_in_the_docs_is_what_the_script_prints() -> None:
    page = (Path(__file__).parents[2] / "docs/tokenizers.md").read_text(encoding="utf-8")
    assert tokenizer_bounds.table() in page
