"""The context compiler: time, budget used, tokens saved, growth; in pairs with the peer.

::

    python -m benchmarks.compile_context [--peer PYTHON] [--tokenizer heuristic] [--rounds 7]

``PYTHON`` is an interpreter that has velesdb 7.0.0. The first table stores nothing on either
side; in the second each call is the first with its fragments, and sources and event are kept.
Rounds alternate between the two, so that both see the same machine; times are medians, the
peer's tokens are counted by our tokenizer. ``data/coding_session.txt`` is a session of
twelve turns, ``data/coding_session_must_survive.txt`` the lines of it that no compression
may lose.
"""

import argparse
import gc
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from veles_core import open_memory
from veles_core.context.compile import compile_context, compile_transcript
from veles_core.context.model import (
    CompiledContext,
    CompileRequest,
    Fragment,
    TranscriptRequest,
)
from veles_core.hookspecs import Host
from veles_core.plugins import discover
from veles_core.protocols import Tokenizer

DATA: Final = Path(__file__).parent / "data"
MIB: Final = 1 << 20
GROWTH: Final = (1, 2, 4, 8)

_VOCABULARY: Final = """
    the deploy canary service request handler returns value when server error count user data
    system model token budget context memory agent region owner invoice billing dashboard
    customer filter open list page view report export file table index query and of to in
"""
_WORDS: Final = _VOCABULARY.split()
_MESSAGES: Final = (
    "INFO heartbeat ok from the worker pool",
    "WARN retrying connection to db-1",
    "INFO request served from cache",
    "ERROR timeout talking to billing",
    "DEBUG poll queue depth=3",
)

