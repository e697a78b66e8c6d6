"""Recall asks each half of the store for what it can't know otherwise, and ranks the same."""

import numpy as np
import pytest

from veles_core.limits import RECALL_POOL_FLOOR
from veles_core.memory import recall
from veles_core.memory.ranking import hybrid_keys, order
from veles_core.memory.service import MemoryService
from veles_core.protocols import WordSearch

PLANTS = ["rose", "tomato", "carrot", "basil", "lavender", "apple", "mulberry"]
DEEDS = ["was pruned", "got water", "was sown", "stood in the shade", "was moved"]


def fill(memory: MemoryService, count: int, shared: str) -> None:
    for n in range(count):
        plant, deed = PLANTS[n % len(PLANTS)], DEEDS[n % len(DEEDS)]
        memory.remember(f"The {plant} {deed} {shared if n % 2 else 'again'} in week {n}")


@pytest.mark.parametrize(
    "query",
    [
        "the yard",  # far more facts share the word than are looked at
        "roses and tomatos in the shade",  # half of what is near shares a word
        "tomatoe week 12",
        "nothing of the kind",
    ],
)
def test_every_candidate_has_the_scores_that_the_store_gives_it(
    memory: MemoryService, query: str
) -> None:
    fill(memory, 200, "behind the yard")
    live = memory.live()
    question = recall.ask(live.embedder, query)
    assert question is not None
    assert isinstance(live.store, WordSearch)
    near = live.store.search(question.vector, RECALL_POOL_FLOOR)
    sharing = live.store.search_words(query, RECALL_POOL_FLOOR)
    ids = list({hit.id for hit in near} | {hit.id for hit in sharing})
    similarities = live.store.similarities(question.vector, ids)
    keys = hybrid_keys(similarities, live.store.word_scores(query, ids))
    best = [ids[row] for row in order(np.array(ids, np.uint64), keys)]

    found = recall.candidates(live.store, question, RECALL_POOL_FLOOR, (), "hybrid")
    assert set(found.ids) == set(best[:RECALL_POOL_FLOOR])
    assert dict(zip(found.ids, found.keys(), strict=True)) == pytest.approx(
        {id: key for id, key in zip(ids, keys, strict=True) if id in found.ids}
    )
    recalled = [memory.id for memory in memory.recall(query).memories]
    assert recalled == best[:10]


def test_a_pool_holds_the_best_of_both_halves(memory: MemoryService) -> None:
    fill(memory, 200, "behind the yard")
    live = memory.live()
    question = recall.ask(live.embedder, "the yard")
    assert question is not None
    found = recall.candidates(live.store, question, RECALL_POOL_FLOOR, (), "hybrid")
    assert len(found.ids) == RECALL_POOL_FLOOR
    assert all("yard" in fact.content for fact in live.store.get_facts(found.ids[:10]))
