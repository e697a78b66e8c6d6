"""Relevance, recency, shares, handles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core.context.handles import handle_of, parse_handle
from veles_core.context.insights import share_out
from veles_core.context.model import Importance, PulledMemory
from veles_core.context.score import Query, recencies
from veles_core.context.search import last_end_within, most_within
from veles_core.errors import InvalidInput


@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("canary rollout", "The CANARY is green", 0.5),
        ("canary canary rollout", "canary, rollout!", 1.0),
        ("canary", "canaries", 0.0),
        ("snake_case", "case of a snake", 1.0),
        ("Über café", "über den CAFE\u0301", 1.0),
        ("straße", "STRASSE", 1.0),
        ("x1", "x 1", 0.0),
        ("", "anything", 0.0),
        ("?!", "anything", 0.0),
        ("a b c d", "c", 0.25),
    ],
)
def test_relevance_is_the_share_of_the_querys_distinct_terms(query, text, share):
    assert Query(query).share(text) == share


@given(st.text(), st.text())
def test_many_terms_are_found_as_few_are(query, text):
    few = Query(query)
    many = Query(query + "".join(f" filler{n}x" for n in range(100)))
    found = few.share(text) * len(few.terms)
    assert many.share(text) * len(many.terms) == pytest.approx(found)


def test_recency_is_relative_to_the_newest_memory():
    dates = [20260331, 20260301, None, 20269999, "20260331", True]
    memories = [PulledMemory(0, "x", metadata={"_veles_date": date}) for date in dates]
    assert recencies(memories, Importance()) == [1.0, 0.5, 0.0, 0.0, 0.0, 0.0]
    assert recencies([], Importance()) == []


@given(
    st.integers(0, 10**9),
    st.dictionaries(st.text(max_size=3), st.integers(1, 10**6), min_size=1, max_size=6),
)
def test_shares_sum_to_the_total_and_follow_the_weights(total, weights):
    shares = share_out(total, weights)
    assert sum(shares.values()) == total
    for name, weight in weights.items():
        exact = total * weight / sum(weights.values())
        assert abs(shares.get(name, 0) - exact) <= 1 + exact * 1e-12


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(0, 900), st.integers(0, 70))
def test_a_search_ends_at_the_most_or_close_below(steps, room, guess):
    costs = [sum(steps[:n]) for n in range(len(steps) + 1)]
    found, spent = most_within(lambda n: costs[n], len(steps), room, guess)
    assert costs[found] == spent <= room
    if found < len(steps):
        assert found == 0 or costs[found + 1] > room or room - spent <= room // 100
        assert found > 0 or not steps or costs[1] > room


class Cutter:
    def count(self, text):
        return len(text)

    def cut(self, _, limit):
        return limit


def test_a_cutting_tokenizer_is_asked_once_where_to_cut():
    assert last_end_within(Cutter(), "x" * 50, 10, [12, 20, 31, 44], 25) == (31, 21)
    assert last_end_within(Cutter(), "x" * 50, 10, [44], 25) == (10, 0)
    assert last_end_within(Cutter(), "x" * 50, 10, [], 25) == (10, 0)


@given(st.integers(0, 2**64 - 1))
def test_a_handle_says_its_source(source):
    assert parse_handle(handle_of(source)) == source


@pytest.mark.parametrize(
    "handle",
    [
        "",
        "ctx://source/",
        "ctx://source/-1",
        "ctx://source/01",
        "ctx://source/1 ",
        "ctx://source/1\n",
        "ctx://source/٣",
        "ctx://source/abc",
        "CTX://source/1",
        "ctx://other/1",
        "1",
        f"ctx://source/{2**64}",
    ],
)
def test_anything_else_is_no_handle(handle):
    with pytest.raises(InvalidInput, match="ctx://source/<decimal id>") as refused:
        parse_handle(handle)
    assert refused.value.field == "handle"
