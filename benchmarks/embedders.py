"""Embedders compared: start-up, memory, speed, and evidence recall@10 on LoCoMo.

::

    python benchmarks/embedders.py --locomo DIR hash local:wordllama local:minilm

``DIR`` holds conversations of the LoCoMo data set, one JSON file each. A name after the
colon is ``VELESDB_MEMORY_EMBEDDER_MODEL``; other variables are passed on, so that
``ollama:all-minilm`` measures whatever server is configured. Each embedder gets a process
of its own. Recall is the share of a question's evidence turns among the ten best, averaged
over the questions that can be answered (categories 1 to 4): by similarity alone, and
ranked as the service does with the words' half.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from veles_core.hookspecs import Host
from veles_core.memory.ranking import hybrid_keys, order
from veles_core.plugins import discover
from veles_core.protocols import Embedder, QueryEmbedder
from veles_core.words import Postings, terms

K = 10
POOL = 64  # candidates of each half, as in recall
SINGLES = 100  # texts embedded one at a time
HEAD = "| embedder | dimension | open s | memory MB | texts/s | one text ms | recall@10 | + words |"


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, and questions with the positions of the turns that answer them."""

    turns: list[str]
    questions: list[tuple[str, frozenset[int]]]


def main() -> None:
    """Measure each embedder in a process of its own and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("embedders", nargs="+", metavar="NAME[:MODEL]")
    parser.add_argument("--locomo", type=Path, required=True, metavar="DIR")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(arguments.embedders[0], arguments.locomo)))
        return
    print(HEAD)
    print("|---|" + "---:|" * HEAD.count("| ", 2))
    for name in arguments.embedders:
        model = name.partition(":")[2]
        environment = os.environ | ({"VELESDB_MEMORY_EMBEDDER_MODEL": model} if model else {})
        command = [sys.executable, __file__, "--one", name, "--locomo", str(arguments.locomo)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        print(
            "| {name} | {dimension} | {open:.2f} | {memory:.0f} | {rate:.0f} | {one:.1f} "
            "| {alone:.3f} | {with_words:.3f} |".format(name=name, **json.loads(done.stdout)),
            flush=True,
        )


def measured(name: str, folder: Path) -> dict[str, Any]:
    """Everything about one embedder."""
    process = psutil.Process()
    registry = discover()
    before, started = process.memory_info().rss, time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        embedder = registry.open("embedder", name.partition(":")[0], Host(Path(directory)))
        embedder.embed(["warm"])
        opened = time.perf_counter() - started
        conversations = [conversation(path) for path in sorted(folder.glob("*.json"))]
        turns = [turn for c in conversations for turn in c.turns]
        started = time.perf_counter()
        rows = embedder.embed(turns)
        rate = len(turns) / (time.perf_counter() - started)
        started = time.perf_counter()
        for turn in turns[:SINGLES]:
            embedder.embed([turn])
        one = (time.perf_counter() - started) / SINGLES
        memory = process.memory_info().rss - before
        recalls = np.array(list(_recalls(conversations, rows, embedder)))
        embedder.close()
    return {
        "dimension": int(rows.shape[1]),
        "open": opened,
        "memory": memory / 1e6,
        "rate": rate,
        "one": one * 1e3,
        "alone": recalls[:, 0].mean(),
        "with_words": recalls[:, 1].mean(),
    }


def conversation(path: Path) -> Conversation:
    """One LoCoMo file."""
    held = json.loads(path.read_text(encoding="utf-8"))
    sessions = (held.get(f"session_{n}", []) for n in range(1, 100))
    turns = [turn for session in sessions for turn in session]
    places = {turn["dia_id"]: place for place, turn in enumerate(turns)}
    questions = []
    for asked in held["qa"]:
        evidence = frozenset(places[found] for found in asked["evidence"] if found in places)
        if asked["category"] != 5 and evidence:
            questions.append((asked["question"], evidence))
    return Conversation([f"{turn['speaker']}: {turn['text']}" for turn in turns], questions)


def _recalls(
    conversations: Sequence[Conversation], rows: Any, embedder: Embedder
) -> Iterator[tuple[float, float]]:
    """Of each question, the share of its evidence found by similarity, and with the words."""
    start = 0
    for talk in conversations:
        count = len(talk.turns)
        vectors, start = rows[start : start + count], start + count
        ids = np.arange(count, dtype=np.uint64)
        postings = Postings()
        postings.add_many(range(count), (terms(turn) for turn in talk.turns))
        for question, evidence in talk.questions:
            similarities = vectors @ _query(embedder, question)
            words = postings.scores(terms(question), None, count)
            near = order(ids, similarities)
            pool = np.union1d(near[:POOL], order(ids, words)[:POOL])
            both = pool[order(ids[pool], hybrid_keys(similarities[pool], words[pool]))]
            yield _share(near, evidence), _share(both, evidence)


def _query(embedder: Embedder, question: str) -> Any:
    if isinstance(embedder, QueryEmbedder):
        return embedder.embed_query(question)
    return embedder.embed([question])[0]


def _share(ranking: Any, evidence: frozenset[int]) -> float:
    return len(evidence.intersection(ranking[:K].tolist())) / len(evidence)


if __name__ == "__main__":
    main()
