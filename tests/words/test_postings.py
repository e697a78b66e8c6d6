"""Postings against the formula written out, and against every way of splitting the work."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veles_core.words import Postings, terms
from veles_core.words.postings import FORMAT, K1, PIVOT, B

WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "会议", "🚀"])
UPPER_BITS = [2556, 26629, 29322, 32327, 36598, 39027, 41641, 45322, 45651]
UPPER_BITS += [53035, 55194, 63155, 64579, 65442]
FACTS = st.lists(st.lists(WORDS, max_size=12), max_size=12)


def naive(facts, query, alive):
    """BM25 as the books write it, over the facts that are alive."""
    scores = [0.0] * len(facts)
    for word in dict.fromkeys(query):
        holders = [i for i, fact in enumerate(facts) if alive[i] and word in fact]
        frequency, count = len(holders), sum(alive)
        idf = math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))
        for i in holders:
            times = Counter(facts[i])[word]
            norm = K1 * (1 - B + B * len(facts[i]) / PIVOT)
            scores[i] += idf * times * (K1 + 1) / (times + norm)
    return scores


def indexed(facts):
    postings = Postings()
    postings.add_many(range(len(facts)), facts)
    return postings


def reopened(postings):
    """The same postings as another process would open them: read-only arrays."""
    arrays = postings.arrays()
    for values in arrays.values():
        values.flags.writeable = False
    return Postings.from_arrays(arrays)


@settings(deadline=None)
@given(FACTS, st.lists(WORDS, max_size=5), st.data())
def test_scores_are_bm25(facts, query, data):
    alive = data.draw(st.lists(st.booleans(), min_size=len(facts), max_size=len(facts)))
    scores = indexed(facts).scores(query, np.array(alive, bool), len(facts))
    assert scores.dtype == np.float32
    assert scores == pytest.approx(naive(facts, query, alive), rel=1e-5)


@settings(deadline=None)
@given(FACTS, st.lists(WORDS, max_size=5), st.data())
def test_any_split_and_any_merges_give_the_same_bits(facts, query, data):
    whole = indexed(facts).scores(query, None, len(facts))
    postings = Postings()
    for row, fact in enumerate(facts):
        postings.add(row, fact)
        how = data.draw(st.sampled_from(["go on", "merge", "reopen"]))
        if how == "merge":
            postings.arrays()
        if how == "reopen":
            postings = reopened(postings)
    assert postings.scores(query, None, len(facts)).tobytes() == whole.tobytes()
    assert len(postings) == len(facts)


@settings(deadline=None)
@given(FACTS, st.lists(WORDS, max_size=5), st.data())
def test_score_rows_is_a_selection_of_scores(facts, query, data):
    alive = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(facts), max_size=len(facts))), bool
    )
    rows = np.array(data.draw(st.permutations(range(len(facts)))), np.int64)
    rows = rows[: data.draw(st.integers(0, len(facts)))]
    postings = indexed(facts)
    for mask in (alive, None):
        every = postings.scores(query, mask, len(facts))
        assert postings.score_rows(query, rows, mask).tobytes() == every[rows].tobytes()


@settings(deadline=None)
@given(FACTS)
def test_a_snapshot_comes_back_whole(facts):
    first = indexed(facts).arrays()
    again = reopened(indexed(facts)).arrays()
    assert first.keys() == again.keys()
    for name, values in first.items():
        assert np.array_equal(values, again[name])


def test_rows_that_are_not_asked_for_do_not_count():
    postings = indexed([["alpha"], ["alpha"], ["beta"]])
    assert postings.scores(["alpha"], None, 1).shape == (1,)
    assert postings.scores(["beta"], None, 2).tolist() == [0.0, 0.0]
    assert indexed([["alpha"]]).scores(["alpha"], None, 1) == postings.scores(["alpha"], None, 1)


def test_rows_past_the_last_added_score_nothing():
    assert indexed([["alpha"]]).scores(["alpha"], None, 3)[1:].tolist() == [0.0, 0.0]


def test_a_row_that_does_not_ascend_is_refused():
    postings = indexed([["alpha"], ["beta"]])
    with pytest.raises(ValueError, match="row 1 does not ascend: 2 rows are indexed"):
        postings.add(1, ["gamma"])


@pytest.mark.parametrize("name", ["keys", "starts", "rows", "impacts", "header"])
def test_arrays_that_do_not_fit_together_are_refused(name):
    arrays = indexed([["alpha"], ["beta", "alpha"]]).arrays()
    with pytest.raises(ValueError, match="postings"):
        Postings.from_arrays({**arrays, name: arrays[name][:-1]})
    with pytest.raises(ValueError, match="postings"):
        Postings.from_arrays({**arrays, name: arrays[name].astype(np.float64)[1:]})
    with pytest.raises(ValueError, match="postings without"):
        Postings.from_arrays({key: value for key, value in arrays.items() if key != name})


def test_what_snapshots_hold_is_what_their_format_says():
    """A change of terms, constants or layout needs a new FORMAT, or old snapshots mix with it."""
    text = "Retried billing-worker's deploy at 10:30, 会议室"
    arrays = indexed([terms(text)]).arrays()
    assert arrays["header"].tolist() == [FORMAT, 1] == [1, 1]
    assert terms(text)[:6] == ["retri", "billingworker", "bill", "worker", "deploy", "at"]
    assert [int(key) >> 48 for key in arrays["keys"]] == UPPER_BITS
    assert arrays["impacts"].tolist() == pytest.approx([1.0857143] * len(UPPER_BITS))
