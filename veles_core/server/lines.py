"""The line protocol of stdio: one JSON document a line, in UTF-8, whatever the locale.

The SDK's own transport drops a line that it can't parse and replaces bytes that aren't
UTF-8. Here such a line is answered, and nothing is stored that the client didn't send.
"""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import mcp_types as mcp
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from anyio.to_thread import run_sync
from mcp.shared.message import SessionMessage
from pydantic import TypeAdapter, ValidationError

from veles_core.server.pipes import Pipes

Inbox = MemoryObjectReceiveStream[SessionMessage | Exception]
Outbox = MemoryObjectSendStream[SessionMessage]

_ID: Final[TypeAdapter[mcp.RequestId]] = TypeAdapter(mcp.RequestId)


class Refused(Exception):
    """A line that holds no message, with the error to answer it by."""

    def __init__(self, code: int, message: str, request_id: mcp.RequestId | None = None) -> None:
        error = mcp.ErrorData(code=code, message=message)
        self.answer = mcp.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


def decode(line: bytes) -> mcp.JSONRPCMessage:
    """The message of a line. Raises Refused, with the request's id as far as it has one."""
    # Bytes that aren't UTF-8 are replaced only to find the id under which to refuse them.
    text = line.decode(errors="replace")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise Refused(mcp.PARSE_ERROR, "the line is not a JSON document") from None
    if not isinstance(document, dict):
        raise Refused(mcp.INVALID_REQUEST, "a message is one JSON object; batches are not served")
    request_id = None
    try:
        if "id" in document:
            request_id = _ID.validate_python(document["id"])
        if "\ufffd" in text and not _is_utf8(line):
            raise Refused(mcp.PARSE_ERROR, "the line is not valid UTF-8", request_id)
        if "method" in document and not isinstance(document.get("params"), (dict, type(None))):
            raise Refused(mcp.INVALID_PARAMS, "params must be an object", request_id)
        return mcp.jsonrpc_message_adapter.validate_python(document, by_name=False)
    except ValidationError:
        raise Refused(
            mcp.INVALID_REQUEST, "the message is not a JSON-RPC 2.0 request", request_id
        ) from None


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def encode(message: mcp.JSONRPCMessage) -> bytes:
    """The line of a message. A lone surrogate leaves as its JSON escape."""
    document: dict[str, Any] = message.model_dump(by_alias=True, exclude_unset=True)
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors="backslashreplace") + b"\n"


@asynccontextmanager
async def line_transport(
    pipes: Pipes, grace: float, ended: Callable[[], None]
) -> AsyncIterator[tuple[Inbox, Outbox]]:
    """The streams that the SDK serves, over a pair of pipes.

    ``ended`` is called when the client has closed its end; requests under way then get
    ``grace`` seconds to be answered. Reading and writing wait in threads, so that a
    client that is slow to do either blocks no call.
    """
    into, inbox = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outbox, outgoing = anyio.create_memory_object_stream[SessionMessage]()
    refusals = outbox.clone()
    under_way = _UnderWay()

    async def read() -> None:
        async with into, refusals:
            while line := await run_sync(pipes.input.readline, abandon_on_cancel=True):
                if line.isspace():
                    continue
                try:
                    message = decode(line)
                except Refused as refused:
                    await refusals.send(SessionMessage(refused.answer))
                    continue
                under_way.received(message)
                await into.send(SessionMessage(message))
            ended()
            with anyio.move_on_after(grace):
                await under_way.finished()

    async def write() -> None:
        try:
            async with outgoing:
                async for item in outgoing:
                    await run_sync(_send, encode(item.message), abandon_on_cancel=True)
                    under_way.answered(item.message)
        except OSError:  # the client has closed the other end
            ended()
            tasks.cancel_scope.cancel()

    def _send(line: bytes) -> None:
        pipes.output.write(line)
        pipes.output.flush()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        yield inbox, outbox


class _UnderWay:
    """The requests that have come in and not been answered."""

    def __init__(self) -> None:
        self._ids: set[mcp.RequestId] = set()
        self._none = anyio.Event()

    def received(self, message: mcp.JSONRPCMessage) -> None:
        if isinstance(message, mcp.JSONRPCRequest):
            self._ids.add(message.id)

    def answered(self, message: mcp.JSONRPCMessage) -> None:
        if isinstance(message, (mcp.JSONRPCResponse, mcp.JSONRPCError)) and message.id is not None:
            self._ids.discard(message.id)
            if not self._ids:
                self._none.set()

    async def finished(self) -> None:
        """Wait until all are answered. Called once, when nothing more can come in."""
        if self._ids:
            self._none = anyio.Event()
            await self._none.wait()
