"""The Ollama embedder against services on loopback that behave as real ones do, and worse."""

import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import veles_plugins.embed_ollama as plugin
from veles_core.clock import Clock
from veles_core.embedding.remote import BATCH
from veles_core.errors import BackendRefused, BackendUnavailable
from veles_core.hookspecs import Host
from veles_core.protocols import Embedder, QueryEmbedder
from veles_core.records import EmbeddingIdentity
from veles_core.settings import load
from veles_core.testing import PluginContract, RemoteEmbedderContract
from veles_core.testing.http import (
    HTML,
    NEVER,
    Replies,
    Reply,
    Request,
    Service,
    ollama,
    script,
    vector_of,
)

Start = Callable[..., Service]
Open = Callable[..., Any]


@pytest.fixture
def serve() -> Iterator[Start]:
    services: list[Service] = []

    def start(replies: Replies, port: int = 0) -> Service:
        services.append(Service(replies, port))
        return services[-1]

    yield start
    for service in services:
        service.close()


@pytest.fixture
def open_embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open it as the host does: settings from the environment, given as ``NAME=value``."""
    opened: list[Embedder] = []
    [backend] = plugin.veles_embedders()

    def start(url: str, **variables: str) -> Embedder:
        for name, value in ({"EMBEDDER_URL": url} | variables).items():
            monkeypatch.setenv(f"VELESDB_MEMORY_{name}", value)
        opened.append(backend.open(load(plugin.OllamaSettings), Host(tmp_path, Clock())))
        return opened[-1]

    yield start
    for embedder in opened:
        embedder.close()


def nobody() -> str:
    """An address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def unit(text: str, dimension: int = 8) -> Any:
    vector = np.array(vector_of(text, dimension))
    return vector / np.linalg.norm(vector)


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self) -> ModuleType:
        return plugin

    @pytest.fixture
    def heavy(self) -> Sequence[str]:
        return ()  # the HTTP client belongs to the base install


class TestContract(RemoteEmbedderContract):
    @pytest.fixture
    def embedder(self, serve: Start, open_embedder: Open) -> Embedder:
        return open_embedder(serve(ollama()).url)

    @pytest.fixture
    def unreachable(self, open_embedder: Open) -> Embedder:
        return open_embedder(nobody())


def test_the_defaults_are_a_local_server_and_its_smallest_model() -> None:
    settings = load(plugin.OllamaSettings)
    assert (settings.url, settings.model) == ("http://localhost:11434", "all-minilm")


def test_the_role_named_variable_wins_over_the_older_one_with_one_notice(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("VELESDB_MEMORY_OLLAMA_URL", "http://older:1")
    monkeypatch.setenv("VELESDB_MEMORY_OLLAMA_MODEL", "older")
    settings = load(plugin.OllamaSettings)
    assert (settings.url, settings.model) == ("http://older:1", "older")
    assert caplog.messages == []
    monkeypatch.setenv("VELESDB_MEMORY_EMBEDDER_URL", "http://newer:1")
    settings = load(plugin.OllamaSettings)
    assert (settings.url, settings.model) == ("http://newer:1", "older")
    assert caplog.messages == [
        "VELESDB_MEMORY_EMBEDDER_URL is used; the older VELESDB_MEMORY_OLLAMA_URL is set too "
        "and ignored"
    ]


def test_looking_at_the_plugin_imports_no_http_client() -> None:
    code = "import sys, veles_plugins.embed_ollama as p; list(p.veles_embedders()); "
    code += "print([name for name in ('httpx', 'veles_core.remote') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_texts_go_in_bounded_batches_over_one_connection_and_come_back_in_order(
    serve: Start, open_embedder: Open
) -> None:
    service = serve(ollama())
    texts = [f"note {n}" for n in range(2 * BATCH + 3)]
    rows = open_embedder(service.url, EMBEDDER_MODEL="some-model").embed(texts)
    np.testing.assert_allclose(rows, [unit(text) for text in texts], atol=1e-6)
    assert rows.dtype == np.float32
    sent = [request.json for request in service.requests]
    assert [len(body["input"]) for body in sent] == [BATCH, BATCH, 3]
    assert [text for body in sent for text in body["input"]] == texts
    assert {(body["model"], body["truncate"]) for body in sent} == {("some-model", False)}
    assert {request.path for request in service.requests} == {"/api/embed"}
    assert len({request.connection for request in service.requests}) == 1


