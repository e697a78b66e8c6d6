"""A whole store in PostgreSQL with pgvector: many servers on many machines over one database."""

from collections.abc import Iterable

from pydantic import SecretStr

from veles_core import Backend, BackendSettings, Host, hookimpl, variable
from veles_core.protocols import Store


class PostgresSettings(BackendSettings):
    """Where the database is. The URL may carry a password, so it is a secret as a whole."""

    url: SecretStr = variable(
        "POSTGRES_URL", description="postgresql:// URL of a database with pgvector"
    )


@hookimpl
def veles_stores() -> Iterable[Backend[Store]]:
    """The PostgreSQL store."""
    return [
        Backend(
            "postgres",
            "PostgreSQL with pgvector; many servers share one memory",
            open_postgres,
            PostgresSettings,
            install="pip install 'veles-memory[postgres]'",
        )
    ]


def open_postgres(settings: PostgresSettings, host: Host) -> Store:
    """Open the store; the database is contacted at the first use, not here."""
    from veles_plugins.store_postgres.store import PostgresStore

    return PostgresStore(settings.url.get_secret_value(), host)
