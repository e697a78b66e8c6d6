"""The Ollama extractor against a real HTTP service that speaks Ollama's chat."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from types import ModuleType

import pytest

from veles_core.errors import BackendRefused, BackendUnavailable
from veles_core.extraction import SCHEMA
from veles_core.limits import MAX_EXTRACTION_BYTES
from veles_core.records import Attribute, ExtractedFact, Extraction, Relation
from veles_core.settings import load
from veles_core.testing.extractor import ExtractorContract
from veles_core.testing.http import (
    HANGUP,
    HTML,
    NEVER,
    Replies,
    Reply,
    Request,
    Service,
    ollama,
    script,
)
from veles_core.testing.plugin import PluginContract
from veles_plugins import extract_ollama
from veles_plugins.extract_ollama import OllamaExtractorSettings
from veles_plugins.extract_ollama.extractor import OllamaExtractor

PASSAGE = "Camille is Theo's sister. Theo is 15."
FOUND = Extraction(
    (ExtractedFact("Camille is Theo's sister.", ("Camille", "Theo")),),
    (Relation("Camille", "sister of", "Theo"),),
    (Attribute("Theo", "age", 15),),
)
GOOD = json.dumps(
    {
        "facts": [{"content": "Camille is Theo's sister.", "topics": ["Camille", "Theo"]}],
        "relations": [{"subject": "Camille", "predicate": "sister of", "object": "Theo"}],
        "attributes": [{"entity": "Theo", "key": "age", "value": 15}],
    }
)


@contextmanager
def serving(
    replies: Replies, timeout: float = 20.0
) -> Iterator[tuple[OllamaExtractor, list[Request]]]:
    """An extractor of a service that answers with ``replies``, and what the service was asked."""
    with (
        Service(replies) as service,
        closing(OllamaExtractor(service.url, "llama3.2", None, timeout)) as extractor,
    ):
        yield extractor, service.requests


class TestContract(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Iterator[OllamaExtractor]:
        with serving(ollama(chat=lambda _: GOOD)) as (extractor, _):
            yield extractor

    @pytest.fixture
    def passage(self) -> str:
        return PASSAGE

    @pytest.fixture
    def found(self) -> Extraction:
        return FOUND


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self) -> ModuleType:
        return extract_ollama

    @pytest.fixture
    def heavy(self) -> Sequence[str]:
        return ["httpx"]

    def test_a_missing_library_has_a_way_out(self) -> None:  # type: ignore[override]
        """httpx comes with the base install."""


def test_the_request_is_ollamas() -> None:
    with serving(ollama(chat=lambda _: GOOD)) as (extractor, requests):
        assert extractor.extract(PASSAGE) == FOUND
    (request,) = requests
    assert (request.method, request.path) == ("POST", "/api/chat")
    assert request.json["model"] == "llama3.2"
    assert request.json["stream"] is False
    assert request.json["format"] == SCHEMA
    assert request.json["messages"][-1] == {"role": "user", "content": PASSAGE}


def test_an_answer_that_never_is_json_costs_two_requests() -> None:
    with serving(ollama(chat=lambda _: "Sorry, I can't.")) as (extractor, requests):
        with pytest.raises(BackendRefused, match="no JSON object"):
            extractor.extract(PASSAGE)
        assert len(requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"message": "no object"}),
        Reply({"done": True}),
        Reply({"message": {"content": None}}),
        HTML,
        Reply({"error": "model 'llama3.2' not found"}, status=404),
        Reply({"error": "bad"}, status=400),
        Reply(body=b'"' + b"x" * MAX_EXTRACTION_BYTES + b'"'),
    ],
)
def test_what_is_no_answer_is_refused_at_once(reply: Reply) -> None:
    with serving(script(reply)) as (extractor, requests):
        with pytest.raises(BackendRefused):
            extractor.extract(PASSAGE)
        assert len(requests) == 1


@pytest.mark.parametrize("fault", [Reply(status=503), Reply(status=429), Reply(status=500), HANGUP])
def test_what_may_pass_is_tried_again(fault: Reply) -> None:
    with serving(script(fault, then=ollama(chat=lambda _: GOOD))) as (extractor, requests):
        assert extractor.extract(PASSAGE) == FOUND
        assert len(requests) == 2


def test_a_service_that_never_answers_is_left_in_time() -> None:
    with (
        serving(script(NEVER), timeout=0.3) as (extractor, _),
        pytest.raises(BackendUnavailable, match=r"0\.3 s"),
    ):
        extractor.extract(PASSAGE)


def test_a_service_that_is_not_there_is_unavailable() -> None:
    with Service(script(NEVER)) as service:
        url = service.url
    with (
        closing(OllamaExtractor(url, "llama3.2", None, 20.0)) as extractor,
        pytest.raises(BackendUnavailable),
    ):
        extractor.extract(PASSAGE)


@pytest.mark.parametrize("answer", [GOOD[:-1], '{"facts": "one"}', ""])
def test_a_lying_answer_is_never_taken_in_part(answer: str) -> None:
    with serving(ollama(chat=lambda _: answer)) as (extractor, _), pytest.raises(BackendRefused):
        extractor.extract(PASSAGE)


def test_settings_have_defaults_and_an_older_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(OllamaExtractorSettings).url == "http://localhost:11434"
    monkeypatch.setenv("VELESDB_MEMORY_OLLAMA_URL", "http://127.0.0.1:1")
    assert load(OllamaExtractorSettings).url == "http://127.0.0.1:1"
    monkeypatch.setenv("VELESDB_MEMORY_EXTRACTOR_URL", "http://127.0.0.1:2")
    monkeypatch.setenv("VELESDB_MEMORY_OLLAMA_MODEL", "all-minilm")  # it embeds; it can't chat
    settings = load(OllamaExtractorSettings)
    assert (settings.url, settings.model) == ("http://127.0.0.1:2", "llama3.2")