def test_the_dimension_is_what_the_first_answer_had_whatever_the_models_name(
    serve: Start, open_embedder: Open
) -> None:
    service = serve(ollama(lambda text: vector_of(text, 8 if "short" in text else 192)))
    embedder = open_embedder(service.url, EMBEDDER_MODEL="nomic-embed-text")
    assert embedder.identity == EmbeddingIdentity("nomic-embed-text", None)
    assert service.requests == []  # nobody was asked for it
    assert embedder.embed(["long"]).shape == (1, 192)
    assert embedder.identity == EmbeddingIdentity("nomic-embed-text", 192)
    with pytest.raises(BackendRefused, match="8 numbers where 192 were expected") as caught:
        embedder.embed(["short"])
    assert (caught.value.limit, caught.value.actual) == (192, 8)
    assert embedder.embed(["long again"]).shape == (1, 192)


def test_one_answer_with_vectors_of_two_lengths_is_refused_and_teaches_nothing(
    serve: Start, open_embedder: Open
) -> None:
    service = serve(ollama(lambda text: vector_of(text, len(text))))
    embedder = open_embedder(service.url)
    with pytest.raises(BackendRefused, match="5 numbers where 4 were expected"):
        embedder.embed(["four", "fiver"])
    assert embedder.identity.dimension is None


def test_the_latest_tag_is_the_same_model(open_embedder: Open) -> None:
    embedder = open_embedder(nobody(), EMBEDDER_MODEL="all-minilm:latest")
    assert embedder.identity.model == "all-minilm"
    assert open_embedder(nobody(), EMBEDDER_MODEL="all-minilm:33m").identity.model == (
        "all-minilm:33m"
    )


def faulty(text: str) -> Any:
    """The service of the field reports: well for most texts, wrong in six ways for others."""
    nan = Reply({"error": "failed to encode response: json: unsupported value: NaN"}, status=500)
    faults = {
        "gamma": nan,
        "delta": [None] * 8,
        "epsilon": Reply({"embeddings": []}),
        "zeta": [0.0] * 8,
        "eta-5": [0.1] * 5,
        "theta": HTML,
    }
    return next((fault for word, fault in faults.items() if word in text), vector_of(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("note gamma", "answered HTTP 500: failed to encode response: .* unsupported value: NaN"),
        ("note delta", "a vector that holds null, not numbers"),
        ("note epsilon", "0 vectors where 1 were asked for"),
        ("note zeta", "a vector of zeros"),
        ("note eta-5", "a vector of 5 numbers where 8 were expected"),
        ("note theta", "something that isn't JSON: <!doctype html>"),
    ],
)
def test_what_is_no_vector_is_refused_with_what_the_service_did(
    serve: Start, open_embedder: Open, text: str, said: str
) -> None:
    service = serve(ollama(faulty))
    embedder = open_embedder(service.url)
    embedder.embed(["note alpha"])
    with pytest.raises(BackendRefused, match=said) as caught:
        embedder.embed([text])
    assert caught.value.message.startswith(f"the embedding service at {service.url} ")
    with pytest.raises(BackendRefused):
        embedder.embed(["note beta", text, "note omega"])
    np.testing.assert_allclose(embedder.embed(["note omega"]), [unit("note omega")], atol=1e-6)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "no vectors"),
        ({"embeddings": "text"}, "no vectors"),
        ({"embeddings": [[1.0], [2.0]]}, "2 vectors where 1"),
        ({"embeddings": [None]}, "a JSON NoneType in place of a vector"),
        ({"embeddings": [[]]}, "an empty list in place of a vector"),
        ({"embeddings": [["0.5", True]]}, "holds booleans and texts, not numbers"),
    ],
)
def test_other_answers_than_vectors_are_refused(
    serve: Start, open_embedder: Open, answer: Any, said: str
) -> None:
    with pytest.raises(BackendRefused, match=said):
        open_embedder(serve(script(Reply(answer))).url).embed(["text"])


def test_a_failing_service_is_asked_three_times_and_then_named(
    serve: Start, open_embedder: Open
) -> None:
    service = serve(script(Reply({"error": "loading the model"}, status=503)))
    with pytest.raises(BackendUnavailable, match="HTTP 503: loading the model"):
        open_embedder(service.url).embed(["text"])
    assert len(service.requests) == 3


def test_an_unknown_model_is_said_at_once(serve: Start, open_embedder: Open) -> None:
    missing = Reply({"error": 'model "nope" not found, try pulling it first'}, status=404)
    service = serve(script(missing))
    with pytest.raises(BackendRefused, match='model "nope" not found, try pulling it first'):
        open_embedder(service.url, EMBEDDER_MODEL="nope").embed(["text"])
    assert len(service.requests) == 1


