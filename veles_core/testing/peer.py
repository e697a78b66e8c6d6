"""A store opened in a process of its own, driven call by call, and killed when told to."""

import multiprocessing
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, Final

from veles_core.clock import Clock
from veles_core.hookspecs import Host
from veles_core.protocols import Store
from veles_core.records import Document, FactRecord
from veles_core.testing.clock import SettableClock

StoreOpener = Callable[[Host], Store]

# Both start from a clean process, never from the test's; the first is quicker, and its
# ``set_forkserver_preload`` may name heavy libraries.
METHOD: Final = "forkserver" if sys.platform == "linux" else "spawn"
ANSWER_SECONDS: Final = 60.0  # a peer that is silent for longer hangs


class Peer:
    """Another process with the same store open. Its clock stands where the host's stood."""

    def __init__(self, open_store: StoreOpener, host: Host) -> None:
        context: Any = multiprocessing.get_context(METHOD)
        self._connection, theirs = context.Pipe()
        # A settable clock can't cross to another process; its reading can.
        arguments = (theirs, open_store, replace(host, clock=Clock()), host.clock.now())
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        self.wait()

    def call(self, method: str, *arguments: object) -> Any:
        """The result of a method of the store over there, or the exception it raised."""
        self.start(method, *arguments)
        return self.wait()

    def start(self, method: str, *arguments: object) -> None:
        """Begin a call; ``wait`` gives its result."""
        self._connection.send((method, arguments))

    def enter(self, method: str, *arguments: object) -> bool:
        """Enter the context that a method returns; False if it returned None."""
        return bool(self.call("enter", method, *arguments))

    def wait(self) -> Any:
        """What the peer says next."""
        assert self._connection.poll(ANSWER_SECONDS), "the other process does not answer"
        ok, value = self._connection.recv()
        if not ok:
            raise value
        return value

    @property
    def exitcode(self) -> int | None:
        """How the process ended; None while it runs."""
        code: int | None = self._process.exitcode
        return code

    def kill(self) -> None:
        """End the process as a power cut would: SIGKILL, nothing is cleaned up."""
        self._process.kill()
        self._process.join()

    def close(self) -> None:
        """Close the store over there and end the process."""
        if self._process.is_alive():
            self._connection.send(None)
        self._process.join(ANSWER_SECONDS)
        self._connection.close()


def _serve(connection: Connection, open_store: StoreOpener, host: Host, now: float) -> None:
    """The other process: open the store, then answer calls until told to end."""
    store = open_store(replace(host, clock=SettableClock(now)))
    contexts = ExitStack()
    commands: dict[str, Callable[..., object]] = {
        "enter": lambda method, *rest: _enter(contexts, getattr(store, method)(*rest)),
        "leave": contexts.close,
        "pour": lambda batches: _pour(connection, store, batches),
        "count_up": lambda key, times: count_up(store, key, times),
    }
    connection.send((True, None))
    while (message := connection.recv()) is not None:
        method, arguments = message
        try:
            command = commands.get(method) or getattr(store, method)
            answer: tuple[bool, object] = (True, command(*arguments))
        except Exception as error:  # the other side decides what an exception means
            answer = (False, error)
        connection.send(answer)
    contexts.close()
    store.close()


def _enter(contexts: ExitStack, context: AbstractContextManager[None] | None) -> bool:
    if context is None:
        return False
    contexts.enter_context(context)
    return True


def _pour(connection: Connection, store: Store, batches: Sequence[Sequence[FactRecord]]) -> int:
    """Write batch after batch, each in a transaction, and say so after each."""
    for number, batch in enumerate(batches):
        with store.transaction():
            for record in batch:
                store.put_facts([record])
        connection.send((True, number))
    return len(batches)


def count_up(store: Store, key: str, times: int) -> None:
    """Read, add one, write back, each time in a transaction of its own."""
    for _ in range(times):
        with store.transaction():
            found = store.get_documents("counter", [key])
            value = int(found[key].value) if found else 0
            store.put_documents("counter", [Document(key, str(value + 1).encode())])
