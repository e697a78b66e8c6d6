"""Processes killed with SIGKILL in every state of an extraction job, and at random moments.

Model and embedder are one real HTTP service, so that a kill can wait until a request is
under way, and what was asked for can be counted. This file is also the process to kill.
"""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from veles_core.clock import SYSTEM_CLOCK
from veles_core.hookspecs import Host
from veles_core.memory import entities
from veles_core.memory.answers import ExtractionResult
from veles_core.memory.extraction import ExtractionJobs
from veles_core.memory.extractors import Extractors
from veles_core.memory.service import MemoryService
from veles_core.plugins import discover
from veles_core.testing.http import NEVER, Reply, Request, Service, ollama
from veles_core.testing.waiting import until

PASSAGE = "Theo, Camille's brother, repaired the pump."
ANSWER = json.dumps(
    {
        "facts": [
            {"content": "Theo repaired the pump.", "topics": ["Theo", "pump"]},
            {"content": "Theo is Camille's brother.", "topics": ["Theo", "Camille"]},
        ],
        "relations": [{"subject": "Theo", "predicate": "brother of", "object": "Camille"}],
        "attributes": [{"entity": "pump", "key": "state", "value": "repaired"}],
    }
)


class Backend:
    """Chats and embeds; what is held back is never answered."""

    def __init__(self, *held: str) -> None:
        self.held = set(held)
        self._answer = ollama(chat=lambda _: ANSWER)

    def __call__(self, request: Request) -> Reply:
        return NEVER if request.path in self.held else self._answer(request)


def asked(service: Service, path: str) -> int:
    return sum(request.path == path for request in service.requests)


@contextmanager
def opened(directory: Path, url: str) -> Iterator[tuple[MemoryService, ExtractionJobs]]:
    """The memory of a directory with the remote embedder and extractor at one address."""
    from veles_plugins.embed_ollama import OllamaSettings
    from veles_plugins.embed_ollama.embedder import ollama_embedder
    from veles_plugins.extract_ollama.extractor import OllamaExtractor

    registry = discover(())

    def extractor(name: str) -> object:
        if name == "outline":
            return registry.open("extractor", name, Host(directory))
        return OllamaExtractor(url, "m", None, 60.0)

    embedder = ollama_embedder(OllamaSettings(VELESDB_MEMORY_EMBEDDER_URL=url))  # type: ignore[call-arg]
    store = registry.open("store", "exact", Host(directory, identity=embedder.identity))
    extractors = Extractors(extractor, ["ollama", "outline"], "ollama")  # type: ignore[arg-type]
    with MemoryService(store, embedder) as memory:
        jobs = ExtractionJobs(memory, extractors, SYSTEM_CLOCK)
        try:
            yield memory, jobs
        finally:
            jobs.close()
            extractors.close()


class Process:
    """Another process that has the memory open and accepts what it is told to."""

    def __init__(self, directory: Path, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(directory), url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._line() == "open"

    def submit(self, text: str, extractor: str | None = None) -> str:
        """The request id of the receipt."""
        self.tell(text, extractor)
        return self._line()

    def tell(self, text: str, extractor: str | None = None) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps([text, extractor]) + "\n")
        self._process.stdin.flush()

    def kill(self) -> str:
        """SIGKILL; what it had still said before."""
        self._process.kill()
        assert self._process.stdin
        assert self._process.stdout
        said = self._process.stdout.read()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        return said

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().strip()


def ended(jobs: ExtractionJobs, request_id: str) -> ExtractionResult:
    until(lambda: jobs.status(request_id).state in ("committed", "failed"))
    return jobs.status(request_id)


def assert_stored_once(memory: MemoryService, result: ExtractionResult) -> None:
    """Everything the model found is there, whole, and nothing else."""
    assert (result.state, result.error, result.skipped_over_cap) == ("committed", None, 0)
    store = memory.live().store
    facts = store.get_facts(result.ids)
    assert [fact.content for fact in facts] == [
        "Theo repaired the pump.",
        "Theo is Camille's brother.",
    ]
    assert (store.count().facts, store.count().edges) == (2, 2 * 4 + 1)
    theo = entities.view(store, "theo")
    assert [(r.predicate, r.name) for r in theo.relations] == [("brother of", "camille")]
    assert entities.view(store, "pump").attributes == {"state": "repaired"}
    assert store.check() == []


def test_killed_when_accepted(tmp_path: Path) -> None:
    with Service(Backend("/api/chat", "/api/embed")) as service:
        process = Process(tmp_path, service.url)
        request_id = process.submit(PASSAGE)
        process.kill()
    with Service(Backend()) as service, opened(tmp_path, service.url) as (memory, jobs):
        assert_stored_once(memory, ended(jobs, request_id))
        assert asked(service, "/api/chat") == 1
        assert jobs.submit(PASSAGE).reused


