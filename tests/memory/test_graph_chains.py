"""The graph benchmark's chains are what they claim, and the graph answers them."""

from pathlib import Path

import pytest

from benchmarks.graph_retrieval import HOPS, Way, chains, measure, opened, store_chains
from veles_core.plugins import discover
from veles_core.words import terms


def content_words(text: str) -> set[str]:
    """Terms without the small words that any two sentences share."""
    return {term for term in terms(text) if len(term) > 3}


def test_a_question_shares_words_with_its_decision_only() -> None:
    found = chains()
    assert len(found) >= 24
    for chain in found:
        asked = content_words(chain.question)
        assert asked & content_words(chain.decision)
        assert not asked & content_words(chain.change)
        assert not asked & content_words(chain.problem)
    assert len({fact for c in found for fact in (c.decision, c.change, c.problem)}) == 3 * len(
        found
    )


@pytest.mark.parametrize("way", HOPS)
def test_the_graph_reaches_what_resemblance_does_not(tmp_path: Path, way: Way) -> None:
    with opened(discover(()), "hash", tmp_path) as memory:
        store_chains(memory, chains(), way, crowded=True)
        seen = measure(memory, chains(), way)
    assert (seen.direct, seen.why, seen.boosted) == (100, 100, 100)
    assert seen.fused >= 90
    assert max(seen.vector, seen.hybrid) <= 33
