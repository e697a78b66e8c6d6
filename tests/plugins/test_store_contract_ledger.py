"""The default store keeps every promise, with the exact index that it starts with."""

from collections.abc import Sequence
from functools import partial
from types import ModuleType

import pytest

from veles_core.builtin.exact_index import ExactIndex
from veles_core.hookspecs import Host
from veles_core.protocols import Store
from veles_core.store import LedgerStore
from veles_core.testing import (
    PluginContract,
    StoreContract,
    VectorIndexContract,
    WordSearchContract,
)
from veles_core.testing.index import IndexOpener
from veles_core.testing.peer import StoreOpener
from veles_plugins import store_hnsw


def open_exact(host: Host) -> Store:
    return LedgerStore(host, ExactIndex)


class TestExactLedgerStore(StoreContract, WordSearchContract):
    @pytest.fixture
    def open_store(self) -> StoreOpener:
        (backend,) = store_hnsw.veles_stores()
        return partial(backend.open, None)


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