def test_killed_while_the_model_answers(tmp_path: Path) -> None:
    with Service(Backend("/api/chat")) as service:
        process = Process(tmp_path, service.url)
        request_id = process.submit(PASSAGE)
        until(lambda: asked(service, "/api/chat"))
        process.kill()
    with Service(Backend()) as service, opened(tmp_path, service.url) as (memory, jobs):
        assert jobs.status(request_id).state == "running"
        assert memory.live().store.count().facts == 0
        assert_stored_once(memory, ended(jobs, request_id))


def test_killed_between_the_answer_and_the_first_memory(tmp_path: Path) -> None:
    with Service(Backend("/api/embed")) as service:
        process = Process(tmp_path, service.url)
        request_id = process.submit(PASSAGE)
        until(lambda: asked(service, "/api/embed"))
        process.kill()
        assert asked(service, "/api/chat") == 1
    with Service(Backend("/api/chat")) as service, opened(tmp_path, service.url) as (memory, jobs):
        assert memory.live().store.count().facts == 0
        assert_stored_once(memory, ended(jobs, request_id))
        assert asked(service, "/api/chat") == 0  # the stored generation is what counts


def test_killed_when_committed(tmp_path: Path) -> None:
    with Service(Backend()) as service:
        process = Process(tmp_path, service.url)
        request_id = process.submit(PASSAGE)
        with opened(tmp_path, service.url) as (_, jobs):
            result = ended(jobs, request_id)
        process.kill()
    with Service(Backend("/api/chat")) as service, opened(tmp_path, service.url) as (memory, jobs):
        assert jobs.status(request_id) == result
        assert_stored_once(memory, result)
        assert jobs.submit(PASSAGE).state == "committed"


def test_killed_when_failed(tmp_path: Path) -> None:
    refusing = ollama(chat=lambda _: "Sorry, I can't.")
    with Service(refusing) as service:
        process = Process(tmp_path, service.url)
        request_id = process.submit(PASSAGE)
        with opened(tmp_path, service.url) as (_, jobs):
            result = ended(jobs, request_id)
        process.kill()
        assert asked(service, "/api/chat") == 2
    assert result.state == "failed"
    with Service(Backend()) as service, opened(tmp_path, service.url) as (memory, jobs):
        assert jobs.status(request_id) == result
        assert jobs.submit(PASSAGE).state == "failed"
        assert memory.live().store.scan_facts(None, 9, internal=True) == []


def test_another_process_takes_over_within_seconds(tmp_path: Path) -> None:
    backend = Backend("/api/chat")
    with Service(backend) as service, opened(tmp_path, service.url) as (memory, jobs):
        process = Process(tmp_path, service.url)
        request_id = process.submit(PASSAGE)
        until(lambda: asked(service, "/api/chat"))
        backend.held.clear()
        process.kill()
        until(lambda: jobs.status(request_id).state == "committed", seconds=5)
        assert_stored_once(memory, jobs.status(request_id))


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_any_moment(tmp_path: Path, seed: int) -> None:
    """Whatever had a receipt is stored whole, and what had none is stored whole or not at all."""
    dice = random.Random(seed)
    texts = [
        "\n".join(
            f"fact: Round {n} counted item {m} | Round {n}; Item {m}"
            for m in range(dice.randint(1, 60))
        )
        for n in range(6)
    ]
    with Service(Backend()) as service:
        process = Process(tmp_path, service.url)
        receipts = [process.submit(text, "outline") for text in texts[:3]]
        for text in texts[3:]:
            process.tell(text, "outline")
        wait = dice.uniform(0, 0.4)
        with pytest.raises(subprocess.TimeoutExpired):
            process._process.wait(wait)
        receipts += process.kill().split()
        with opened(tmp_path, service.url) as (memory, jobs):
            results = [ended(jobs, request_id) for request_id in receipts]
            assert [result.state for result in results] == ["committed"] * len(receipts)
            again = [jobs.submit(text, extractor="outline").request_id for text in texts]
            assert again[: len(receipts)] == receipts
            results = [ended(jobs, request_id) for request_id in again]
            assert [len(result.ids) for result in results] == [
                len(text.splitlines()) for text in texts
            ]
            store = memory.live().store
            facts = sum(len(text.splitlines()) for text in texts)
            assert (store.count().facts, store.count().edges) == (facts, 4 * facts)
            assert store.check() == []


def main(directory: str, url: str) -> None:
    """The process to kill: accept what standard input says, answer with request ids."""
    with opened(Path(directory), url) as (_, jobs):
        print("open", flush=True)
        for line in sys.stdin:
            text, extractor = json.loads(line)
            print(jobs.submit(text, extractor=extractor).request_id, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
