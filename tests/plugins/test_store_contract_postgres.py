"""The PostgreSQL store keeps every promise, against a real server."""

import secrets
from collections.abc import Sequence
from functools import partial
from types import ModuleType

import pytest
from pydantic import SecretStr

from veles_core.testing import PluginContract, StoreContract, WordSearchContract
from veles_core.testing.peer import StoreOpener
from veles_plugins import store_postgres
from veles_plugins.store_postgres import PostgresSettings, open_postgres


class TestPostgresStore(StoreContract, WordSearchContract):
    @pytest.fixture
    def open_store(self, postgres_url: str) -> StoreOpener:
        settings = PostgresSettings.model_construct(url=SecretStr(postgres_url))
        return partial(open_postgres, settings)

    @pytest.fixture
    def epoch(self) -> str:
        return secrets.token_hex(6)


class TestPostgresPlugin(PluginContract):
    @pytest.fixture
    def plugin(self) -> ModuleType:
        return store_postgres

    @pytest.fixture
    def heavy(self) -> Sequence[str]:
        return ["psycopg", "psycopg_pool", "pgvector", "numpy"]
