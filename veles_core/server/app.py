"""Assembly: from settings to a running service. The only place where backends are chosen."""

from pathlib import Path

from veles_core.errors import ConfigurationError
from veles_core.hookspecs import Host
from veles_core.memory.extractors import Extractors
from veles_core.memory.service import MemoryService
from veles_core.migration.epochs import FIRST, Epochs
from veles_core.migration.offline import OfflineEpochs, RecordedEmbedder
from veles_core.plugins import Registry, discover
from veles_core.protocols import Embedder, Store
from veles_core.records import EmbeddingIdentity
from veles_core.settings import Settings, load, selected_plugins


def open_memory(
    settings: Settings | None = None, registry: Registry | None = None
) -> MemoryService:
    """The memory service as the environment and the configuration file describe it.

    Contacts no remote backend. Raises ConfigurationError, EmbeddingMismatch or StoreError
    with one sentence that says what to do.
    """
    settings = settings or load(Settings)
    registry = registry or discover(selected_plugins())
    host = Host(prepared_directory(settings.path))

    def store_of(epoch: str, identity: EmbeddingIdentity | None) -> Store:
        return open_store(settings, registry, identity, epoch)

    def embedder_of(backend: str) -> Embedder:
        embedder: Embedder = registry.open("embedder", backend, host, target=True)
        return embedder

    embedder: Embedder = registry.open("embedder", settings.embedder, host)
    try:
        epochs = Epochs(store_of, embedder_of, embedder, settings.embedder)
    except BaseException:
        embedder.close()
        raise
    live = epochs.live()
    try:
        return MemoryService(
            live.store,
            live.embedder,
            ranking=settings.ranking,
            default_ttl=settings.default_ttl,
            extractors=Extractors(
                lambda name: registry.open("extractor", name, host),
                registry.names("extractor"),
                settings.extractor,
            ),
            autograph=settings.autograph,
            tokenizer=registry.open("tokenizer", settings.tokenizer, host),
            ingest_roots=settings.ingest_roots,
            epochs=epochs,
        )
    except BaseException:
        epochs.close()
        raise


def open_store(
    settings: Settings,
    registry: Registry,
    identity: EmbeddingIdentity | None = None,
    epoch: str = FIRST,
) -> Store:
    """One epoch of the configured store alone: readable whatever embedder is configured."""
    host = Host(prepared_directory(settings.path), epoch=epoch, identity=identity)
    store: Store = registry.open("store", settings.store, host)
    return store


def open_chain(
    settings: Settings, registry: Registry, target: Embedder | None = None
) -> OfflineEpochs:
    """The memory to read or to migrate, whatever model filled it and whichever is configured.

    ``target`` is the embedder that a migration leads to.
    """
    first = open_store(settings, registry)
    filled = first.provenance() or EmbeddingIdentity("none yet", None)
    first.close()
    recorded = RecordedEmbedder(filled)
    return OfflineEpochs(
        lambda epoch, identity: open_store(settings, registry, identity, epoch),
        lambda _backend: target or recorded,
        recorded,
        "",
    )


def prepared_directory(path: Path) -> Path:
    """The memory's directory, created if need be, readable by its owner only."""
    path = path.expanduser()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"the memory's directory {path} can't be created ({error.strerror}); "
            "point VELESDB_MEMORY_PATH to a directory you can write to"
        ) from None
    return path
