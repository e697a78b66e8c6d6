"""A memory as the environment describes it, with a chat model behind real HTTP."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from veles_core.errors import ConfigurationError, InvalidInput
from veles_core.memory.answers import ExtractionResult
from veles_core.memory.service import MemoryService
from veles_core.server.app import open_memory
from veles_core.testing.http import NEVER, Reply, Service, ollama, openai
from veles_core.testing.waiting import until

G = json.dumps(
    {
        "facts": [
            {"content": "Theo repaired the pump.", "topics": ["Theo", "pump"]},
            {"content": "The pump is in hall B.", "topics": ["pump", "hall B"]},
        ],
        "relations": [{"subject": "pump", "predicate": "stands in", "object": "hall B"}],
        "attributes": [{"entity": "pump", "key": "state", "value": "repaired"}],
    }
)
Chat = Callable[[str], str | Reply]
Open = Callable[..., MemoryService]


@pytest.fixture
def service() -> Iterator[Service]:
    """Speaks no protocol until ``start`` gives it one."""
    with Service(lambda _: Reply(status=404)) as service:
        yield service


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, service: Service) -> Iterator[Open]:
    with ExitStack() as stack:

        def opened(chat: Chat, extractor: str = "ollama", **variables: str) -> MemoryService:
            service.replies = ollama(chat=chat) if extractor == "ollama" else openai(chat=chat)
            settings = {
                "EXTRACTOR": extractor,
                "EXTRACTOR_URL": service.url,
                "EXTRACTOR_MODEL": "m",
            }
            for name, value in (settings | variables).items():
                monkeypatch.setenv(f"VELESDB_MEMORY_{name}", value)
            return stack.enter_context(open_memory())

        yield opened


def extracted(memory: MemoryService, text: str) -> ExtractionResult:
    receipt = memory.remember_extracted(text)
    assert receipt.state == "accepted"
    until(lambda: memory.extraction_status(receipt.request_id).state in ("committed", "failed"))
    return memory.extraction_status(receipt.request_id)


@pytest.mark.parametrize("extractor", ["ollama", "openai"])
def test_an_answers_wrapping_costs_no_fact(start: Open, service: Service, extractor: str) -> None:
    answers = {
        "Passage a.": [f"```json\n{G}\n```"],
        "Passage b.": [f"Here you are: {G} Shall I go on?"],
        "Passage c.": [f"<think>Two facts, I guess.</think>{G}"],
        "Passage d.": ["Sorry, I can't.", G],
        "Passage e.": ["Sorry, I can't.", "Sorry, I can't."],
    }
    asked: list[str] = []

    def chat(_: str) -> str:
        passage = service.requests[-1].json["messages"][1]["content"]
        asked.append(passage)
        return answers[passage][asked.count(passage) - 1]

    memory = start(chat, extractor)
    for passage in list(answers)[:4]:
        result = extracted(memory, passage)
        assert (result.state, len(result.ids), result.error) == ("committed", 2, None)
    before = memory.memory_status().memory
    result = extracted(memory, "Passage e.")
    assert (result.state, result.ids) == ("failed", ())
    assert "no JSON object" in (result.error or "")
    assert asked.count("Passage e.") == 2
    assert memory.memory_status().memory == before


def test_the_graph_can_be_walked_and_asked(start: Open) -> None:
    memory = start(lambda _: G)
    extracted(memory, "Theo repaired the pump in hall B.")
    pump = memory.entity("Pump")
    assert pump.attributes == {"state": "repaired"}
    assert [(r.predicate, r.name) for r in pump.relations] == [("stands in", "hall b")]
    nodes = {node.content for node in memory.why("who repaired it").nodes}
    assert "Entity: hall b" in nodes
    assert memory.memory_status().extraction.configured


def test_a_long_passage_is_read_in_pieces(start: Open, service: Service) -> None:
    memory = start(lambda _: G)
    text = "Theo repaired the pump in hall B today. " * 26_214
    assert len(text) < 1 << 20
    result = extracted(memory, text)
    assert (result.state, len(result.ids)) == ("committed", 2)
    assert 80 < len(service.requests) < 120


def test_a_service_that_errs_is_named_in_the_reason(start: Open) -> None:
    memory = start(lambda _: Reply({"error": "model 'm' not found"}, status=404))
    result = extracted(memory, "A passage.")
    assert result.state == "failed"
    assert "model 'm' not found" in (result.error or "")


def test_closing_does_not_wait_for_a_silent_model(start: Open, service: Service) -> None:
    memory = start(lambda _: NEVER, AUTOGRAPH="1")
    memory.remember("It rained.")
    memory.remember_extracted("A passage.")
    until(lambda: len(service.requests) == 2)
    began = time.monotonic()
    memory.close()
    assert time.monotonic() - began < 1.8


def test_autograph_links_what_is_remembered(start: Open) -> None:
    memory = start(lambda _: G, AUTOGRAPH="1")
    assert memory.memory_status().extraction.autograph_active
    fact = memory.remember("Theo repaired the pump in hall B.").id
    until(lambda: memory.memory_status().memory.edges == 2 * 3 + 1)
    assert memory.memory_status().memory.facts == 1
    memory.forget(fact)
    assert memory.memory_status().memory.edges == 0


def test_autograph_counts_what_it_drops(start: Open, service: Service) -> None:
    may_answer = threading.Event()

    def chat(_: str) -> str:
        may_answer.wait(30)
        return "Sorry, I can't."

    memory = start(chat, AUTOGRAPH="1")
    memory.remember("fact 0")
    until(lambda: service.requests)
    for number in range(1, 260):
        memory.remember(f"fact {number}")
    assert memory.memory_status().extraction.autograph_dropped == 3
    may_answer.set()


def test_a_wrong_choice_is_refused_with_a_way_out(start: Open) -> None:
    memory = start(lambda _: G)
    with pytest.raises(InvalidInput, match="not the configured one, 'ollama'"):
        memory.remember_extracted("A passage.", extractor="openai")
    with pytest.raises(InvalidInput, match="there are ollama, openai, outline"):
        memory.remember_extracted("A passage.", extractor="gpt")


def test_a_half_configured_extractor_is_told_at_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VELESDB_MEMORY_EXTRACTOR", "openai")
    with open_memory() as memory:
        with pytest.raises(ConfigurationError, match="VELESDB_MEMORY_EXTRACTOR_URL"):
            memory.remember_extracted("A passage.")
        assert memory.remember_extracted("fact: a", extractor="outline").state == "accepted"


def test_an_unreachable_service_loses_no_passage(
    start: Open, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = start(lambda _: G)
    service.close()
    receipt = memory.remember_extracted("A passage.")
    until(lambda: memory.extraction_status(receipt.request_id).state == "running")
    memory.close()
    with Service(ollama(chat=lambda _: G)) as back:
        monkeypatch.setenv("VELESDB_MEMORY_EXTRACTOR_URL", back.url)
        with open_memory() as again:
            until(lambda: again.extraction_status(receipt.request_id).state == "committed")


def test_without_an_extractor_nothing_is_configured() -> None:
    with open_memory() as memory:
        assert not memory.memory_status().extraction.configured
        with pytest.raises(ConfigurationError, match="no extractor is configured"):
            memory.remember_extracted("A passage.")
