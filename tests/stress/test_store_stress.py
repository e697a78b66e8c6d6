"""The embedded store under ``kill -9`` and under a crowd of processes, for a few seconds.

``python -m benchmarks.store_stress`` does the same for as long as you like.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "summary"),
    [
        (["kill", "--rounds", "20"], "20 rounds, "),
        (["crowd", "--seconds", "5"], "5 s, "),
    ],
)
def test_nothing_is_lost_and_no_call_fails(arguments: list[str], summary: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.store_stress", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(summary)
    assert ended.stderr == ""