Peer = Callable[[str, dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Case:
    """One request, as the wire writes it."""

    name: str
    fragments: list[dict[str, Any]]
    budget: int

    def request(self) -> CompileRequest:
        fragments = tuple(Fragment(**fragment) for fragment in self.fragments)
        return CompileRequest("billing dashboard canary", fragments, self.budget)

    def ours(self, tokenizer: Tokenizer) -> CompiledContext:
        return compile_context(self.request(), tokenizer).context

    def wire(self, stored: bool = False) -> dict[str, Any]:
        return {
            "query": "billing dashboard canary",
            "fragments": self.fragments,
            "token_budget": self.budget,
            "policy": {"store_sources": stored, "record_events": stored},
        }


def main() -> None:
    """Print each table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", metavar="PYTHON")
    parser.add_argument("--tokenizer", default="heuristic")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, opened_peer(arguments.peer) as peer:
        gc.freeze()  # as the server does once it is open
        tokenizer = discover().open("tokenizer", arguments.tokenizer, Host(Path(folder)))
        times(tokenizer, peer, arguments.rounds)
        os.environ |= {
            "VELESDB_MEMORY_PATH": folder,
            "VELESDB_MEMORY_TOKENIZER": arguments.tokenizer,
        }
        stored_times(peer, arguments.rounds)
        budget_used(tokenizer, peer)
        session(tokenizer, peer)
        growth(tokenizer)


def cases(seed: int = 7) -> list[Case]:
    """The three shapes of request, and a log with a time stamp in each line."""
    pick = random.Random(seed)
    prose = [{"content": sentences(pick, 2000)} for _ in range(100)]
    small = [{"content": sentences(pick, 120)} for _ in range(1000)]
    log = "\n".join(pick.choice(_MESSAGES) for _ in range(MIB // 25))[: 10**6]
    stamped = "\n".join(
        f"2026-01-01T{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}Z {pick.choice(_MESSAGES)}"
        for n in range(MIB // 45)
    )[: 10**6]
    return [
        Case("100 × 2 KB prose, budget 8k", prose, 8000),
        Case("one 1 MB repetitive log", [{"content": log, "kind": "log"}], 8000),
        Case("the same with time stamps", [{"content": stamped, "kind": "log"}], 8000),
        Case("1,000 × 120 B", small, 8000),
    ]


def sentences(pick: random.Random, size: int) -> str:
    """``size`` characters of made-up prose."""
    text = ""
    while len(text) < size:
        text += " ".join(pick.choices(_WORDS, k=pick.randrange(7, 16))).capitalize() + ". "
    return text[:size]


def times(tokenizer: Tokenizer, peer: Peer | None, rounds: int) -> None:
    """Milliseconds and tokens of each case."""
    print("| | peer ms | our ms | peer tokens out | our tokens out |\n|---|--:|--:|--:|--:|")
    for case in cases():
        ours, theirs, content = [], [], ""
        for _ in range(rounds):
            if peer:
                answer = peer("compile_context", case.wire())
                theirs.append(answer["ms"])
                content = answer["content"]
            ours.append(milliseconds(partial(case.ours, tokenizer)))
        out = case.ours(tokenizer).insights.tokens_out
        beside = statistics.median(theirs) if theirs else float("nan")
        print(
            f"| {case.name} | {beside:.1f} | {statistics.median(ours):.1f} "
            f"| {tokenizer.count(content)} | {out} |"
        )


def stored_times(peer: Peer | None, rounds: int) -> None:
    """Milliseconds of each case with all sources and the event on disk when it answers."""
    ours, theirs = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    with open_memory() as memory:
        for seed in range(rounds):
            for case in cases(seed):
                compiling = partial(memory.compile_context, case.request())
                ours[case.name].append(milliseconds(compiling))
                if peer:
                    theirs[case.name].append(peer("compile_context", case.wire(stored=True))["ms"])
    print("\n| sources and event stored, first call | peer ms | our ms |\n|---|--:|--:|")
    for name, taken in ours.items():
        beside = statistics.median(theirs[name]) if peer else float("nan")
        print(f"| {name} | {beside:.1f} | {statistics.median(taken):.1f} |")


def budget_used(tokenizer: Tokenizer, peer: Peer | None) -> None:
    """How much of 1,000 tokens one paragraph that is too long fills."""
    print("\n| over-full with one paragraph, budget 1,000 | peer | ours |\n|---|--:|--:|")
    for seed in range(3):
        pick = random.Random(seed)
        case = Case("", [{"content": sentences(pick, 20_000)}], 1000)
        content = peer("compile_context", case.wire())["content"] if peer else ""
        used = case.ours(tokenizer).insights.tokens_out
        print(f"| sentences of {7 + seed}–15 words | {tokenizer.count(content)} | {used} |")


def session(tokenizer: Tokenizer, peer: Peer | None) -> None:
    """The share of a coding session's tokens that is saved, and whether what must be is there."""
    transcript = (DATA / "coding_session.txt").read_text("utf-8")
    lines = (DATA / "coding_session_must_survive.txt").read_text("utf-8").splitlines()
    query = "vans over capacity after a release"
    request = TranscriptRequest(query, 8000, transcript)
    wire = {"query": query, "token_budget": 8000, "transcript": transcript}
    contents = {"ours": compile_transcript(request, tokenizer).compilation.context.content}
    if peer:
        contents = {"peer": peer("compile_transcript", wire)["content"]} | contents
    before = tokenizer.count(transcript)
    print("\n| coding session of 12 turns | tokens in | tokens out | saved | must-survive lines |")
    print("|---|--:|--:|--:|--:|")
    for name, content in contents.items():
        after = tokenizer.count(content)
        kept = sum(line in content for line in lines)
        print(f"| {name} | {before} | {after} | {1 - after / before:.1%} | {kept}/{len(lines)} |")


def growth(tokenizer: Tokenizer) -> None:
    """How the time of a transcript grows with its size."""
    print("\n| transcript MiB | segments | s | MB/s |\n|--:|--:|--:|--:|")
    for size in GROWTH:
        text = conversation(size * MIB)
        request = TranscriptRequest("billing canary", 8000, text)
        started = time.perf_counter()
        done = compile_transcript(request, tokenizer)
        taken = time.perf_counter() - started
        count = len(done.segmentation.segments)
        print(f"| {size} | {count} | {taken:.2f} | {len(text) / taken / 1e6:.1f} |")


def conversation(size: int) -> str:
    """A made-up session of turns with prose, code and logs, no two alike."""
    pick = random.Random(size)
    parts, length = [], 0
    while length < size:
        code = "".join(f"    total += {pick.choice(_WORDS)}[{n}]\n" for n in range(12))
        log = "".join(f"2026-01-01T09:00:{n:02}Z {pick.choice(_MESSAGES)}\n" for n in range(12))
        parts.append(
            f"User: {sentences(pick, 900)}\n\nAssistant: {sentences(pick, 1200)}\n"
            f"```py\n{code}```\nTool: {log}"
        )
        length += len(parts[-1])
    return "".join(parts)[:size]


def milliseconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


@contextmanager
def opened_peer(python: str | None) -> Iterator[Peer | None]:
    """A call of the peer's compiler in its own process; None without an interpreter."""
    if python is None:
        yield None
        return
    command = [python, str(Path(__file__).with_name("peer_compiler.py"))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def call(tool: str, request: dict[str, Any]) -> dict[str, Any]:
            requests.write(json.dumps({"tool": tool, "request": request}) + "\n")
            requests.flush()
            answer: dict[str, Any] = json.loads(answers.readline())
            return answer

        yield call
        requests.close()


if __name__ == "__main__":
    main()
