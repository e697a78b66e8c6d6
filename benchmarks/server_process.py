"""The real server as a client sees it: a process over standard input and output."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import psutil

SDK_IMPORT = "import mcp.server, mcp_types"  # what any server on the SDK has to import


def environment(**more: str) -> dict[str, str]:
    """This process's, for one that is measured: an installed package has its bytecode cached."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | more


class ServerProcess:
    """One server on one memory, spoken to in lines of JSON-RPC. Use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        """Start it and shake hands; ``started`` is the seconds until ``initialize`` is answered."""
        began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "veles_core.cli", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(VELESDB_MEMORY_PATH=str(folder)),
            text=True,
        )
        self._last = 0
        client = {"name": "benchmark", "version": "1"}
        self._ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self.started = time.perf_counter() - began
        self._send({"method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            pass  # closes its standard input, and waits

    def call(self, tool: str, **arguments: Any) -> Any:
        """The structured answer of a tool."""
        return self._ask("tools/call", name=tool, arguments=arguments)["structuredContent"]

    def memory(self) -> dict[str, float]:
        """Megabytes: resident, its share of that (PSS), its own alone, and shared with files."""
        held = psutil.Process(self._process.pid).memory_full_info()
        return {
            "rss": held.rss / 1e6,
            "pss": held.pss / 1e6,
            "own": held.uss / 1e6,
            "shared": held.shared / 1e6,
        }

    def _ask(self, method: str, **params: Any) -> Any:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]
        raise RuntimeError("the server ended")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()


def sdk_import() -> float:
    """Seconds of a process that does nothing but import the SDK."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", SDK_IMPORT], env=environment(), check=True)
    return time.perf_counter() - began
