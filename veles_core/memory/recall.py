"""Recall: candidates by similarity and by words, ranked, cut to what was asked for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from veles_core.errors import InvalidInput
from veles_core.limits import (
    DEFAULT_FUSED_HOPS,
    DEFAULT_GRAPH_BOOST,
    FUSED_POOL_FACTOR,
    MAX_EMBEDDABLE_TEXT_BYTES,
    MAX_QUERY_BYTES,
    MAX_RECALL_LIMIT,
    MAX_WHY_HOPS,
    RECALL_POOL_FACTOR,
    RECALL_POOL_FLOOR,
)
from veles_core.memory.answers import FusedRecall, Memory, Recalled
from veles_core.memory.dates import timeline
from veles_core.memory.graph import walk
from veles_core.memory.metadata import visible
from veles_core.memory.ranking import bend, hybrid_keys, order
from veles_core.memory.text import byte_length
from veles_core.predicates import matches
from veles_core.protocols import Embedder, QueryEmbedder, Store, WordSearch
from veles_core.records import Fact, Predicate

if TYPE_CHECKING:
    import numpy.typing as npt

    from veles_core.records import Vector

Ranking = Literal["hybrid", "vector"]
NOTHING: Final = Recalled(())


@dataclass(frozen=True, slots=True)
class Question:
    """A query as it is searched: its text for the words, its vector for the similarity."""

    text: str
    vector: "Vector"


@dataclass(frozen=True, slots=True)
class Candidates:
    """Facts with what speaks for each; the arrays run along ``facts``."""

    facts: tuple[Fact, ...]
    similarities: "npt.NDArray[np.float64]"
    keys: "npt.NDArray[np.float64]"


def ask(embedder: Embedder, query: str, field: str = "query") -> Question | None:
    """A query ready to be searched, its vector from the embedder; None if it is blank."""
    text = _searchable(query, field)
    if text is None:
        return None
    if isinstance(embedder, QueryEmbedder):
        return Question(text, embedder.embed_query(text))
    return Question(text, embedder.embed([text])[0])


def _searchable(query: str, field: str) -> str | None:
    """The part of a query that is searched for, at most an embedder's window; None if blank."""
    size = byte_length(query, field)
    if size > MAX_QUERY_BYTES:
        raise InvalidInput(
            f"{field} is {size} bytes; at most {MAX_QUERY_BYTES} are taken: ask a shorter question",
            field=field,
            limit=MAX_QUERY_BYTES,
            actual=size,
        )
    text = query.strip()
    if size > MAX_EMBEDDABLE_TEXT_BYTES:
        text = text.encode()[:MAX_EMBEDDABLE_TEXT_BYTES].decode(errors="ignore")
    return text or None


def check_boost(graph_boost: float) -> None:
    """Refuse a weight that would make every key meaningless."""
    if not math.isfinite(graph_boost):
        raise InvalidInput(
            "graph_boost must be a finite number", field="graph_boost", actual=str(graph_boost)
        )


def recall(
    store: Store, question: Question, k: int, predicates: Sequence[Predicate], ranking: Ranking
) -> Recalled:
    """The ``k`` best facts by similarity, words and learned confidence."""
    k = min(k, MAX_RECALL_LIMIT)
    if k <= 0:
        return NOTHING
    pool = max(RECALL_POOL_FACTOR * k, RECALL_POOL_FLOOR)
    found = rank(store, question, _pool(store, question, pool, predicates, ranking), ranking)
    return Recalled(_memories(found, k))


def recall_where(
    store: Store, question: Question, k: int, predicates: Sequence[Predicate]
) -> Recalled:
    """The ``k`` facts most similar to the question among those that match all predicates."""
    k = min(k, MAX_RECALL_LIMIT)
    if k <= 0:
        return NOTHING
    scores = {hit.id: hit.score for hit in store.search(question.vector, k, predicates)}
    facts = store.get_facts(list(scores))
    return Recalled(tuple(_memory(fact, scores[fact.id]) for fact in facts))


