"""What a store promises that also finds facts by their words."""

from typing import Final

import numpy as np
import pytest

from veles_core.protocols import Store, WordSearch
from veles_core.records import Predicate
from veles_core.testing.clock import NOON, SettableClock
from veles_core.testing.store.durability import interrupted
from veles_core.testing.store.fixtures import HIGH, StoreFixtures, hub, ids, record
from veles_core.words import Postings, terms

TEXTS: Final = [
    "The staging cluster has six nodes",
    "Six nodes were ordered for the staging cluster, six more for production",
    "Backups run at two in the morning",
    "会议室预订系统的超时设置为八秒",
    "parking_lot replaced the standard mutex; see api.v2.users",
    "Café opens at nine",
    "The cluster of the invoice job logs ERR_1042 and retries, and retries, and retries",
    "… !!! —",
]
QUERIES: Final = [
    "staging cluster nodes",
    "six six six",
    "超时",
    "parking lot",
    "parking_lot",
    "cafe",
    "ERR_1042 retries",
    "the",
    "nothing of this appears",
    "NOT NEAR/3 ^col: AND (",
    "",
]


class WordSearchContract(StoreFixtures):
    """Every promise of ``veles_core.protocols.WordSearch``."""

    @pytest.fixture
    def words(self, store: Store) -> WordSearch:
        """The store, filled with TEXTS under the ids 0, 1, 2 …"""
        store.put_facts([record(n, text, metadata={"n": n}) for n, text in enumerate(TEXTS)])
        assert isinstance(store, WordSearch)
        return store

    def test_scores_are_bm25_over_the_terms_of_the_core(self, words: WordSearch) -> None:
        index = Postings()
        index.add_many(range(len(TEXTS)), map(terms, TEXTS))
        for query in QUERIES:
            scores = index.scores(terms(query), None, len(TEXTS))
            ranked = np.lexsort((np.arange(len(TEXTS)), -scores)).tolist()
            order = [n for n in ranked if scores[n] > 0]
            hits = words.search_words(query, 99)
            assert ids(hits) == order, query
            assert [hit.score for hit in hits] == pytest.approx(scores[order].tolist(), rel=1e-5)
            everyone = words.word_scores(query, range(len(TEXTS)))
            assert everyone == pytest.approx(scores.tolist(), rel=1e-5)
            assert words.search_words(query, 2) == hits[:2]
            assert words.search_words(query, 0) == []

    def test_scores_come_in_the_order_asked(self, words: WordSearch) -> None:
        all_scores = words.word_scores("cluster", range(8))
        assert words.word_scores("cluster", [6, 3, 0]) == [all_scores[n] for n in (6, 3, 0)]
        assert words.word_scores("cluster", [99, 6]) == [0, all_scores[6]]
        assert words.word_scores("cluster", []) == []

    def test_equal_words_are_ordered_by_unsigned_id(self, store: Store) -> None:
        store.put_facts([record(n, "the same words") for n in (HIGH, 7, HIGH - 1)])
        assert isinstance(store, WordSearch)
        assert ids(store.search_words("words", 9)) == [7, HIGH - 1, HIGH]
        assert ids(store.search_words("words", 1)) == [7]

    def test_words_are_searched_among_what_matches(self, words: WordSearch) -> None:
        assert ids(words.search_words("cluster", 1, [Predicate("n", "ge", 6)])) == [6]
        assert words.search_words("cluster", 9, [Predicate("n", "gt", 6)]) == []
        rarest = [Predicate("n", "eq", 1), Predicate("n", "ne", "1")]
        assert words.search_words("cluster", 9, rarest) == [
            hit for hit in words.search_words("cluster", 9) if hit.id == 1
        ]

    def test_only_visible_facts_count(
        self, words: WordSearch, store: Store, clock: SettableClock
    ) -> None:
        before = words.search_words("cluster", 9)
        store.put_facts([hub(50, "cluster"), record(51, "cluster", expires_at=NOON + 9)])
        assert 51 in ids(words.search_words("cluster", 9))
        assert 50 not in ids(words.search_words("cluster", 9))
        clock.advance(9)
        # The scores too: a word is as rare as the visible facts make it.
        assert words.search_words("cluster", 9) == before
        store.delete_facts([0])
        assert 0 not in ids(words.search_words("cluster", 9))

    def test_replaced_words_are_forgotten(self, words: WordSearch, store: Store) -> None:
        store.put_facts([record(2, "Rollouts happen at noon")])
        assert words.search_words("backups", 9) == []
        assert ids(words.search_words("rollouts", 9)) == [2]
        assert words.word_scores("backups", [2]) == [0]

    def test_a_failed_transaction_leaves_no_words(
        self, words: WordSearch, store: Store, atomic: bool
    ) -> None:
        with interrupted(store):
            store.put_facts([record(60, "zeppelin"), record(2, "zeppelin")])
        if atomic:
            assert words.search_words("zeppelin", 9) == []
            assert ids(words.search_words("backups", 9)) == [2]
        assert store.check() == []
