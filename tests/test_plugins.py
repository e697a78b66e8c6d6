"""The loader: built-ins through the strangers' door, broken ones recorded, clashes refused.

Each plugin here is a real distribution: a module and its metadata on the import path.
"""

import sys
from pathlib import Path
from typing import Any

import pytest

from veles_core.errors import ConfigurationError
from veles_core.hookspecs import Host
from veles_core.plugins import Registry, discover

EMBEDDER = """
from veles_core import Backend, hookimpl

@hookimpl
def veles_embedders():
    return [Backend({name!r}, "an embedder", lambda settings, host: (settings, host))]
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install a distribution whose only module has the given source."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def installed(distribution: str, source: str, entry: str | None = None) -> None:
        module = distribution.replace("-", "_")
        sys.modules.pop(module, None)
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{module}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n"
        )
        (info / "entry_points.txt").write_text(f"[veles]\n{entry or distribution} = {module}\n")

    return installed


def found(registry: Registry, name: str) -> Any:
    return next(plugin for plugin in registry.plugins if plugin.name == name)


def test_a_strangers_backend_opens_by_name(install: Any, tmp_path: Path) -> None:
    install("acme-embed", EMBEDDER.format(name="acme"))
    registry = discover()
    host = Host(tmp_path)
    assert registry.open("embedder", "acme", host) == (None, host)
    plugin = found(registry, "acme-embed")
    assert (plugin.distribution, plugin.version) == ("acme-embed", "1.2")
    assert plugin.hooks == ("veles_embedders",)


def test_a_plugin_that_fails_to_import_stops_nothing(install: Any) -> None:
    install("acme-broken", "import nothing_of_that_name")
    install("acme-embed", EMBEDDER.format(name="acme"))
    registry = discover()
    assert "acme" in registry.names("embedder")
    assert "ModuleNotFoundError" in found(registry, "acme-broken").error


def test_selecting_what_a_broken_plugin_would_offer_shows_its_reason(install: Any) -> None:
    install("acme-broken", "import nothing_of_that_name")
    with pytest.raises(ConfigurationError, match=r"'acme'.*nothing_of_that_name"):
        discover().find("embedder", "acme")


def test_a_misspelt_hook_is_an_error(install: Any) -> None:
    install(
        "acme-typo",
        "from veles_core import hookimpl\n\n@hookimpl\ndef veles_embeders():\n    return []\n",
    )
    registry = discover()
    assert "veles_embeders" in found(registry, "acme-typo").error


def test_a_module_without_a_hook_is_an_error(install: Any) -> None:
    install("acme-empty", "")
    assert "none of the hooks" in found(discover(), "acme-empty").error


def test_a_hook_that_returns_something_else_is_an_error(install: Any) -> None:
    install(
        "acme-odd",
        "from veles_core import hookimpl\n\n@hookimpl\ndef veles_stores():\n    return ['x']\n",
    )
    assert "must be a Backend" in found(discover(), "acme-odd").error


def test_two_backends_of_one_name_are_refused_naming_both(install: Any) -> None:
    install("acme-embed", EMBEDDER.format(name="same"))
    install("other-embed", EMBEDDER.format(name="same"))
    registry = discover()
    with pytest.raises(ConfigurationError, match=r"acme-embed.*1\.2.*other-embed"):
        registry.find("embedder", "same")
    assert len(registry.clashes) == 1


def test_two_plugins_of_one_entry_name_are_both_found(install: Any) -> None:
    install("acme-embed", EMBEDDER.format(name="one"), entry="embed")
    install("other-embed", EMBEDDER.format(name="two"), entry="embed")
    assert {"one", "two"} <= set(discover().names("embedder"))


def test_a_stranger_cannot_replace_a_builtin_in_silence(install: Any) -> None:
    install("acme-embed", EMBEDDER.format(name="hash"))
    with pytest.raises(ConfigurationError, match="two plugins offer the embedder 'hash'"):
        discover().find("embedder", "hash")


def test_a_missing_library_becomes_a_sentence_with_the_command(
    install: Any, tmp_path: Path
) -> None:
    install(
        "acme-heavy",
        """
from veles_core import Backend, hookimpl

def opened(settings, host):
    import heavy_library_of_acme

@hookimpl
def veles_embedders():
    return [Backend("heavy", "x", opened, install="pip install acme-heavy[model]")]
""",
    )
    with pytest.raises(ConfigurationError, match=r"heavy_library_of_acme.*acme-heavy\[model\]"):
        discover().open("embedder", "heavy", Host(tmp_path))


def test_an_unknown_name_lists_what_is_installed() -> None:
    with pytest.raises(ConfigurationError, match=r"'hsah'; installed: .*hash.*did you mean 'hash'"):
        discover().find("embedder", "hsah")


def test_an_empty_selection_loads_only_the_builtins(install: Any) -> None:
    install("acme-embed", EMBEDDER.format(name="acme"))
    assert [plugin.name for plugin in discover(()).plugins] == ["builtin"]


def test_a_selected_plugin_that_is_not_installed_is_reported() -> None:
    assert found(discover(["nobody"]), "nobody").error == "it is not installed"
