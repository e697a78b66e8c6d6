"""Recall: candidates by similarity and by words, ranked, cut to what was asked for."""

import math
from collections.abc import Iterable, Sequence
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
from veles_core.records import Fact, Hit, Predicate

if TYPE_CHECKING:
    import numpy.typing as npt

    from veles_core.records import Vector

    _Numbers = npt.NDArray[np.float64]

Ranking = Literal["hybrid", "vector"]
NOTHING: Final = Recalled(())


@dataclass(frozen=True, slots=True)
class Question:
    """A query as it is searched: its text for the words, its vector for the similarity."""

    text: str
    vector: "Vector"


@dataclass(frozen=True, slots=True)
class Candidates:
    """Facts that a question found, by id, with what speaks for each.

    The arrays run along ``ids``; ``words`` is None if similarity alone counts.
    """

    ids: list[int]
    similarities: "_Numbers"
    words: "_Numbers | None"

    def keys(self) -> "_Numbers":
        """What they are ranked by before confidence bends it."""
        if self.words is None:
            return (self.similarities + 1) / 2
        return hybrid_keys(self.similarities, self.words)

    def best(self, count: int) -> "Candidates":
        """The ``count`` with the highest keys."""
        if len(self.ids) <= count:
            return self
        rows = order(np.array(self.ids, np.uint64), self.keys())[:count]
        words = None if self.words is None else self.words[rows]
        return Candidates([self.ids[row] for row in rows], self.similarities[rows], words)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Facts with their similarity and their key, confidence included, along ``facts``."""

    facts: list[Fact]
    similarities: "_Numbers"
    keys: "_Numbers"

    def best(self, k: int) -> list[int]:
        """The places of the ``k`` best facts, best first."""
        ids = np.array([fact.id for fact in self.facts], np.uint64)
        best: list[int] = order(ids, self.keys)[:k].tolist()
        return best

    def memories(self, k: int) -> tuple[Memory, ...]:
        """The ``k`` best as a caller sees them."""
        return tuple(_memory(self.facts[n], float(self.similarities[n])) for n in self.best(k))


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
    found = candidates(store, question, pool, predicates, ranking)
    return Recalled(ranked(found, store.get_facts(found.ids)).memories(k))


def recall_where(
    store: Store, question: Question, k: int, predicates: Sequence[Predicate]
) -> Recalled:
    """The ``k`` facts most similar to the question among those that match all predicates."""
    k = min(k, MAX_RECALL_LIMIT)
    if k <= 0:
        return NOTHING
    scores = _scores(store.search(question.vector, k, predicates))
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
    found = candidates(store, question, pool, predicates, ranking)
    facts = store.get_facts(found.ids)
    direct = ranked(found, facts)
    if not direct.facts:
        return FusedRecall(())
    top = direct.facts[direct.best(1)[0]]
    reached = {node.id for node in walk(store, top, min(hops, MAX_WHY_HOPS)).nodes}
    fresh = [
        fact
        for fact in store.get_facts(sorted(reached.difference(found.ids)))
        if fact.kind == "fact" and matches(fact.metadata, predicates)
    ]
    fused = ranked(_joined(store, question, found, fresh), facts + fresh) if fresh else direct
    boosts = np.array([graph_boost if fact.id in reached else 0.0 for fact in fused.facts])
    memories = Ranked(fused.facts, fused.similarities, fused.keys + boosts).memories(k)
    rendered = timeline(memories, date_field) if date_field else None
    return FusedRecall(memories, *(rendered or (None, None)))


def seed(
    store: Store, question: Question, predicates: Sequence[Predicate], ranking: Ranking
) -> Fact | None:
    """The fact that matches the question best: where a walk starts."""
    found = candidates(store, question, RECALL_POOL_FLOOR, predicates, ranking)
    known = ranked(found, store.get_facts(found.ids))
    return known.facts[known.best(1)[0]] if known.facts else None


def candidates(
    store: Store, question: Question, size: int, predicates: Sequence[Predicate], ranking: Ranking
) -> Candidates:
    """The ``size`` facts with the highest keys, out of the ``size`` best of each half."""
    near = _scores(store.search(question.vector, size, predicates))
    if ranking == "vector" or not isinstance(store, WordSearch):
        return Candidates(list(near), np.array(list(near.values()), np.float64), None)
    sharing = _scores(store.search_words(question.text, size, predicates))
    by_words = [id for id in sharing if id not in near]
    if by_words:
        near |= zip(by_words, store.similarities(question.vector, by_words), strict=True)
    # Fewer than were asked for are all that share a word with the question.
    unknown = [id for id in near if id not in sharing] if len(sharing) == size else []
    if unknown:
        sharing |= zip(unknown, store.word_scores(question.text, unknown), strict=True)
    words = np.array([sharing.get(id, 0.0) for id in near], np.float64)
    return Candidates(list(near), _similarities(near.values()), words).best(size)


def ranked(found: Candidates, facts: Sequence[Fact]) -> Ranked:
    """The candidates that are facts, with their keys bent by what was learned of each."""
    place = {id: row for row, id in enumerate(found.ids)}
    kept = [fact for fact in facts if fact.kind == "fact"]
    rows = [place[fact.id] for fact in kept]
    confidences = np.array([fact.confidence for fact in kept], np.float64)
    return Ranked(kept, found.similarities[rows], bend(found.keys()[rows], confidences))


def _joined(
    store: Store, question: Question, found: Candidates, more: Sequence[Fact]
) -> Candidates:
    """The candidates and further facts, which share their ranking."""
    ids = [fact.id for fact in more]
    similarities = _similarities(store.similarities(question.vector, ids))
    words = found.words
    if words is not None and isinstance(store, WordSearch):
        words = np.concatenate([words, store.word_scores(question.text, ids)])
    return Candidates(found.ids + ids, np.concatenate([found.similarities, similarities]), words)


def _scores(hits: Iterable[Hit]) -> dict[int, float]:
    return {hit.id: hit.score for hit in hits}


def _similarities(values: Iterable[float]) -> "_Numbers":
    """A fact whose vector is missing until it is repaired resembles nothing: NaN becomes 0."""
    similarities = np.array(list(values), np.float64)
    similarities[np.isnan(similarities)] = 0.0
    return similarities


def _memory(fact: Fact, score: float) -> Memory:
    return Memory(fact.id, fact.content, visible(fact.metadata), score)