def recall_fused(
    store: Store,
    question: Question,
    k: int,
    predicates: Sequence[Predicate],
    ranking: Ranking,
    *,
    hops: int = DEFAULT_FUSED_HOPS,
    graph_boost: float = DEFAULT_GRAPH_BOOST,
    pool: int | None = None,
    date_field: str | None = None,
) -> FusedRecall:
    """Recall, plus the facts that a walk from the top hit reaches; both ranked together.

    A reached fact's key is raised by ``graph_boost``; predicates hold for reached facts too.
    """
    k = min(k, MAX_RECALL_LIMIT)
    if k <= 0:
        return FusedRecall(())
    if pool is None:
        pool = max(FUSED_POOL_FACTOR * k, RECALL_POOL_FLOOR)
    pool = max(1, min(pool, MAX_RECALL_LIMIT))
    ids = _pool(store, question, pool, predicates, ranking)
    direct = rank(store, question, ids, ranking)
    if not direct.facts:
        return FusedRecall(())
    top = direct.facts[int(order(_ids(direct.facts), direct.keys)[0])]
    reached = {node.id for node in walk(store, top, min(hops, MAX_WHY_HOPS)).nodes}
    fresh = [
        fact.id
        for fact in store.get_facts(sorted(reached - set(ids)))
        if fact.kind == "fact" and matches(fact.metadata, predicates)
    ]
    fused = rank(store, question, [*ids, *fresh], ranking) if fresh else direct
    boosts = np.array([graph_boost if fact.id in reached else 0.0 for fact in fused.facts])
    memories = _memories(Candidates(fused.facts, fused.similarities, fused.keys + boosts), k)
    rendered = timeline(memories, date_field) if date_field else None
    return FusedRecall(memories, *(rendered or (None, None)))


def rank(store: Store, question: Question, ids: Sequence[int], ranking: Ranking) -> Candidates:
    """Each fact's raw similarity and its ranking key, confidence included."""
    facts = tuple(fact for fact in store.get_facts(ids) if fact.kind == "fact")
    present = [fact.id for fact in facts]
    # A fact whose vector is missing until it is repaired resembles nothing: NaN becomes 0.
    similarities = np.nan_to_num(
        np.array(store.similarities(question.vector, present), dtype=np.float64), nan=0.0
    )
    if ranking == "hybrid" and isinstance(store, WordSearch):
        words = np.array(store.word_scores(question.text, present), dtype=np.float64)
        keys = hybrid_keys(similarities, words)
    else:
        keys = (similarities + 1) / 2
    confidences = np.array([fact.confidence for fact in facts], dtype=np.float64)
    return Candidates(facts, similarities, bend(keys, confidences))


def _pool(
    store: Store, question: Question, size: int, predicates: Sequence[Predicate], ranking: Ranking
) -> list[int]:
    """The ids of the ``size`` best facts of each half, without duplicates."""
    hits = store.search(question.vector, size, predicates)
    if ranking == "hybrid" and isinstance(store, WordSearch):
        hits = hits + store.search_words(question.text, size, predicates)
    return list(dict.fromkeys(hit.id for hit in hits))


def _memories(found: Candidates, k: int) -> tuple[Memory, ...]:
    best = order(_ids(found.facts), found.keys)[:k]
    return tuple(_memory(found.facts[i], float(found.similarities[i])) for i in best)


def _ids(facts: Sequence[Fact]) -> "npt.NDArray[np.uint64]":
    return np.array([fact.id for fact in facts], dtype=np.uint64)


def _memory(fact: Fact, score: float) -> Memory:
    return Memory(fact.id, fact.content, visible(fact.metadata), score)


def seed(
    store: Store, question: Question, predicates: Sequence[Predicate], ranking: Ranking
) -> Fact | None:
    """The fact that matches the question best: where a walk starts."""
    found = rank(
        store, question, _pool(store, question, RECALL_POOL_FLOOR, predicates, ranking), ranking
    )
    if not found.facts:
        return None
    return found.facts[int(order(_ids(found.facts), found.keys)[0])]
