"""Serving one client over the process's standard streams."""

import gc
import logging
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, NoReturn

import anyio

from veles_core.errors import VelesError
from veles_core.server.lines import line_transport
from veles_core.server.pipes import Pipes
from veles_core.server.protocol import memory_server

if TYPE_CHECKING:
    from veles_core.memory.service import MemoryService

GRACE_SECONDS: Final = 0.5  # for calls under way when the client closes its end
EXIT_SECONDS: Final = 1.5  # for everything then, closing the store included; clients wait 2 s

_log = logging.getLogger(__name__)


def serve(open_service: "Callable[[], MemoryService]", pipes: Pipes) -> NoReturn:
    """Serve until the client closes its end, then end the process with status 0.

    The service is opened in a thread while the handshake is answered. If it can't be, the
    process says why on standard error and ends with status 1. The end is a hard one,
    since a thread may wait for a remote backend for longer than the client does.
    """
    opened: Future[MemoryService] = Future()
    threading.Thread(target=_open, args=(open_service, opened), daemon=True).start()
    status = 0
    try:
        anyio.run(_converse, opened, pipes)
    except Exception:
        _log.exception("the server failed")
        status = 1
    _exit_soon(status)
    if opened.done():
        _close(opened.result())
    _exit(status)


async def _converse(opened: "Future[MemoryService]", pipes: Pipes) -> None:
    server = memory_server(opened.result)
    async with line_transport(pipes, GRACE_SECONDS, _exit_soon) as (inbox, outbox):
        await server.run(inbox, outbox, server.create_initialization_options())


def _open(open_service: "Callable[[], MemoryService]", opened: "Future[MemoryService]") -> None:
    try:
        service = open_service()
        # The imports' objects stay, so no full collection has to walk them, 0.14 s each time.
        gc.freeze()
        opened.set_result(service)
    except VelesError as error:
        print(f"veles-memory: {error.message}", file=sys.stderr)
        _exit(1)
    except BaseException:
        _log.exception("the memory can't be opened")
        _exit(1)


def _close(service: "MemoryService") -> None:
    try:
        service.close()
    except Exception:  # what was answered is durable; the client has left in peace
        _log.exception("the memory didn't close cleanly")


def _exit_soon(status: int = 0) -> None:
    """End the process at the deadline, whatever still holds it then."""
    timer = threading.Timer(EXIT_SECONDS, _exit, (status,))
    timer.daemon = True
    timer.start()


def _exit(status: int) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
