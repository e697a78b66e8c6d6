"""Speed of the lexical half and of the hash embedder: medians, on one core.

Facts of about 120 characters from a vocabulary of 2,000 words, drawn with Zipf's
frequencies; queries of eight of the twenty most frequent.

    python -m benchmarks.words_speed [--facts 20000 100000]
"""

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from veles_core.builtin.hash_embedder import HashEmbedder
from veles_core.words import Postings, terms

_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


def corpus(count: int, seed: int = 7) -> tuple[list[str], list[str]]:
    """Facts, and the vocabulary from the most frequent word to the rarest."""
    rng = random.Random(seed)
    words = list(
        dict.fromkeys("".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(4000))
    )[:2000]
    weights = [1 / (rank + 10) for rank in range(len(words))]
    drawn = iter(rng.choices(words, weights, k=count * 17))
    return [" ".join(next(drawn) for _ in range(17)) for _ in range(count)], words


def median_ms(call: Callable[[], object], times: int = 30) -> float:
    """Median milliseconds of one call, after one to warm up."""
    call()
    spans = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spans.append(time.perf_counter() - start)
    return statistics.median(spans) * 1000


def rate(call: Callable[[], object], count: int) -> float:
    """How many of ``count`` things a second one call does."""
    start = time.perf_counter()
    call()
    return count / (time.perf_counter() - start)


def show(name: str, value: float, unit: str) -> None:
    """Print one figure."""
    print(f"  {name:20} {value:12,.3f} {unit}")


def report(count: int) -> None:
    """Print every figure for a store of ``count`` facts."""
    facts, words = corpus(count)
    print(f"{count:,} facts of {statistics.mean(map(len, facts)):.0f} characters")
    show("terms", rate(lambda: [terms(fact) for fact in facts], count), "facts/s")
    split = [terms(fact) for fact in facts]
    postings = Postings()
    show("add", rate(lambda: postings.add_many(range(count), split), count), "facts/s")
    rng = random.Random(1)
    queries = cycle([terms(" ".join(rng.sample(words[:20], 8))) for _ in range(30)])
    alive = np.ones(count, bool)
    alive[::50] = False
    some = np.sort(np.random.default_rng(1).choice(count, 100, replace=False)).astype(np.int64)

    def scored(index: Postings, mask: npt.NDArray[np.bool_] | None) -> float:
        return median_ms(lambda: index.scores(next(queries), mask, count))

    show("query, all in tail", scored(postings, None), "ms")
    show("merge the tail", 1000 / rate(postings.arrays, 1), "ms")
    show("query, all in base", scored(postings, None), "ms")
    show("query, some dead", scored(postings, alive), "ms")
    hundred = median_ms(lambda: postings.score_rows(next(queries), some, alive))
    show("query of 100 rows", hundred, "ms")
    with tempfile.TemporaryDirectory() as folder:
        for name, values in postings.arrays().items():
            np.save(Path(folder, name), values)

        def opened() -> Postings:
            return Postings.from_arrays(
                {file.stem: np.load(file, mmap_mode="r") for file in Path(folder).iterdir()}
            )

        show("open a snapshot", median_ms(opened), "ms")
        show("query, mapped", scored(opened(), None), "ms")
    embedder = HashEmbedder()
    part = facts[:5000]
    show("hash embed, batch", rate(lambda: embedder.embed(part), len(part)), "facts/s")
    single = cycle(facts)
    show("hash embed, one", median_ms(lambda: embedder.embed([next(single)]), 300), "ms")


@click.command()
@click.option("--facts", multiple=True, type=int, default=(20_000, 100_000), show_default=True)
def main(facts: tuple[int, ...]) -> None:
    """Measure the words and the hash embedder."""
    for count in facts:
        report(count)


if __name__ == "__main__":
    main()
