"""What a graph finds that resemblance doesn't: decision → change → problem.

    python -m benchmarks.graph_retrieval [--embedder hash] [--distractors 10000]

``data/chains.jsonl`` holds chains of three facts; the question to each shares content
words with its decision only. Counted is how often the last fact of the chain, the
problem, is found: by vector recall, by hybrid recall, and by ``why`` and ``recall_fused``.

Chains are stored in two ways. **links**: remembered with links by hand, two hops from the
decision to the problem. **outline**: extracted from an outline that says what each fact is
about and how those entities relate, three hops. In the crowded corpus half of the
distractors are about one entity and half about another, and so are the changes and the
problems: walks meet hubs of degree 5,000.

``recall_fused`` is asked twice: with its default ``graph_boost``, which lets the graph
break ties, and with 1.0, which lets what the graph reaches outrank what merely resembles.
"""

import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import click

from veles_core.hookspecs import Host
from veles_core.ids import fact_id
from veles_core.limits import DEFAULT_GRAPH_BOOST
from veles_core.memory import entities, recall
from veles_core.memory.answers import Link
from veles_core.memory.entities import Mention
from veles_core.memory.extractors import OUTLINE, Extractors
from veles_core.memory.recall import Ranking
from veles_core.memory.service import MemoryService
from veles_core.plugins import Registry, discover
from veles_core.records import Fact

CHAINS: Final = Path(__file__).parent / "data" / "chains.jsonl"
CROWDS: Final = ("Operations", "Engineering")
K: Final = 10

Way = Literal["links", "outline"]
HOPS: Final[dict[Way, int]] = {"links": 2, "outline": 3}


@dataclass(frozen=True, slots=True)
class Chain:
    """Three facts, the entities between them, and a question about the first."""

    question: str
    decision: str
    change: str
    problem: str
    between: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Findings:
    """Share of the questions answered by each way of asking, and what ``why`` takes."""

    direct: float
    vector: float
    hybrid: float
    why: float
    fused: float
    boosted: float
    why_ms: float


def chains() -> list[Chain]:
    """The committed chains."""
    lines = CHAINS.read_text(encoding="utf-8").splitlines()
    return [Chain(**held | {"between": tuple(held["between"])}) for held in map(json.loads, lines)]


def distractors(count: int) -> list[str]:
    """Facts of the same world that answer none of the questions; the same every time."""
    dice = random.Random(7)
    things = ["pump", "valve", "crane", "router", "oven", "lift", "printer", "boiler", "turbine"]
    deeds = ["was inspected", "was cleaned", "got a new label", "was moved", "passed its test"]
    places = ["Bergen", "Cadiz", "Graz", "Lodz", "Nantes", "Oulu", "Sibiu", "Turin", "Varna"]
    return [
        f"The {dice.choice(things)} {n} in {dice.choice(places)} {dice.choice(deeds)} "
        f"on day {dice.randrange(365)}."
        for n in range(count)
    ]


def outline(chain: Chain, crowd: str | None) -> str:
    """The chain as a passage that states what each fact is about, and how those relate."""
    first, second = chain.between
    more = f"; {crowd}" if crowd else ""
    return (
        f"fact: {chain.decision} | {first}\n"
        f"fact: {chain.change} | {first}{more}\n"
        f"fact: {chain.problem} | {second}{more}\n"
        f"edge: {first} | because of | {second}\n"
    )


@contextmanager
def opened(registry: Registry, embedder: str, folder: Path) -> Iterator[MemoryService]:
    """A fresh memory in ``folder``."""
    model = registry.open("embedder", embedder, Host(folder))
    store = registry.open("store", "exact", Host(folder, identity=model.identity))
    outlines = Extractors(
        lambda name: registry.open("extractor", name, Host(folder)), [OUTLINE], None
    )
    with MemoryService(store, model, extractors=outlines) as memory:
        yield memory