def test_a_service_that_never_answers_is_waited_for_a_bounded_time_then_tried_again(
    serve: Start, open_embedder: Open
) -> None:
    silent = serve(script(NEVER))
    embedder = open_embedder(silent.url, EMBEDDER_TIMEOUT="0.3")
    with pytest.raises(BackendUnavailable, match=r"didn't answer within 0\.3 s"):
        embedder.embed(["text"])
    assert embedder.identity.dimension is None
    silent.close()
    serve(ollama(), silent.port)  # the real one comes up where the silent one was
    assert embedder.embed(["text"]).shape == (1, 8)


def test_the_token_is_sent_and_shown_nowhere(
    serve: Start, open_embedder: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service = serve(script(Reply({"error": "bad token sk-secret-token"}, status=401)))
    embedder = open_embedder(service.url, EMBEDDER_API_TOKEN="sk-secret-token")
    with pytest.raises(BackendRefused, match=r"bad token \*\*\*; check the API token") as caught:
        embedder.embed(["text"])
    assert service.requests[0].headers["Authorization"] == "Bearer sk-secret-token"
    settings = load(plugin.OllamaSettings)
    shown = (caught.value.message, caplog.text, repr(embedder), repr(settings), str(settings))
    assert not [text for text in shown if "sk-secret" in text]


def window(size: int) -> Replies:
    """A service whose model takes texts of at most ``size`` characters."""
    whole = ollama()

    def replies(request: Request) -> Reply:
        if any(len(text) > size for text in request.json["input"]):
            return Reply({"error": "the input length exceeds the context length"}, status=400)
        return whole(request)

    return replies


def test_a_text_over_the_models_window_is_refused_with_the_reason(
    serve: Start, open_embedder: Open
) -> None:
    service = serve(window(300))
    with pytest.raises(BackendRefused, match="400: the input length exceeds the context length"):
        open_embedder(service.url).embed(["short", "0123456789abcdef" * 100])
    assert len(service.requests) == 1


def test_a_query_over_the_window_is_cut_until_it_fits_and_the_log_says_so(
    serve: Start, open_embedder: Open, caplog: pytest.LogCaptureFixture
) -> None:
    service = serve(window(300))
    query = "".join(chr(0x4E00 + n) for n in range(1000))
    row = open_embedder(service.url).embed_query(query)
    np.testing.assert_allclose(row, unit(query[:250]), atol=1e-6)
    assert [len(request.json["input"][0]) for request in service.requests] == [1000, 500, 250]
    assert len(caplog.messages) == 2
    assert "exceeds the context length; embedding only the first half" in caplog.text


def test_a_query_that_is_refused_for_something_else_is_not_cut_for_ever(
    serve: Start, open_embedder: Open
) -> None:
    service = serve(script(Reply({"error": "unhappy"}, status=400)))
    with pytest.raises(BackendRefused, match="unhappy"):
        open_embedder(service.url).embed_query("x" * 1000)
    assert [len(request.json["input"][0]) for request in service.requests] == [1000, 500, 250, 125]
    with pytest.raises(BackendRefused):
        open_embedder(serve(script(Reply(status=404))).url).embed_query("x" * 1000)


def test_prefixes_that_the_model_wants_are_written_before_texts_and_queries(
    serve: Start, open_embedder: Open
) -> None:
    service = serve(ollama())
    embedder = open_embedder(service.url, EMBEDDER_MODEL="nomic-embed-text:v1.5")
    assert isinstance(embedder, QueryEmbedder)
    embedder.embed(["a fact"])
    embedder.embed_query("a question")
    assert [request.json["input"] for request in service.requests] == [
        ["search_document: a fact"],
        ["search_query: a question"],
    ]
    assert embedder.identity.model == "nomic-embed-text:v1.5"


def test_configured_prefixes_replace_the_usual_ones_and_another_documents_one_is_another_identity(
    serve: Start, open_embedder: Open
) -> None:
    service = serve(ollama())
    embedder = open_embedder(
        service.url,
        EMBEDDER_MODEL="nomic-embed-text",
        EMBEDDER_QUERY_PREFIX="none",
        EMBEDDER_DOCUMENT_PREFIX="note: ",
    )
    embedder.embed(["a fact"])
    embedder.embed_query("a question")
    assert [r.json["input"] for r in service.requests] == [["note: a fact"], ["a question"]]
    assert embedder.identity.model == "nomic-embed-text with document prefix 'note: '"


def test_threads_share_an_embedder(serve: Start, open_embedder: Open) -> None:
    embedder = open_embedder(serve(ollama()).url)
    rows: dict[int, Any] = {}

    def work(n: int) -> None:
        rows[n] = embedder.embed([f"note {n}", f"other {n}"])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    for n in range(6):
        np.testing.assert_allclose(rows[n], [unit(f"note {n}"), unit(f"other {n}")], atol=1e-6)
