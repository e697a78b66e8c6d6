"""The server as a process: what goes over its pipes, and how it ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

SAYING = "Ship 🚀 «مرحبا» שלום cafe\u0301 a\u2028b\u0085c\td\r\ne"
EXIT_LIMIT = 2.0
SECONDS = 30.0  # an end that takes longer is a hang
HANDSHAKE = b"""\
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",\
"capabilities":{},"clientInfo":{"name":"test","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"""

Bare = Callable[[], AbstractContextManager[Any]]

PLUGIN = """
import os, time
import numpy as np
from veles_core.hookspecs import Backend, hookimpl
from veles_core.records import EmbeddingIdentity

class Noisy:
    identity = EmbeddingIdentity("noisy", 8, False)
    def embed(self, texts):
        print("embedding 🚀")
        os.system("echo embedding in a child")
        if any("hang" in text for text in texts):
            time.sleep(60)
        rows = np.ones((len(texts), 8), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
    def close(self):
        print("closing")

def opened(settings, host):
    print("loading")
    return Noisy()

@hookimpl
def veles_embedders():
    return [Backend("noisy", "prints whatever it does", opened)]
"""


@pytest.fixture
def noisy(tmp_path: Path) -> dict[str, str]:
    """The environment that selects a third-party embedder which prints, and may hang."""
    site = tmp_path / "site"
    info = site / "noisy-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "noisy.py").write_text(PLUGIN, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: noisy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[veles]\nnoisy = noisy\n")
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "VELESDB_MEMORY_EMBEDDER": "noisy"}


@pytest.fixture
def bare() -> Bare:
    """Start a server and answer its handshake; what is read and written then is up to the test."""

    @contextmanager
    def start() -> Iterator[Any]:
        with subprocess.Popen(
            [sys.executable, "-m", "veles_core.cli", "serve"],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as server:
            try:
                assert server.stdin is not None
                assert server.stdout is not None
                server.stdin.write(HANDSHAKE)
                server.stdin.flush()
                assert b'"result"' in server.stdout.readline()
                yield server
            finally:
                server.kill()

    return start


def test_calls_with_missing_or_malformed_arguments(spawn: Any) -> None:
    server = spawn()
    server.handshake()
    assert "result" in server.request("tools/call", {"name": "memory_status"})
    assert "result" in server.request("tools/call", {"name": "memory_status", "arguments": None})
    for params, field in [
        ({"name": "recall"}, "query"),
        ({"name": "recall", "arguments": []}, "arguments"),
        ({"name": "recall", "arguments": "x"}, "arguments"),
        ({"name": "recall", "arguments": 6}, "arguments"),
        ({"name": "recall", "arguments": {"qurey": "x"}}, "qurey"),
        ({"name": 6, "arguments": {}}, "name"),
        ({}, "name"),
        (None, "name"),
    ]:
        error = server.request("tools/call", params)["error"]
        assert (error["code"], error["data"]["field"]) == (-32602, field)
    assert (
        "did you mean query?"
        in server.request("tools/call", {"name": "recall", "arguments": {"qurey": "x"}})["error"][
            "message"
        ]
    )
    assert server.call("memory_status", {})["memory"]["facts"] == 0


def test_numbers_that_json_does_not_have_are_refused(spawn: Any) -> None:
    server = spawn()
    server.handshake()
    for arguments, field in [
        ({"fact": "x", "metadata": {"a": [float("nan")]}}, "metadata"),
        ({"fact": "x", "metadata": {"a": float("inf")}}, "metadata"),
        ({"fact": "x", "ttl_seconds": float("nan")}, "ttl_seconds"),
    ]:
        error = server.request("tools/call", {"name": "remember", "arguments": arguments})["error"]
        assert (error["code"], error["data"]["field"]) == (-32602, field)
    assert server.call("memory_status", {})["memory"]["facts"] == 0


def test_half_a_character_in_a_name_is_refused_at_any_depth(spawn: Any) -> None:
    server = spawn()
    server.handshake()
    for arguments, field in [
        (rb'{"fact":"x","\ud800":1}', r"\ud800"),
        (rb'{"fact":"x","metadata":{"\udfff":1}}', "metadata"),
        (rb'{"fact":"x","links":[{"\ud800":1}]}', "links"),
    ]:
        start = b'{"jsonrpc":"2.0","id":"name","method":"tools/call","params":{"name":"remember",'
        server.send(start + b'"arguments":' + arguments + b"}}")
        error = server.receive()["error"]
        assert (error["code"], error["data"]["field"]) == (-32602, field)
    assert server.call("memory_status", {})["memory"]["facts"] == 0


def test_text_of_any_script_crosses_whatever_the_locale(spawn: Any) -> None:
    server = spawn(LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="cp1252")
    server.handshake()
    server.call("remember", {"fact": SAYING}, end=b"\r\n")
    recalled = server.call("recall", {"query": SAYING, "k": 1})["memories"]
    listed = server.call("list_memories", {})["memories"]
    assert [memory["content"] for memory in recalled + listed] == [SAYING, SAYING]


def test_what_plugins_print_stays_out_of_the_protocol(spawn: Any, noisy: dict[str, str]) -> None:
    server = spawn(**noisy, VELESDB_MEMORY_LOG="debug", PYTHONIOENCODING="cp1252")
    server.handshake()
    assert len(server.request("tools/list")["result"]["tools"]) > 0
    server.call("remember", {"fact": "First"})
    server.call("remember", {"fact": "Second"})
    server.call("recall", {"query": "First"})
    server.close_input()
    assert server.wait() == 0
    for printed in ("loading", "embedding \\U0001f680", "embedding in a child", "closing"):
        assert printed in server.log()


def test_the_process_ends_soon_after_its_client(spawn: Any, noisy: dict[str, str]) -> None:
    server = spawn(**noisy)
    server.handshake()
    server.call("remember", {"fact": "The first server knew this"})
    server.close_input()
    started = time.monotonic()
    assert server.wait() == 0
    assert time.monotonic() - started < EXIT_LIMIT
    second = spawn(**noisy)
    second.handshake()
    (memory,) = second.call("recall", {"query": "first"})["memories"]
    assert memory["content"] == "The first server knew this"


def test_a_call_that_hangs_does_not_hold_the_process(spawn: Any, noisy: dict[str, str]) -> None:
    server = spawn(**noisy)
    server.handshake()
    server.call("memory_status", {})
    hanging = server.start("tools/call", {"name": "remember", "arguments": {"fact": "hang"}})
    assert server.call("memory_status", {})["memory"]["facts"] == 0
    server.close_input()
    started = time.monotonic()
    assert server.wait() == 0
    assert time.monotonic() - started < EXIT_LIMIT
    assert server.receive()["id"] == hanging


def test_a_client_that_stops_reading_does_not_hold_the_process(bare: Bare) -> None:
    with bare() as server:
        for number in range(10):  # whose answers are more than a pipe holds
            server.stdin.write(b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n' % number)
        server.stdin.close()
        assert server.wait(SECONDS) == 0


def test_a_client_that_closes_its_reading_end_ends_the_process(bare: Bare) -> None:
    with bare() as server:
        server.stdout.close()
        server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
        server.stdin.flush()
        assert server.wait(SECONDS) == 0


def test_an_interrupt_ends_the_process_without_a_trace(bare: Bare) -> None:
    with bare() as server:
        server.send_signal(signal.SIGINT)
        assert server.wait(SECONDS) == 130
        assert b"Traceback" not in server.stderr.read()


def test_requests_before_the_end_of_input_are_still_answered(spawn: Any) -> None:
    server = spawn()
    server.handshake()
    server.call("memory_status", {})
    facts = [
        server.start("tools/call", {"name": "remember", "arguments": {"fact": f"Fact {n}"}})
        for n in range(5)
    ]
    server.close_input()
    answers = [server.receive() for _ in facts]
    assert {answer["id"] for answer in answers} == set(facts)
    assert all("result" in answer for answer in answers)
    assert server.wait() == 0


def test_garbage_is_answered_and_survived(spawn: Any) -> None:
    server = spawn()
    server.send(b"before any request")
    assert server.receive()["error"]["code"] == -32700
    server.handshake()
    for line in (b"\xff\xfe\x00", b"{", b"[1, 2]", b"[" * 50_000, b'"text"'):
        server.send(line)
        message = server.receive()
        assert message["id"] is None
        assert message["error"]["code"] in (-32700, -32600)
    server.send(b"\n  \n\r\n", end=b"")
    latin = b'{"jsonrpc":"2.0","id":"latin","method":"tools/call","params":{"name":"remember",'
    server.send(latin + b'"arguments":{"fact":"caf\xe9"}}}')
    message = server.receive()
    assert (message["id"], message["error"]["code"]) == ("latin", -32700)
    escaped = rb'{"jsonrpc":"2.0","id":"sur","method":"tools/call","params":{"name":"remember",'
    server.send(escaped + rb'"arguments":{"fact":"\ud800"}}}')
    message = server.receive()
    assert (message["id"], message["error"]["data"]["field"]) == ("sur", "fact")
    for arguments, field in [
        (rb'{"request":{"\ud800":null},"fragment_id":null}', "request"),
        (rb'{"\ud800":null}', r"\ud800"),
        (rb'{"\ud800":1}', r"\ud800"),
    ]:
        head = b'{"jsonrpc":"2.0","id":"key","method":"tools/call","params":{'
        server.send(head + b'"name":"explain_compilation","arguments":' + arguments + b"}}")
        message = server.receive()
        assert (message["id"], message["error"]["code"]) == ("key", -32602)
        assert message["error"]["data"]["field"] == field
    assert server.call("memory_status", {})["memory"]["facts"] == 0
    server.send(b'{"jsonrpc":"2.0","id":1,"met', end=b"")
    server.close_input()
    assert server.receive()["error"]["code"] == -32700
    assert server.wait() == 0


def test_the_stateless_era_works_over_a_pipe(spawn: Any) -> None:
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    server = spawn()
    listed = server.request("tools/list", {"_meta": envelope})["result"]
    assert len(listed["tools"]) > 0
    params = {"name": "memory_status", "_meta": envelope}
    assert server.request("tools/call", params)["result"]["resultType"] == "complete"
    params = {"name": "recall", "arguments": {"qurey": "x"}, "_meta": envelope}
    assert server.request("tools/call", params)["error"]["data"]["field"] == "qurey"


def test_a_memory_that_cannot_be_opened_ends_the_process_with_a_sentence(
    spawn: Any, tmp_path: Path
) -> None:
    file = tmp_path / "a-file"
    file.write_text("not a directory")
    server = spawn(VELESDB_MEMORY_PATH=str(file))
    assert server.wait() == 1
    assert server.log().startswith("veles-memory: ")
    assert str(file) in server.log()
    assert "Traceback" not in server.log()
    assert file.read_text() == "not a directory"
