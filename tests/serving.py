"""A real service behind a real client, in memory and as a process over stdio."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import mcp_types as mcp
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from jsonschema import Draft202012Validator
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from veles_core.memory.service import MemoryService
from veles_core.server.app import open_memory
from veles_core.server.protocol import memory_server
from veles_core.server.tools import TOOLS, Tool

ROOT = Path(__file__).parents[1]
SECONDS = 30.0  # an answer that takes longer is a hang

ERAS = ["legacy", "auto"]  # the handshake, and 2026-07-28


class Caller:
    """A connected client, driven synchronously."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client
        self._answers = {
            tool.name: Draft202012Validator(tool.output_schema) for tool in self.tools()
        }

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a successful call, whose text is the same JSON.

        Whatever the test is about, the answer must fulfil the schema that is advertised.
        """
        result = self._portal.call(self._client.call_tool, tool, arguments)
        assert not result.is_error
        (text,) = result.content
        assert isinstance(text, mcp.TextContent)
        assert json.loads(text.text) == result.structured_content
        assert result.structured_content is not None
        self._answers[tool].validate(result.structured_content)
        return result.structured_content

    def outcome(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | mcp.ErrorData:
        """The structured content of a call, or the JSON-RPC error it ended in."""
        try:
            return self.call(tool, **arguments)
        except MCPError as error:
            return error.error

    def refused(self, tool: str, **arguments: Any) -> mcp.ErrorData:
        """The JSON-RPC error of a call that must fail."""
        error = self.outcome(tool, arguments)
        assert isinstance(error, mcp.ErrorData), f"{tool} answered {error}"
        return error

    def contents(self) -> list[dict[str, Any]]:
        """All that shows whether a call has stored something."""
        return [
            self.call("memory_status"),
            self.call("list_memories", limit=1000, include_internal=True),
            self.call("context_savings"),
        ]

    def tools(self) -> list[mcp.Tool]:
        return self._portal.call(self._client.list_tools).tools

    @property
    def instructions(self) -> str | None:
        return self._client.instructions


def check_refusal(
    client: Caller,
    tool: str,
    arguments: dict[str, Any],
    *words: str,
    field: str | None,
    category: str = "InvalidInput",
    **data: Any,
) -> None:
    """A call ends in -32602 that says these words and holds this data, and stores nothing."""
    before = client.contents()
    error = client.refused(tool, **arguments)
    assert error.code == mcp.INVALID_PARAMS, error.message
    for word in words:
        assert word in error.message
    expected = {"category": category, "field": field} | data
    assert expected.items() <= ({"field": None} | error.data).items()
    assert client.contents() == before


@contextmanager
def connected(
    service: Callable[[], MemoryService], mode: str = "legacy", tools: Sequence[Tool] = TOOLS
) -> Iterator[Caller]:
    server = memory_server(service, tools)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, mode=mode)) as client,
    ):
        yield Caller(portal, client)


@pytest.fixture
def service() -> Iterator[MemoryService]:
    with open_memory() as opened:
        yield opened


@pytest.fixture(params=ERAS)
def client(service: MemoryService, request: pytest.FixtureRequest) -> Iterator[Caller]:
    with connected(lambda: service, request.param) as caller:
        yield caller


@pytest.fixture
def connect() -> Callable[..., AbstractContextManager[Caller]]:
    """Connect to a server of any service and any tools."""
    return connected


class Process:
    """The server as a client starts it, spoken to line by line."""

    def __init__(self, directory: Path, **environment: str) -> None:
        self._log = directory / "stderr.txt"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "veles_core.cli", "serve"],
                cwd=ROOT,
                env=os.environ | environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._next_id = 0

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def send(self, line: bytes, end: bytes = b"\n") -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + end)
        self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next line of standard output, which must be one JSON-RPC message."""
        line = self._lines.get(timeout=SECONDS)
        assert line.endswith(b"\n")
        message: dict[str, Any] = json.loads(line.decode())
        assert message["jsonrpc"] == "2.0"
        return message

    def start(self, method: str, params: Any = None, end: bytes = b"\n") -> int:
        """Send a request; its id."""
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(json.dumps(message, ensure_ascii=False).encode(), end)
        return self._next_id

    def request(self, method: str, params: Any = None, end: bytes = b"\n") -> dict[str, Any]:
        """A request's response."""
        identity = self.start(method, params, end)
        message = self.receive()
        assert message["id"] == identity
        return message

    def handshake(self) -> dict[str, Any]:
        client = {"name": "test", "version": "0"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        result: dict[str, Any] = self.request("initialize", params)["result"]
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return result

    def call(self, tool: str, arguments: dict[str, Any], end: bytes = b"\n") -> dict[str, Any]:
        """The structured content of a successful call."""
        params = {"name": tool, "arguments": arguments}
        result: dict[str, Any] = self.request("tools/call", params, end)["result"]
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    def close_input(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    def wait(self, seconds: float = SECONDS) -> int:
        """The exit status."""
        return self._process.wait(seconds)

    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start server processes on the test's own memory; they end with the test."""
    started: list[Process] = []

    def start(**environment: str) -> Process:
        directory = tmp_path / f"process-{len(started)}"
        directory.mkdir()
        started.append(Process(directory, **environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()
