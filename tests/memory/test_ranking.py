"""Ranking: the halves joined, confidence, ties, and what it gives with words and hashes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veles_core.builtin.hash_embedder import HashEmbedder
from veles_core.memory.ranking import bend, hybrid_keys, order
from veles_core.words import Postings, terms

GARDEN = [
    f"{work} the {plant} in {month}"
    for month in ("March", "May", "October")
    for work in ("Sow", "Prune")
    for plant in ("tomatoes", "roses", "apple trees", "lavender bed", "raspberries")
]
DAYS = ["Monday", "Wednesday", "Thursday", "Friday"]
GLUED = [
    "会议室预订系统的超时设置为八秒",
    "結合テストの締め切りは金曜日です",
    "배포는 매주 화요일에 진행한다",
    "重启billing-worker后恢复正常",
]
PUNCTUATED = [
    "Run the pre-deploy checklist before every push",
    "The link carries 12 GB/s at peak",
    "The flag lives at api.v2.users in the config",
    "We don't restart the broker by hand",
    "parking_lot replaced the standard mutex",
]

pools = st.lists(
    st.tuples(st.floats(-1, 1, width=32), st.floats(0, 30, width=32), st.floats(0, 1, width=32)),
    max_size=30,
)


def columns(pool):
    return np.array(pool, np.float64).reshape(-1, 3).T


def ranked(facts, query):
    """Positions of the facts, best first, as a recall over all of them orders them."""
    embedder = HashEmbedder()
    similarities = embedder.embed(facts) @ embedder.embed([query])[0]
    postings = Postings()
    postings.add_many(range(len(facts)), map(terms, facts))
    keys = hybrid_keys(similarities, postings.scores(terms(query), None, len(facts)))
    return order(np.arange(len(facts), dtype=np.uint64), keys).tolist()


@settings(deadline=None)
@given(pools)
def test_keys_are_in_the_unit_interval_and_follow_both_halves(pool):
    similarities, words, _ = columns(pool)
    keys = hybrid_keys(similarities, words)
    assert keys.shape == (len(pool),)
    assert ((keys >= 0) & (keys <= 1)).all()
    for i in range(len(pool)):
        worse = (similarities <= similarities[i]) & (words <= words[i])
        assert (keys[worse] <= keys[i]).all()
        assert (keys[i] == 0) == (similarities[i] <= 0 and words[i] == 0)


@settings(deadline=None)
@given(pools)
def test_confidence_bends_by_at_most_half(pool):
    similarities, words, confidences = columns(pool)
    keys = hybrid_keys(similarities, words)
    bent = bend(keys, confidences)
    assert bent == pytest.approx(keys * (0.5 + confidences))
    assert bend(keys, np.full(len(pool), 0.5)) == pytest.approx(keys)


@settings(deadline=None)
@given(pools)
def test_the_order_is_total_and_independent_of_the_pools_order(pool):
    similarities, words, confidences = columns(pool)
    keys = bend(hybrid_keys(similarities, words), confidences)
    ids = np.arange(len(pool), dtype=np.uint64) + np.uint64(2**63)
    best = ids[order(ids, keys)]
    turned = ids[::-1][order(ids[::-1], keys[::-1])]
    assert best.tolist() == turned.tolist()
    assert (np.diff(np.round(keys[order(ids, keys)], 9)) <= 0).all()


def test_ties_go_to_the_lower_unsigned_id():
    ids = np.array([2**64 - 1, 3, 2**63, 7], np.uint64)
    assert order(ids, [0.5, 0.5, 0.5 + 1e-12, 0.6]).tolist() == [3, 1, 2, 0]


def test_nothing_in_common_stays_last_whatever_its_confidence():
    keys = bend(hybrid_keys([-0.2, 0.01, 0.0, 0.3], [0, 0, 0, 2]), [1, 0, 1, 0])
    assert order(np.arange(4, dtype=np.uint64), keys).tolist() == [3, 1, 0, 2]


def test_a_reinforced_fact_climbs_past_its_neighbours():
    similarities = np.linspace(0.6, 0.4, 64)
    words = np.linspace(5, 3, 64)
    confidences = np.full(64, 0.5)
    confidences[15] = 1.0
    keys = bend(hybrid_keys(similarities, words), confidences)
    assert order(np.arange(64, dtype=np.uint64), keys)[0] == 15


def test_an_empty_pool_has_an_empty_order():
    keys = bend(hybrid_keys([], []), [])
    assert order(np.empty(0, np.uint64), keys).tolist() == []


@pytest.mark.parametrize(
    ("query", "fact"),
    [("超时", 0), ("締め切り", 1), ("화요일", 2), ("billing-worker", 3), ("恢复正常", 3)],
)
def test_text_without_spaces_is_found(query, fact):
    assert ranked(GLUED + GARDEN, query)[0] == fact


@pytest.mark.parametrize(
    ("query", "fact"),
    [
        ("pre-deploy", 0),
        ("GB/s", 1),
        ("api.v2.users", 2),
        ("don't restart", 3),
        ("don’t restart", 3),
        ('"pre-deploy', 0),
        ("parking_lot", 4),
        ("mutex)", 4),
    ],
)
def test_punctuation_in_queries_is_not_syntax(query, fact):
    assert ranked(PUNCTUATED, query)[0] == fact


@pytest.mark.parametrize("query", ["NOT NEAR/3 ^col: AND (", "*", "'; DROP TABLE facts; --"])
def test_queries_that_look_like_syntax_rank_everything(query):
    assert sorted(ranked(PUNCTUATED, query)) == [0, 1, 2, 3, 4]


def test_near_copies_stand_together_and_leave_the_rest_in_order():
    copies = [
        "The deploy window is Tuesday morning",
        "Deploy window: Tuesday morning",
        "Our deploy window is on Tuesday mornings",
        "The deploy window is Tuesday, in the morning",
        "Tuesday morning is the deploy window",
    ]
    others = [f"The {team} team has a deploy on {day}" for team in ("api", "web") for day in DAYS]
    best = ranked(copies + others + GARDEN, "deploy window Tuesday morning")
    assert sorted(best[:5]) == [0, 1, 2, 3, 4]
    assert set(best[5:13]) == set(range(5, 13))
