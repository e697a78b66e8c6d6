"""The default store keeps every promise, with exact search and with its graph."""

from collections.abc import Sequence
from functools import partial
from types import ModuleType

import pytest

from veles_core.builtin.exact_index import ExactIndex
from veles_core.testing import (
    PluginContract,
    StoreContract,
    VectorIndexContract,
    WordSearchContract,
)
from veles_core.testing.index import IndexOpener
from veles_core.testing.peer import StoreOpener
from veles_plugins import store_hnsw


class TestExactLedgerStore(StoreContract, WordSearchContract):
    @pytest.fixture
    def open_store(self) -> StoreOpener:
        (backend,) = store_hnsw.veles_stores()
        return partial(backend.open, None)


class TestGraphLedgerStore(StoreContract):
    """The same store with its graph in use from the 51st vector on."""

    @pytest.fixture
    def open_store(self) -> StoreOpener:
        (backend,) = store_hnsw.veles_stores()
        settings = store_hnsw.HnswSettings(VELESDB_MEMORY_HNSW_THRESHOLD=50)
        return partial(backend.open, settings)


class TestExactIndex(VectorIndexContract):
    @pytest.fixture
    def open_index(self) -> IndexOpener:
        return lambda directory: ExactIndex(directory / "vectors")


class TestHnswPlugin(PluginContract):
    @pytest.fixture
    def plugin(self) -> ModuleType:
        return store_hnsw

    @pytest.fixture
    def heavy(self) -> Sequence[str]:
        return ["hnswlib", "apsw", "numpy"]
