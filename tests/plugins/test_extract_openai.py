"""The OpenAI-protocol extractor against a real HTTP service that speaks it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from types import ModuleType

import pytest
from pydantic import SecretStr

from veles_core.errors import BackendRefused, BackendUnavailable, ConfigurationError
from veles_core.records import ExtractedFact, Extraction, Relation
from veles_core.settings import load
from veles_core.testing.extractor import ExtractorContract
from veles_core.testing.http import Replies, Reply, Request, Service, openai, script
from veles_core.testing.plugin import PluginContract
from veles_plugins import extract_openai
from veles_plugins.extract_openai import OpenAIExtractorSettings
from veles_plugins.extract_openai.extractor import OpenAIExtractor

PASSAGE = "Camille is Theo's sister."
FOUND = Extraction(
    (ExtractedFact("Camille is Theo's sister.", ("Camille", "Theo")),),
    (Relation("Camille", "sister of", "Theo"),),
)
GOOD = json.dumps(
    {
        "facts": [{"content": "Camille is Theo's sister.", "topics": ["Camille", "Theo"]}],
        "relations": [{"subject": "Camille", "predicate": "sister of", "object": "Theo"}],
        "attributes": [],
    }
)
COMPLETE = openai(chat=lambda _: GOOD)


@contextmanager
def serving(replies: Replies, path: str = "") -> Iterator[tuple[OpenAIExtractor, list[Request]]]:
    """An extractor of a service that answers with ``replies``, and what the service was asked."""
    with Service(replies) as service:
        token = SecretStr("s3cret-token")
        with closing(OpenAIExtractor(service.url + path, "m", token, 20.0)) as extractor:
            yield extractor, service.requests


def formats(requests: Sequence[Request]) -> list[str | None]:
    """What each request demanded the answer to be."""
    return [request.json.get("response_format", {}).get("type") for request in requests]


class TestContract(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Iterator[OpenAIExtractor]:
        with serving(COMPLETE) as (extractor, _):
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
        return extract_openai

    @pytest.fixture
    def heavy(self) -> Sequence[str]:
        return ["httpx"]

    def test_a_missing_library_has_a_way_out(self) -> None:  # type: ignore[override]
        """httpx comes with the base install."""


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_the_url_may_end_with_or_without_its_version(path: str) -> None:
    with serving(COMPLETE, path) as (extractor, requests):
        assert extractor.extract(PASSAGE) == FOUND
    (request,) = requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["Authorization"] == "Bearer s3cret-token"
    assert request.json["model"] == "m"
    assert request.json["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    ("taken", "first", "later"),
    [
        ("json_schema", ["json_schema"], "json_schema"),
        ("json_object", ["json_schema", "json_object"], "json_object"),
        (None, ["json_schema", "json_object", None], None),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_format_is_given_up_for_the_next(
    taken: str | None, first: list[str | None], later: str | None, status: int
) -> None:
    def replies(request: Request) -> Reply:
        form = request.json.get("response_format", {}).get("type")
        return COMPLETE(request) if form == taken else Reply({"error": "unknown"}, status=status)

    with serving(replies) as (extractor, requests):
        assert extractor.extract(PASSAGE) == extractor.extract(PASSAGE) == FOUND
        assert formats(requests) == [*first, later]


def test_a_service_that_refuses_everything_is_asked_three_times() -> None:
    with serving(script(Reply({"error": {"message": "no such model"}}, status=400))) as (
        extractor,
        requests,
    ):
        with pytest.raises(BackendRefused, match="no such model"):
            extractor.extract(PASSAGE)
        assert formats(requests) == ["json_schema", "json_object", None]


def test_an_answer_that_never_is_json_costs_two_requests() -> None:
    with serving(openai(chat=lambda _: "Sorry, I can't.")) as (extractor, requests):
        with pytest.raises(BackendRefused, match="no JSON object"):
            extractor.extract(PASSAGE)
        assert len(requests) == 2


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"choices": []}),
        Reply({"choices": [{"message": None}]}),
        Reply({"choices": [{"message": {"content": 5}}]}),
        Reply({"choices": "x"}),
        Reply({"error": "who are you"}, status=401),
        Reply(body=b"not json"),
    ],
)
def test_what_is_no_answer_is_refused_at_once(reply: Reply) -> None:
    with serving(script(reply)) as (extractor, requests):
        with pytest.raises(BackendRefused):
            extractor.extract(PASSAGE)
        assert len(requests) == 1


def test_a_refusal_in_place_of_content_is_no_answer() -> None:
    refusal = Reply({"choices": [{"message": {"content": None, "refusal": "I won't."}}]})
    with serving(script(refusal)) as (extractor, requests):
        with pytest.raises(BackendRefused, match="no JSON object"):
            extractor.extract(PASSAGE)
        assert len(requests) == 2


def test_an_overloaded_service_is_unavailable_after_a_few_attempts() -> None:
    with serving(script(Reply(status=503))) as (extractor, requests):
        with pytest.raises(BackendUnavailable):
            extractor.extract(PASSAGE)
        assert len(requests) == 3


def test_the_token_is_in_no_error() -> None:
    bad_key = Reply({"error": "bad key s3cret-token"}, status=401)
    with serving(script(bad_key)) as (extractor, _):
        with pytest.raises(BackendRefused) as refused:
            extractor.extract(PASSAGE)
        assert "bad key" in refused.value.message
        assert "s3cret" not in refused.value.message


def test_url_and_model_have_no_defaults() -> None:
    with pytest.raises(ConfigurationError, match="VELESDB_MEMORY_EXTRACTOR_URL"):
        load(OpenAIExtractorSettings)
