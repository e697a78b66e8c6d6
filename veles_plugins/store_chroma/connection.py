"""The way to Chroma: one client, a table for each purpose, locks between writers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import chromadb
import httpx
from chromadb.config import Settings
from filelock import FileLock

from veles_core.errors import BackendRefused, ConfigurationError
from veles_core.hookspecs import Host
from veles_core.settings import mask_url
from veles_plugins.store_chroma.generation import Generation
from veles_plugins.store_chroma.table import Table, typed_failures

if TYPE_CHECKING:
    from veles_plugins.store_chroma import ChromaSettings

CONNECT_SECONDS: Final = 10.0
REQUEST_SECONDS: Final = 30.0  # Chroma's own client waits for ever
PURPOSES: Final = ("facts", "hubs", "edges", "documents")
# "ip" keeps vectors as they are given, where "cosine" would store them normalised again.
_INDEX: Final = {"space": "ip", "ef_construction": 200, "max_neighbors": 32, "ef_search": 400}


class Connection:
    """Opened lazily; each use tries again. Collections are named ``veles_<epoch>_<purpose>``."""

    def __init__(self, settings: "ChromaSettings", host: Host) -> None:
        self._settings = settings
        self._epoch = host.epoch
        self._folder = host.data_dir / "chroma"
        self._folder.mkdir(exist_ok=True)
        self._client: Any = None
        self._tables: dict[str, Table] = {}
        self._opening = threading.Lock()
        self._writers = threading.RLock()
        self._depth = 0  # of ``writing`` in the thread that holds the writers' lock
        self._writers_file = self.lock("writers")
        self._generation = Generation(self._folder / f"{self._epoch}.generation")

    def table(self, purpose: str) -> Table:
        """The collection for facts, hubs, edges or documents."""
        with self._opening:
            if purpose not in self._tables:
                with typed_failures(self._where(), while_connecting=True):
                    if self._client is None:
                        self._client = self._connect()
                    collection = self._client.get_or_create_collection(
                        self._name(purpose),
                        embedding_function=None,
                        configuration={"hnsw": _INDEX},
                    )
                self._tables[purpose] = Table(collection, self._where())
            return self._tables[purpose]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep out the other writers of this process and of this machine. Re-entrant."""
        with self._writers, self._writers_file:
            outermost = self._depth == 0
            self._depth += 1
            try:
                with self._generation.passing() if outermost else nullcontext():
                    yield
            finally:
                self._depth -= 1

    def lock(self, name: str) -> FileLock:
        """A lock between processes, which ends with its holder."""
        return FileLock(self._folder / f"{self._epoch}.{name}.lock", thread_local=False)

    def follow_others(self) -> None:
        """Make the vector index of an embedded Chroma see what other processes wrote.

        It reads the log only when its own process writes, so a write of nothing is made
        if another process has written since. A server has one index for all.
        """
        if self._settings.url is None and (generation := self._generation.news()):
            self.table("facts").update(["nothing"], [{"nothing": 0}])
            self._generation.followed = generation

    def drop(self) -> None:
        """Remove the epoch's collections, and close."""
        with self.writing():
            for purpose in PURPOSES:
                self.table(purpose)  # one that was never made is made, so that it can be removed
                with typed_failures(self._where()):
                    self._client.delete_collection(self._name(purpose))
        self.close()

    def close(self) -> None:
        """Release the client; idempotent."""
        with self._opening:
            self._tables.clear()
            if self._client is not None:
                self._client.close()
                for session in _sessions(self._client):
                    session.close()
                self._client = None

    def _connect(self) -> Any:
        settings = Settings(anonymized_telemetry=False)
        place = {"tenant": self._settings.tenant, "database": self._settings.database}
        if self._settings.url is None:
            return chromadb.PersistentClient(str(self._folder), settings=settings, **place)
        url = urlsplit(self._settings.url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ConfigurationError(
                f"VELESDB_MEMORY_CHROMA_URL {mask_url(self._settings.url)!r} is no http:// or "
                "https:// URL; write it as http://host:8000"
            )
        self._probe()
        client = chromadb.HttpClient(
            host=url.hostname,
            port=url.port or (443 if url.scheme == "https" else 80),
            ssl=url.scheme == "https",
            headers=self._headers(),
            settings=settings,
            **place,
        )
        for session in _sessions(client):
            session.timeout = httpx.Timeout(REQUEST_SECONDS)
        return client

    def _probe(self) -> None:
        """Ask the server for the tenant, less patiently than Chroma's client would."""
        path = f"/api/v2/tenants/{self._settings.tenant}"
        answer = httpx.get(
            str(self._settings.url).rstrip("/") + path,
            headers=self._headers(),
            timeout=CONNECT_SECONDS,
        )
        if answer.status_code in (401, 403, 404):
            raise BackendRefused(
                f"{self._where()} answered {answer.status_code} when asked for the tenant "
                f"{self._settings.tenant!r}; check VELESDB_MEMORY_CHROMA_TOKEN, _TENANT and _URL"
            )
        answer.raise_for_status()

    def _headers(self) -> dict[str, str] | None:
        if self._settings.token is None:
            return None
        token = self._settings.token.get_secret_value()
        # Chroma's cloud reads the first, gateways in front of a server the second.
        return {"X-Chroma-Token": token, "Authorization": f"Bearer {token}"}

    def _name(self, purpose: str) -> str:
        return f"veles_{self._epoch}_{purpose}"

    def _where(self) -> str:
        url = self._settings.url
        return f"Chroma at {mask_url(url)}" if url else f"the Chroma in {self._folder}"


def _sessions(client: Any) -> list[httpx.Client]:
    """The HTTP sessions of a client, which it neither limits nor closes itself."""
    apis = [client._server, client._admin_client._server]
    return [api._session for api in apis if hasattr(api, "_session")]
