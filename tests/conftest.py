"""Fixtures that many tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A property is about truth, not about how busy the machine is.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

PREFIX = "VELESDB_MEMORY_"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the settings and the memory of the person who runs the tests out of them."""
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(PREFIX + "PATH", str(tmp_path / "memory"))
