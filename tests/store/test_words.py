"""The word index: scores of visible facts, the same after a snapshot as before."""

from pathlib import Path

import numpy as np
import pytest

from veles_core.store.words import WordIndex

FOREVER = np.inf
TEXTS = ["the red fox", "a red red rose", "blue sky", "Füchse und Rosen", "red"]
IDS = np.array([5, 1 << 63, 3, 9, 2], np.uint64)
EXPIRES = np.array([FOREVER, 100.0, FOREVER, FOREVER, FOREVER])


@pytest.fixture
def words(tmp_path: Path) -> WordIndex:
    index = WordIndex(tmp_path / "words")
    index.add(IDS, TEXTS, EXPIRES)
    index.advance(5)
    return index


def scores(index: WordIndex, query: str, now: float = 0.0) -> dict[int, float]:
    ids, found = index.search(query, 99, now)
    assert index.scores_of(query, ids, now).tolist() == found.tolist()
    return dict(zip(ids.tolist(), found.tolist(), strict=True))


def test_facts_that_share_a_term_are_scored(words: WordIndex) -> None:
    assert scores(words, "red").keys() == {5, 1 << 63, 2}
    assert scores(words, "nothing of this") == {}
    assert scores(words, "") == {}


def test_expired_and_removed_facts_count_for_nothing(words: WordIndex) -> None:
    without = WordIndex(None)
    keep = IDS != 1 << 63
    without.add(IDS[keep], [text for text, kept in zip(TEXTS, keep, strict=True) if kept],
                EXPIRES[keep])  # fmt: skip
    expected = scores(without, "red rose")
    assert scores(words, "red rose", 99.0) != expected
    assert scores(words, "red rose", 100.0) == expected
    words.remove(np.array([1 << 63], np.uint64))
    assert scores(words, "red rose", 0.0) == expected


def test_replaced_text_is_forgotten(words: WordIndex) -> None:
    words.add(IDS[:1], ["green"], EXPIRES[:1])
    assert scores(words, "fox") == {}
    assert scores(words, "green").keys() == {5}


def test_a_snapshot_gives_the_same_scores(words: WordIndex, tmp_path: Path) -> None:
    words.remove(IDS[2:3])
    words.save()
    opened = WordIndex(tmp_path / "words")
    assert opened.position == 5
    for query in ("red", "rose fox", "sky", "Rosen"):
        for now in (0.0, 200.0):
            assert scores(opened, query, now) == scores(words, query, now)
    assert all(map(np.array_equal, opened.entries(), words.entries()))
    opened.add(IDS[2:3], ["red again"], EXPIRES[2:3])
    assert 3 in scores(opened, "again")


def test_clearing_forgets_the_snapshot_too(words: WordIndex, tmp_path: Path) -> None:
    words.save()
    words.clear()
    assert words.position == 0
    assert scores(words, "red") == {}
    assert WordIndex(tmp_path / "words").position == 0


def test_entries_tell_any_difference(words: WordIndex) -> None:
    same = WordIndex(None)
    order = [3, 0, 4, 2, 1]
    same.add(IDS[order], [TEXTS[n] for n in order], EXPIRES[order])
    assert all(map(np.array_equal, words.entries(), same.entries()))
    same.add(IDS[:1], ["the red wolf"], EXPIRES[:1])
    assert not all(map(np.array_equal, words.entries(), same.entries()))


def test_the_scores_of_a_query_are_kept_until_something_expires(words: WordIndex) -> None:
    def kept(now: float) -> object:
        words.search("red", 1, now)
        return words._last

    first = kept(0.0)
    assert kept(99.5) is first
    assert kept(100.0) is not first
    first = kept(99.0)
    words.remove(IDS[:1])
    assert kept(99.0) is not first


def test_filters_and_order(words: WordIndex) -> None:
    ids, found = words.search("red", 99, 0.0)
    assert found.tolist() == sorted(found.tolist(), reverse=True)
    assert [words.search("red", k, 0.0)[0].tolist() for k in (0, 1, 2)] == [
        [], ids[:1].tolist(), ids[:2].tolist()
    ]  # fmt: skip
    few, high = np.array([2, 3, 77], np.uint64), np.array([1 << 63], np.uint64)
    assert words.search("red", 9, 0.0, allowed=few)[0].tolist() == [2]
    assert set(words.search("red", 9, 0.0, excluded=high)[0].tolist()) == {2, 5}
    assert words.scores_of("red", np.array([77, 3], np.uint64), 0.0).tolist() == [0, 0]
    assert WordIndex(None).scores_of("red", high, 0.0).tolist() == [0]
    tied = WordIndex(None)
    tied.add(np.array([9, 1 << 63, 4], np.uint64), ["red"] * 3, np.full(3, FOREVER))
    assert tied.search("red", 2, 0.0)[0].tolist() == [4, 9]
