"""What a plugin promises: hooks that describe its backends, and nothing done before ``open``."""

import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any, Final

import pluggy
import pytest

from veles_core import hookspecs
from veles_core.hookspecs import Backend
from veles_core.plugins import HOOKS
from veles_core.settings import PREFIX, BackendSettings

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
_SECRET: Final = re.compile("(?:^|_)(?:TOKEN|PASSWORD|SECRET|KEY)(?:_|$)")
_REPORT: Final = """
import sys, importlib
before = set(sys.modules)
module = importlib.import_module(sys.argv[1])
for name in sys.argv[2].split(","):
    hook = getattr(module, name, None)
    list(hook() if hook else ())
print(*sorted({name.split(".")[0] for name in set(sys.modules) - before}))
"""


class PluginContract:
    """Every promise of a plugin's module.

    Subclass it and give ``plugin`` and ``heavy``.
    """

    @pytest.fixture
    def plugin(self) -> ModuleType:
        """The module that the entry point names."""
        raise NotImplementedError("give a plugin fixture: the module of the entry point")

    @pytest.fixture
    def heavy(self) -> Sequence[str]:
        """Top-level names of the libraries that only ``open`` may import."""
        raise NotImplementedError("give a heavy fixture: libraries that only open imports")

    @pytest.fixture
    def backends(self, plugin: ModuleType) -> list[tuple[str, Backend[Any]]]:
        """Each backend with the hook it came from."""
        manager = pluggy.PluginManager("veles")
        manager.add_hookspecs(hookspecs)
        manager.register(plugin)
        manager.check_pending()
        found: list[tuple[str, Backend[Any]]] = []
        for hook in HOOKS.values():
            answers: Iterable[Iterable[Backend[Any]]] = getattr(manager.hook, hook)()
            found += [(hook, backend) for backend in _flat(answers)]
        return found

    def test_it_offers_backends(self, backends: list[tuple[str, Backend[Any]]]) -> None:
        assert backends, f"no hook of {', '.join(HOOKS.values())} returned a backend"
        for hook, backend in backends:
            assert isinstance(backend, Backend), f"{hook} returned {type(backend).__name__}"
        keys = [(hook, backend.name) for hook, backend in backends]
        assert len(set(keys)) == len(keys), "two backends of one kind share a name"

    def test_backends_describe_themselves(self, backends: list[tuple[str, Backend[Any]]]) -> None:
        for _, backend in backends:
            assert _NAME.fullmatch(backend.name), "a name is lower case: it is typed by people"
            assert backend.summary.strip()
            assert "\n" not in backend.summary
            assert callable(backend.open)

    def test_settings_are_named_variables(self, backends: list[tuple[str, Backend[Any]]]) -> None:
        for _, backend in backends:
            if backend.settings is None:
                continue
            assert issubclass(backend.settings, BackendSettings)
            for name, field in backend.settings.model_fields.items():
                choices = getattr(field.validation_alias, "choices", [])
                assert choices, f"{name} isn't declared with veles_core.variable"
                # Aliases may be variables that the library itself is known by.
                assert choices[0].startswith(PREFIX)
                if any(_SECRET.search(choice) for choice in choices):
                    assert "SecretStr" in str(field.annotation), f"{name} would be shown"

    def test_hooks_may_be_asked_twice(self, plugin: ModuleType) -> None:
        for hook in HOOKS.values():
            if ask := getattr(plugin, hook, None):
                assert [b.name for b in ask()] == [b.name for b in ask()]

    def test_nothing_heavy_is_imported_before_open(
        self, plugin: ModuleType, heavy: Sequence[str]
    ) -> None:
        arguments = [plugin.__name__, ",".join(HOOKS.values())]
        found = subprocess.run(
            [sys.executable, "-c", _REPORT, *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert sorted({*heavy} & {*found.stdout.split()}) == []
        assert found.stderr == ""

    def test_a_missing_library_has_a_way_out(
        self, backends: list[tuple[str, Backend[Any]]], heavy: Sequence[str]
    ) -> None:
        for _, backend in backends:
            assert backend.install or not heavy, f"{backend.name} doesn't say how to install it"


def _flat(answers: Iterable[Iterable[Backend[Any]]]) -> Iterable[Backend[Any]]:
    return (backend for answer in answers for backend in answer)
