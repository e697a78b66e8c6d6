"""The OpenAI-protocol embedder against services that speak it well, nearly, or hardly."""

import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import veles_plugins.embed_openai as plugin
from veles_core.clock import Clock
from veles_core.errors import BackendRefused, ConfigurationError
from veles_core.hookspecs import Host
from veles_core.protocols import Embedder
from veles_core.settings import load
from veles_core.testing import PluginContract, RemoteEmbedderContract
from veles_core.testing.http import Replies, Reply, Service, openai, script, vector_of

Start = Callable[..., Service]
Open = Callable[..., Any]
TEXTS = ["Alpha valve opens at six", "Beta pump stops at nine", "Gamma sensor reads zero"]


@pytest.fixture
def serve() -> Iterator[Start]:
    services: list[Service] = []

    def start(replies: Replies) -> Service:
        services.append(Service(replies))
        return services[-1]

    yield start
    for service in services:
        service.close()


@pytest.fixture
def open_embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    opened: list[Embedder] = []
    [backend] = plugin.veles_embedders()

    def start(url: str, **variables: str) -> Embedder:
        named = {"EMBEDDER_URL": url, "EMBEDDER_MODEL": "emb-a"} | variables
        for name, value in named.items():
            monkeypatch.setenv(f"VELESDB_MEMORY_{name}", value)
        opened.append(backend.open(load(plugin.OpenAISettings), Host(tmp_path, Clock())))
        return opened[-1]

    yield start
    for embedder in opened:
        embedder.close()


def items(*indices: Any) -> Reply:
    return Reply(
        {"data": [{"index": i, "embedding": [1.0, float(n)]} for n, i in enumerate(indices)]}
    )


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
        return open_embedder(serve(openai(order="last")).url)

    @pytest.fixture
    def unreachable(self, open_embedder: Open) -> Embedder:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        return open_embedder(f"http://127.0.0.1:{port}")


def test_url_and_model_have_no_default() -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(plugin.OpenAISettings)
    assert "VELESDB_MEMORY_EMBEDDER_URL" in caught.value.message
    assert "VELESDB_MEMORY_EMBEDDER_MODEL" in caught.value.message


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
@pytest.mark.parametrize("order", ["first", "last"])
def test_one_path_whatever_the_urls_ending_and_vectors_by_index_whatever_their_order(
    serve: Start, open_embedder: Open, ending: str, order: Any
) -> None:
    service = serve(openai(order=order))
    rows = open_embedder(service.url + ending).embed(TEXTS)
    expected = np.array([vector_of(text) for text in TEXTS])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    assert [request.path for request in service.requests] == ["/v1/embeddings"]
    assert service.requests[0].json == {"model": "emb-a", "input": TEXTS}


def test_items_without_an_index_are_taken_as_they_come(serve: Start, open_embedder: Open) -> None:
    answer = {"data": [{"embedding": [3.0, 0.0]}, {"embedding": [0.0, 5.0]}]}
    rows = open_embedder(serve(script(Reply(answer))).url).embed(["one", "two"])
    assert rows.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    "indices", [(0, 0), (1, 2), (0, 5), (0, None), ("0", "1"), (True, False), (-1, 0), (0.0, 1.0)]
)
def test_indices_that_do_not_tell_the_items_apart_are_refused(
    serve: Start, open_embedder: Open, indices: Any
) -> None:
    service = serve(script(items(*indices)))
    with pytest.raises(BackendRefused, match="2 embeddings whose indices don't tell them apart"):
        open_embedder(service.url).embed(["one", "two"])


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply({"object": "list"}), "no list of embeddings under 'data'"),
        (Reply({"data": {"0": []}}), "no list of embeddings under 'data'"),
        (Reply({"data": [[1.0, 2.0], [1.0, 2.0]]}), "no list of embeddings under 'data'"),
        (items(0), "1 vectors where 2 were asked for"),
        (items(0, 1, 2), "3 vectors where 2 were asked for"),
        (Reply({"data": [{"index": 0}, {"index": 1}]}), "NoneType in place of a vector"),
        (Reply({"data": [{"embedding": "AAAA"}] * 2}), "str in place of a vector"),
        (Reply({"error": {"message": "quota used up"}}, status=402), "HTTP 402: quota used up"),
        (Reply({"error": {"message": "bad key"}}, status=401), "bad key; check the API token"),
    ],
)
def test_what_only_hardly_speaks_the_protocol_is_refused(
    serve: Start, open_embedder: Open, reply: Reply, said: str
) -> None:
    service = serve(script(reply))
    with pytest.raises(BackendRefused, match=said):
        open_embedder(service.url).embed(["one", "two"])
    assert len(service.requests) == 1


def test_a_token_and_the_models_prefixes_are_used(serve: Start, open_embedder: Open) -> None:
    service = serve(openai())
    embedder = open_embedder(
        service.url, EMBEDDER_MODEL="intfloat/multilingual-e5-small", EMBEDDER_API_TOKEN="sk-1"
    )
    embedder.embed(["a fact"])
    embedder.embed_query("a question")
    assert [r.json["input"] for r in service.requests] == [
        ["passage: a fact"],
        ["query: a question"],
    ]
    assert {r.headers["Authorization"] for r in service.requests} == {"Bearer sk-1"}


def test_one_model_is_one_identity_whatever_its_transport(open_embedder: Open) -> None:
    from veles_plugins.embed_ollama import OllamaSettings
    from veles_plugins.embed_ollama.embedder import ollama_embedder

    embedder = open_embedder("http://127.0.0.1:1", EMBEDDER_MODEL="all-minilm")
    other = ollama_embedder(load(OllamaSettings))
    assert embedder.identity == other.identity
    other.close()
