"""compile-stdin as a filter, and the hook around it in real shells."""

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
HOOK = ROOT / "contrib/clients/shrink-tool-output.sh"
SHELLS = [shell for shell in ("sh", "bash", "dash") if shutil.which(shell)]
LOG = "".join(f"INFO heartbeat {n % 3} ok\n" for n in range(3000)) + "FATAL worker stopped\n"


def compiled(text: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "veles_core.cli", "compile-stdin", *options]
    return subprocess.run(command, input=text, capture_output=True, check=False)


def test_a_log_is_compiled_into_one_json_object() -> None:
    done = compiled(LOG.encode(), "--budget", "500", "--query", "why did the worker stop")
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.decode().splitlines()
    answer = json.loads(line)
    assert "FATAL worker stopped" in answer["content"]
    assert "(x1000)" in answer["content"]
    assert answer["insights"]["tokens_out"] <= 500
    assert "retrieval_handles" not in answer


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (b"", (), "empty"),
        (b" \n\t", (), "empty"),
        (b"\xff\xfe", (), "UTF-8"),
        (b"some text", ("--budget", "0"), "token_budget 0"),
        (b"x" * (8 << 20) + b"x", (), "8388608"),
    ],
)
def test_an_empty_compilation_is_an_error(
    text: bytes, options: tuple[str, ...], words: str
) -> None:
    done = compiled(text, *options)
    assert done.returncode == 1
    assert done.stdout == b""
    assert words in done.stderr.decode()


def test_it_imports_neither_the_service_nor_the_protocol() -> None:
    code = (
        "import sys; from veles_core.cli import group; group.get_command(None, 'compile-stdin')\n"
        "print([m for m in ('mcp', 'numpy', 'apsw', 'pydantic', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_it_starts_fast_enough_for_every_tool_call() -> None:
    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    times = []
    for _ in range(3):
        before = spent()
        assert compiled(b"One short line.").returncode == 0
        times.append(spent() - before)
    assert min(times) < 0.4  # of the processor; measured: 0.25 s


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A directory with a ``veles-memory`` that runs this source tree."""
    program = tmp_path / "veles-memory"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m veles_core.cli "$@"\n')
    program.chmod(0o755)
    return tmp_path


def hooked(shell: str, payload: Any, path: Path, budget: str = "500", **more: str) -> str:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    environment = os.environ | {
        "PATH": f"{path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "VELES_SHRINK_BUDGET": budget,
        **more,
    }
    done = subprocess.run(
        [shell, str(HOOK)], input=text, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0
    return done.stdout


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "response", [LOG, [{"type": "text", "text": LOG}], {"content": [{"type": "text", "text": LOG}]}]
)
def test_the_hook_replaces_a_large_result(shell: str, response: Any, path: Path) -> None:
    output = json.loads(hooked(shell, {"tool_name": "x", "tool_response": response}, path))
    changed = output["hookSpecificOutput"]
    assert changed["hookEventName"] == "PostToolUse"
    assert "FATAL worker stopped" in changed["updatedMCPToolOutput"]
    assert len(changed["updatedMCPToolOutput"]) < len(LOG) / 10


FORBIDDEN = "You must never merge on Fridays, whatever the reviewers say. " * 200


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("payload", "budget"),
    [
        ("", "500"),
        ("{", "500"),
        ({"tool_response": 7}, "500"),
        ({"other": 1}, "500"),
        ({"tool_response": "short"}, "500"),
        ({"tool_response": [{"type": "image", "data": "x" * 9000}]}, "500"),
        ({"tool_response": FORBIDDEN}, "20"),
        ({"tool_response": LOG}, "0"),
        ({"tool_response": LOG}, "many"),
        ({"tool_response": LOG + "\0"}, "500"),
        ({"tool_response": LOG + "\ud800"}, "500"),
        ({"tool_response": "漢字 " * 200}, "500"),
    ],
)
def test_the_hook_stays_silent_in_any_doubt(
    shell: str, payload: Any, budget: str, path: Path
) -> None:
    assert hooked(shell, payload, path, budget) == ""


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "program",
    ["exit 3", "echo no json", "echo '{}'", 'echo \'{"content":" ","risk":"low"}\'',
     'echo \'{"content":"x","risk":"high"}\''],
)  # fmt: skip
def test_the_hook_trusts_no_odd_answer(shell: str, program: str, path: Path) -> None:
    (path / "veles-memory").write_text(f"#!/bin/sh\ncat >/dev/null\n{program}\n")
    assert hooked(shell, {"tool_response": LOG}, path) == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_hook_does_not_wait_for_a_slow_compiler(shell: str, path: Path) -> None:
    (path / "veles-memory").write_text("#!/bin/sh\nexec sleep 60\n")
    start = time.monotonic()
    assert hooked(shell, {"tool_response": LOG}, path, VELES_SHRINK_SECONDS="0.5") == ""
    assert time.monotonic() - start < 30


def test_the_hook_without_the_command_keeps_the_original(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("cat", "python3", "sh"):
        (tools / tool).symlink_to(shutil.which(tool) or sys.executable)
    done = subprocess.run(
        ["sh", str(HOOK)],
        input=json.dumps({"tool_response": LOG}),
        capture_output=True,
        text=True,
        env={"PATH": str(tools)},
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    "config", sorted((ROOT / "contrib/clients").glob("*.json")), ids=lambda p: p.name
)
def test_client_configurations_start_the_server(config: Path) -> None:
    (servers,) = json.loads(config.read_text(encoding="utf-8")).values()
    assert servers["memory"]["command"] == "veles-memory"
    assert servers["memory"]["args"] == ["serve"]
