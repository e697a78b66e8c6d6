"""Who may import whom: the direction of imports is part of the design."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import veles_core

ROOT = Path(__file__).parent.parent
CORE = ROOT / "veles_core"
LOWEST = {"records", "limits", "errors", "ids", "clock", "scalars", "predicates"}
PLUGIN_API = LOWEST | {
    "protocols",
    "hookspecs",
    "settings",
    "words",
    "remote",
    "extraction",
    "embedding",
}
PURE = LOWEST | {"protocols", "words"}

# What each part of the core may import of the core, besides itself.
ALLOWED = {
    **dict.fromkeys(LOWEST, LOWEST),
    "protocols": LOWEST,
    "hookspecs": LOWEST | {"protocols"},
    "settings": {"errors"},
    "plugins": LOWEST | {"protocols", "hookspecs", "settings"},
    "words": LOWEST,
    "ledger": LOWEST | {"protocols", "words"},
    "store": PURE | {"ledger", "hookspecs", "settings"},
    "builtin": PURE | {"hookspecs", "settings", "store", "findings"},
    "context": PURE,
    "ingest": LOWEST,
    "findings": LOWEST,
    "extraction": LOWEST | {"findings"},
    "remote": LOWEST | {"settings"},
    "embedding": LOWEST | {"settings", "remote"},
    "copying": PURE,
    "memory": PURE | {"migration", "context", "ingest", "findings", "copying"},
    "migration": PURE | {"hookspecs", "memory", "copying"},
    "wire": LOWEST | {"context", "memory.answers", "migration.job", "migration.plane"},
    "server": PURE | {"wire", "memory", "migration", "context", "ingest", "settings", "plugins",
                      "hookspecs", "extraction"},
    "cli": PURE | {"server", "memory", "context", "migration", "settings", "plugins", "hookspecs",
                   "builtin", "copying"},
    "testing": PURE | {"hookspecs", "plugins", "settings"},
}  # fmt: skip


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    """Every module named in an import anywhere in a file, lazy ones included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part(path: Path) -> str:
    return path.relative_to(CORE).parts[0].removesuffix(".py")


def within(name: str, allowed: set[str]) -> bool:
    inner = name.removeprefix("veles_core.")
    return any(inner == good or inner.startswith(good + ".") for good in allowed)


@pytest.mark.parametrize("path", modules(CORE), ids=lambda path: str(path.relative_to(CORE)))
def test_the_core_imports_in_one_direction(path: Path) -> None:
    own = part(path)
    if own == "__init__":
        return
    for name in imported(path):
        assert not name.startswith("veles_plugins"), f"{path} imports a plugin"
        if name.startswith("veles_core."):
            assert within(name, ALLOWED[own] | {own, "__version__"}), f"{own} imports {name}"


@pytest.mark.parametrize("path", modules(ROOT / "veles_plugins"), ids=lambda path: path.parent.name)
def test_plugins_import_only_what_strangers_may(path: Path) -> None:
    own = ".".join(path.relative_to(ROOT).parts[:2])
    for name in imported(path):
        if name.startswith("veles_plugins."):
            assert name.startswith(own), f"{path} imports another plugin"
        if name.startswith("veles_core."):
            allowed = PLUGIN_API | {"store", "builtin.exact_index", *veles_core.__all__}
            assert within(name, allowed), f"{path}: {name}"


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("apsw", {"ledger"}),
        ("sqlite3", set()),
        ("mcp", {"server", "cli/demo.py"}),
        ("mcp_types", {"server"}),
        ("pytest", {"testing"}),
        ("chromadb", set()),
        ("tiktoken", set()),
        ("psycopg", set()),
        ("hnswlib", set()),
        ("wordllama", set()),
    ],
)
def test_a_library_has_one_home_in_the_core(library: str, homes: set[str]) -> None:
    for path in modules(CORE):
        if library in {name.split(".")[0] for name in imported(path)}:
            place = path.relative_to(CORE)
            assert {place.parts[0], place.as_posix()} & homes, f"{place} imports {library}"


def test_only_settings_reads_the_environment() -> None:
    for path in [*modules(CORE), *modules(ROOT / "veles_plugins")]:
        if path.name == "settings.py" and path.parent == CORE:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not {"environ", "getenv", "environb"} & names, path
