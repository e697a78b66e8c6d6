"""Evidence recall on LoCoMo's raw turns: how much of what a question needs is recalled.

    python -m benchmarks.locomo --data DIR [--through service] [--embedder local]

``DIR`` holds conversations of the LoCoMo data set, one JSON file each. Every turn is one
fact, ``Speaker: text`` (image captions are left out), every conversation a store of its
own. Counted are the questions that can be answered and name their evidence: categories 1
to 4; category 5 asks for what was never said. A question's recall is the share of its
evidence turns among the k best facts; evidence that names no turn counts as missed.

``--through functions`` ranks every fact by the ranking's own functions, with no store and
no pool; ``--through service`` remembers and recalls as a client does.
"""

import json
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from veles_core.hookspecs import Host
from veles_core.memory.ranking import hybrid_keys, order
from veles_core.memory.recall import Ranking
from veles_core.memory.service import MemoryService
from veles_core.plugins import discover
from veles_core.protocols import Embedder, QueryEmbedder
from veles_core.words import Postings, terms

ANSWERABLE = {1: "several turns", 2: "when", 3: "inference", 4: "one turn"}
CONFIRMING = ("30", "42")  # constants were chosen by the other three
MODES = ("vector", "words", "hybrid")


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """``turns`` maps a turn's id to its text, in the order of the sessions."""

    name: str
    turns: dict[str, str]
    questions: tuple[Question, ...]


Recall = Callable[[str], Iterable[str]]  # a question to its best texts
Recaller = Callable[[Sequence[str]], AbstractContextManager[Recall]]  # over these texts


def conversations(data: Path) -> list[Conversation]:
    """Every conversation of a folder, by file name."""
    return [_conversation(path) for path in sorted(data.glob("*.json"))]


def _conversation(path: Path) -> Conversation:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    sessions = [
        content[key] for key in content if re.fullmatch(r"session_\d+", key) and content[key]
    ]
    turns = {
        turn["dia_id"]: f"{turn['speaker']}: {turn['text'].strip()}"  # as it is stored
        for session in sessions
        for turn in session
    }
    questions = (
        # Some evidence is several ids in one string, or written D:11:26.
        Question(
            entry["question"],
            entry["category"],
            frozenset(
                f"D{session}:{turn}"
                for given in entry.get("evidence", ())
                for session, turn in re.findall(r"D:?(\d+):(\d+)", given)
            ),
        )
        for entry in content["qa"]
    )
    kept = (each for each in questions if each.category in ANSWERABLE and each.evidence)
    return Conversation(path.stem, turns, tuple(kept))


def by_functions(embedder: Embedder, mode: str, k: int) -> Recaller:
    """Recall by the ranking's functions over all facts."""

    @contextmanager
    def recaller(texts: Sequence[str]) -> Iterator[Recall]:
        vectors = embedder.embed(texts)
        postings = Postings()
        postings.add_many(range(len(texts)), map(terms, texts))
        ids = np.arange(len(texts), dtype=np.uint64)

        def recall(query: str) -> list[str]:
            similarities = vectors @ query_vector(embedder, query)
            words = postings.scores(terms(query), None, len(texts))
            keys = {"vector": similarities, "words": words}.get(mode)
            best = order(ids, hybrid_keys(similarities, words) if keys is None else keys)
            return [texts[row] for row in best[:k]]

        yield recall

    return recaller


def by_service(embedder: Embedder, mode: str, k: int) -> Recaller:
    """Recall by the service over the default store."""

    @contextmanager
    def recaller(texts: Sequence[str]) -> Iterator[Recall]:
        with tempfile.TemporaryDirectory() as folder:
            store = discover().open("store", "hnsw", Host(Path(folder), identity=embedder.identity))
            ranking: Ranking = "vector" if mode == "vector" else "hybrid"
            with MemoryService(store, embedder, ranking=ranking) as memory:
                for text in texts:
                    memory.remember(text)
                yield lambda query: [found.content for found in memory.recall(query, k).memories]

    return recaller


def query_vector(embedder: Embedder, query: str) -> npt.NDArray[np.float32]:
    """The vector of a question, as the embedder wants questions embedded."""
    if isinstance(embedder, QueryEmbedder):
        return embedder.embed_query(query)
    vector: npt.NDArray[np.float32] = embedder.embed([query])[0]
    return vector


def recalls(conversation: Conversation, recaller: Recaller) -> list[float]:
    """The recall of each question of a conversation."""
    turns = conversation.turns
    found = []
    with recaller(list(turns.values())) as recall:
        for question in conversation.questions:
            best = set(recall(question.text))
            found.append(statistics.mean(turns.get(turn) in best for turn in question.evidence))
    return found


def report(title: str, asked: Sequence[Conversation], recaller: Recaller) -> None:
    """Print the mean over all questions, and over each conversation, part and category."""
    groups: dict[str, list[float]] = defaultdict(list)
    for conversation in asked:
        found = recalls(conversation, recaller)
        for question, value in zip(conversation.questions, found, strict=True):
            part = "confirming" if conversation.name in CONFIRMING else "chosen by"
            for group in ("all", part, conversation.name, ANSWERABLE[question.category]):
                groups[group].append(value)
    print(title)
    for group in ("all", "chosen by", "confirming", *(c.name for c in asked), *ANSWERABLE.values()):
        if values := groups[group]:
            print(f"  {group:14} {statistics.mean(values):.4f}  of {len(values)} questions")


@click.command()
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default="../shared/data/locomo",
    show_default=True,
)
@click.option("--through", type=click.Choice(["functions", "service"]), default="functions")
@click.option("--embedder", default="hash", show_default=True, help="An installed backend.")
@click.option("--mode", "modes", type=click.Choice(MODES), multiple=True, default=MODES)
@click.option("--k", default=10, show_default=True)
def main(data: Path, through: str, embedder: str, modes: tuple[str, ...], k: int) -> None:
    """Measure evidence recall on LoCoMo."""
    asked = conversations(data)
    with tempfile.TemporaryDirectory() as folder:
        opened = discover().open("embedder", embedder, Host(Path(folder)))
        for mode in modes:
            if through == "service" and mode == "words":
                continue  # the service has no such ranking
            recaller = by_service if through == "service" else by_functions
            report(f"{mode}, {embedder}, {through}, k={k}", asked, recaller(opened, mode, k))


if __name__ == "__main__":
    main()
