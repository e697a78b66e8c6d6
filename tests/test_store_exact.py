"""The embedded store with the exact index keeps every promise of the store protocols."""

import pytest

from veles_core.builtin.exact_index import ExactIndex
from veles_core.hookspecs import Host
from veles_core.protocols import Store
from veles_core.store import LedgerStore
from veles_core.testing.peer import StoreOpener
from veles_core.testing.store import StoreContract, WordSearchContract


def open_exact(host: Host) -> Store:
    return LedgerStore(host, ExactIndex)


class TestExactStore(StoreContract, WordSearchContract):
    @pytest.fixture
    def open_store(self) -> StoreOpener:
        return open_exact
