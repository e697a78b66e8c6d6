"""A whole store in Chroma: embedded in the memory's directory, or on a Chroma server."""

from collections.abc import Iterable

from pydantic import SecretStr

from veles_core import Backend, BackendSettings, Host, hookimpl, variable
from veles_core.protocols import Store


class ChromaSettings(BackendSettings):
    """Where Chroma is; without a URL it is embedded."""

    url: str | None = variable(
        "CHROMA_URL", default=None, description="URL of a Chroma server; without one, embedded"
    )
    token: SecretStr | None = variable(
        "CHROMA_TOKEN", default=None, description="Token for the Chroma server"
    )
    tenant: str = variable("CHROMA_TENANT", default="default_tenant", description="Chroma tenant")
    database: str = variable(
        "CHROMA_DATABASE", default="default_database", description="Chroma database"
    )


@hookimpl
def veles_stores() -> Iterable[Backend[Store]]:
    """The Chroma store."""
    return [
        Backend(
            "chroma",
            "Chroma, embedded or a server; no transactions",
            open_chroma,
            ChromaSettings,
            install="pip install 'veles-memory[chroma]'",
        )
    ]


def open_chroma(settings: ChromaSettings, host: Host) -> Store:
    """Open the store; a server is contacted at the first use, not here."""
    from veles_plugins.store_chroma.connection import Connection
    from veles_plugins.store_chroma.store import ChromaStore

    return ChromaStore(Connection(settings, host), host)
