"""The Chroma store keeps the promises it can, embedded and on a real server."""

import secrets
from collections.abc import Sequence
from functools import partial
from types import ModuleType

import pytest

from veles_core.testing import PluginContract, StoreContract
from veles_core.testing.peer import StoreOpener
from veles_plugins import store_chroma
from veles_plugins.store_chroma import ChromaSettings, open_chroma


class ChromaContract(StoreContract):
    @pytest.fixture
    def atomic(self) -> bool:
        return False


class TestEmbeddedChromaStore(ChromaContract):
    @pytest.fixture
    def open_store(self) -> StoreOpener:
        return partial(open_chroma, ChromaSettings())


class TestChromaServerStore(ChromaContract):
    @pytest.fixture
    def open_store(self, chroma_url: str) -> StoreOpener:
        return partial(open_chroma, ChromaSettings(VELESDB_MEMORY_CHROMA_URL=chroma_url))

    @pytest.fixture
    def epoch(self) -> str:
        return secrets.token_hex(6)

    @pytest.fixture
    def huge(self) -> int:
        return 600


class TestChromaPlugin(PluginContract):
    @pytest.fixture
    def plugin(self) -> ModuleType:
        return store_chroma

    @pytest.fixture
    def heavy(self) -> Sequence[str]:
        return ["chromadb", "numpy"]
