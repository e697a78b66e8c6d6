"""The public surface: one sorted list, every name of it there, and nothing heavy behind it."""

import subprocess
import sys

import pytest

import veles_core

HEAVY = ("mcp", "numpy", "apsw", "pydantic", "httpx", "hnswlib", "chromadb", "tiktoken", "psycopg")


def test_the_public_names_are_sorted_and_there() -> None:
    assert sorted(veles_core.__all__) == list(veles_core.__all__)
    assert list(veles_core._HOMES) == list(veles_core.__all__)
    for name in veles_core.__all__:
        assert getattr(veles_core, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Manager"):
        veles_core.Manager  # noqa: B018


def imported_by(code: str) -> set[str]:
    """The heavy libraries that running some code in a fresh process imports."""
    report = f"{code}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", report], check=True, capture_output=True, text=True
    )
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert imported_by("import veles_core") == set()


def test_a_memory_on_the_default_backends_imports_no_other_backend() -> None:
    used = imported_by("import veles_core\nveles_core.open_memory().close()")
    assert used == {"numpy", "apsw", "pydantic"}


def test_the_library_is_the_service_with_the_tools_verbs() -> None:
    with veles_core.open_memory() as memory:
        cause = memory.remember("SQLite up to 3.51.2 has the WAL-reset bug")
        memory.remember("We ship our own SQLite", links=[veles_core.Link(cause.id, "caused_by")])
        trail = memory.why("We ship our own SQLite")
    assert [node.hop for node in trail.nodes] == [0, 1]
