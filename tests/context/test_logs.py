"""Collapsing logs, ranking their lines, and telling log lines from prose."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core.context.logs import collapse, log_runs

LINES = st.lists(
    st.sampled_from(["INFO a", "INFO b", "ERROR c\r", "", "  ", "\x00", "2026-01-01 x", "é"]),
    max_size=30,
)


def test_the_first_occurrence_keeps_its_bytes_and_gets_the_count():
    log = collapse("INFO  a\nWARN b\nINFO  a\nINFO  a", normalize=False)
    assert log.text() == "INFO  a (x3)\nWARN b"


def test_the_count_stands_before_a_carriage_return():
    assert collapse("a\r\nb\r\na\r\n", normalize=False).text() == "a (x2)\r\nb\r\n"


def test_blank_lines_are_kept_once_without_a_count():
    assert collapse("a\n\n\na\n\nb", normalize=False).text() == "a (x2)\n\nb"
    assert collapse("a\n\n\n\nb", normalize=False) is None


def test_a_log_without_repeats_is_not_collapsed():
    assert collapse("a\nb", normalize=False) is None
    assert collapse("", normalize=False) is None


@given(lines=LINES, normalize=st.booleans())
def test_a_collapse_keeps_every_distinct_line_in_order(lines, normalize):
    text = "\n".join(lines)
    log = collapse(text, normalize)
    if log is None:
        counts = Counter(line for line in text.split("\n") if line.strip())
        assert normalize or not counts or max(counts.values()) == 1
        return
    assert sum(log.counts) == len(text.split("\n"))
    plain = [re.sub(r" \(x\d+\)(?=\r?$)", "", line) for line in log.lines]
    assert set(plain) <= set(text.split("\n"))
    if not normalize:
        assert plain == list(dict.fromkeys(text.split("\n")))
    assert sorted(log.ranked()) == list(range(len(log.lines)))


@pytest.mark.parametrize(
    "stamps",
    [
        ("2026-03-01T09:00:01Z", "2026-03-01T09:00:02Z"),
        ("2026-03-01T09:00:01.123+02:00", "2026-03-01T09:00:02.999+02:00"),
        ("2026-03-01 09:00:01,123", "2026-03-02 10:11:12,456"),
        ("[2026-03-01 09:00:01]", "[2026-03-02 10:11:12]"),
        ("2026/03/01 09:00:01", "2026/03/01 09:00:02"),
        ("01 Mar 2026 09:00:01,123", "02 Mar 2026 09:00:01,456"),
        ("Mar  1 09:00:01", "Mar 12 10:11:12"),
        ("09:00:01.123", "10:11:12.456"),
        ("2026-03-01T09:00:01Z [1a2b]", "2026-03-01T09:00:02Z [0xFF]"),
        ("09:00:01 [1] [2f]", "09:00:02 [3] [4e]"),
    ],
)
def test_leading_time_stamps_and_counters_are_masked_for_grouping_only(stamps):
    text = "\n".join(f"{stamp} INFO poll" for stamp in stamps)
    assert collapse(text, normalize=False) is None
    assert collapse(text, normalize=True).text() == f"{stamps[0]} INFO poll (x2)"


@pytest.mark.parametrize(
    "pair",
    [
        ("2026-03-01T09:00:01Z order 1", "2026-03-01T09:00:01Z order 2"),
        ("at 09:00:01 done", "at 09:00:02 done"),
        ("2026-03-01T09:00:01Z [worker-1] x", "2026-03-01T09:00:01Z [worker-2] x"),
        ("INFO [1a] x", "INFO [1b] x"),
    ],
)
def test_nothing_else_that_differs_is_masked(pair):
    assert collapse("\n".join(pair), normalize=True) is None


def test_errors_take_turns_with_repeated_lines_and_single_ones_come_last():
    lines = ["one", *["poll"] * 5, *["beat"] * 9, "error: x", "WARN y", "two", "WARN y"]
    log = collapse("\n".join(lines), normalize=False)
    assert [log.lines[index] for index in log.ranked()] == [
        "WARN y (x2)",
        "beat (x9)",
        "error: x",
        "poll (x5)",
        "one",
        "two",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-01T09:00:01Z anything",
        "[2026-03-01 09:00:01] anything",
        "Mar  1 09:00:01 host sshd[1]: x",
        "09:00:01 x",
        "INFO poll",
        "[ERROR] poll",
        "main  WARN  poll",
        "error: poll",
        "E: poll",
        "[   12.345678] usb 1-1: new device",
    ],
)
def test_eight_log_lines_in_a_row_are_a_run(line):
    body = "Some prose.\n"
    seven, eight = f"{line}\n" * 7, f"{line}\n" * 8
    assert runs(body + seven + body) == []
    assert runs(body + eight + body) == [eight]
    assert runs(body + eight.rstrip("\n")) == [eight.rstrip("\n")]


@pytest.mark.parametrize(
    "line", ["Some prose with INFOrmation.", "", "Errors happen.", "x = 12:30", "a b c d INFO e"]
)
def test_prose_is_no_log(line):
    assert runs(f"{line}\n" * 9) == []


def runs(text):
    return [text[start:end] for start, end in log_runs(f"\n{text}", 0, len(text))]
