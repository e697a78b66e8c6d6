"""A ledger of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from veles_core.ledger import schema
from veles_core.ledger.connect import Database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "ledger.db")
    schema.migrate(database)
    yield database
    database.close()