def store_chains(memory: MemoryService, found: Sequence[Chain], way: Way, crowded: bool) -> None:
    """Remember every chain by links or by an outline, its end about a crowd if need be."""
    crowds = [CROWDS[number % len(CROWDS)] if crowded else None for number in range(len(found))]
    if way == "outline":
        extract(memory, map(outline, found, crowds))
        return
    for chain, entity in zip(found, crowds, strict=True):
        problem = memory.remember(chain.problem).id
        change = memory.remember(chain.change, links=[Link(problem, "because of")]).id
        memory.remember(chain.decision, links=[Link(change, "implemented by")])
        if entity:
            crowd(memory, [problem, change], entity)


def extract(memory: MemoryService, passages: Iterable[str]) -> None:
    """Extract outlines, one after the other."""
    for passage in passages:
        receipt = memory.remember_extracted(passage, extractor=OUTLINE)
        while memory.extraction_status(receipt.request_id).state != "committed":
            time.sleep(0.01)


def crowd(memory: MemoryService, facts: Sequence[int], entity: str) -> None:
    """Make facts be about one entity."""
    store = memory.live().store
    with store.transaction():
        entities.connect(store, [Mention(fact, [entity]) for fact in facts])


def add_distractors(memory: MemoryService, count: int) -> None:
    """Each is about one of the crowds."""
    facts = [Fact(fact_id(text), text) for text in distractors(count)]
    memory.import_items(facts, lambda *_: None)
    for number, entity in enumerate(CROWDS):
        crowd(memory, [fact.id for fact in facts[number :: len(CROWDS)]], entity)


def measure(memory: MemoryService, found: Sequence[Chain], way: Way) -> Findings:
    """Ask every question in every way."""
    hits = dict.fromkeys(("direct", "vector", "hybrid", "why", "fused", "boosted"), 0)
    took: list[float] = []
    live = memory.live()
    for chain in found:
        question = recall.ask(live.embedder, chain.question)
        assert question is not None

        def recalled(ranking: Ranking, wanted: str, question: recall.Question = question) -> bool:
            memories = recall.recall(live.store, question, K, (), ranking).memories
            return wanted in {memory.content for memory in memories}

        began = time.perf_counter()
        trail = memory.why(chain.question, max_hops=HOPS[way])
        took.append(time.perf_counter() - began)
        hits["direct"] += recalled("hybrid", chain.decision)
        hits["vector"] += recalled("vector", chain.problem)
        hits["hybrid"] += recalled("hybrid", chain.problem)
        hits["why"] += chain.problem in {node.content for node in trail.nodes}
        for name, boost in (("fused", DEFAULT_GRAPH_BOOST), ("boosted", 1.0)):
            fused = memory.recall_fused(chain.question, K, hops=HOPS[way], graph_boost=boost)
            hits[name] += chain.problem in {memory.content for memory in fused.memories}
    shares = {name: 100 * count / len(found) for name, count in hits.items()}
    return Findings(**shares, why_ms=1000 * statistics.median(took))


@click.command()
@click.option("--embedder", default="hash", show_default=True)
@click.option("--distractors", "count", default=10_000, show_default=True)
def main(embedder: str, count: int) -> None:
    """Share of the questions, in per cent, whose answer is among what is found."""
    registry, found = discover(), chains()
    click.echo(f"{len(found)} chains, k = {K}, embedder {embedder}")
    click.echo(
        f"{'corpus':36}{'direct':>7}{'vector':>7}{'hybrid':>7}{'why':>6}"
        f"{'fused':>7}{'boost 1':>8}{'why ms':>8}"
    )
    for way in HOPS:
        for crowded in (False, True):
            with (
                tempfile.TemporaryDirectory() as folder,
                opened(registry, embedder, Path(folder)) as memory,
            ):
                if crowded:
                    add_distractors(memory, count)
                store_chains(memory, found, way, crowded)
                seen = measure(memory, found, way)
            corpus = f"{way}, {HOPS[way]} hops" + (f", {count} distractors" if crowded else "")
            click.echo(
                f"{corpus:36}{seen.direct:7.0f}{seen.vector:7.0f}{seen.hybrid:7.0f}{seen.why:6.0f}"
                f"{seen.fused:7.0f}{seen.boosted:8.0f}{seen.why_ms:8.1f}"
            )


if __name__ == "__main__":
    main()
