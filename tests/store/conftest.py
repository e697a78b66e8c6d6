"""A store on a clock that only tests move."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storing import Open
from veles_core.builtin.exact_index import ExactIndex
from veles_core.hookspecs import Host
from veles_core.store import LedgerStore
from veles_core.testing.clock import SettableClock


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def open_store(tmp_path: Path, clock: SettableClock) -> Iterator[Open]:
    """Opens one more store on the same ledger; all are closed at the end."""
    opened: list[LedgerStore] = []

    def open_one_more() -> LedgerStore:
        opened.append(LedgerStore(Host(tmp_path, clock), ExactIndex))
        return opened[-1]

    yield open_one_more
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Open) -> LedgerStore:
    return open_store()
