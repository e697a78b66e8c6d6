"""Our wheel, the example and the broken samples, built and installed as strangers would.

They go into a clean environment that sees the libraries of the running one through a path
file, but not this source tree: what is proven is that the wheels are whole and find each
other, not that the declared dependencies can be downloaded.
"""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SAMPLES = ["fails-to-import", "misspelt-hook", "clash", "needs-library"]


def pip(python: Path | str, *arguments: str) -> None:
    subprocess.run(
        [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments],
        check=True,
        capture_output=True,
        timeout=240,
    )


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    sources = [ROOT, ROOT / "contrib/veles-embed-example"]
    sources += [ROOT / "contrib/broken-plugins" / sample for sample in SAMPLES]
    pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(folder), *map(str, sources))
    return folder


def installed(folder: Path, wheels: Iterable[Path]) -> Path:
    """A clean environment with these wheels alone; answers its scripts' folder."""
    venv.create(folder / "venv", with_pip=False)
    bin = folder / "venv" / "bin"
    pip(sys.executable, "--python", str(bin / "python"), "install", "--no-deps", *map(str, wheels))
    # A plain line in a path file adds no editable installs, so this tree stays out.
    site = sysconfig.get_path("purelib", vars={"base": str(folder / "venv")})
    (Path(site) / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return bin


@pytest.fixture(scope="module")
def environment(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our wheel and the example."""
    ours = [wheel for wheel in wheels.iterdir() if "sample" not in wheel.name]
    return installed(tmp_path_factory.mktemp("clean"), ours)


@pytest.fixture(scope="module")
def with_samples(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our wheel, the example, and every broken sample."""
    return installed(tmp_path_factory.mktemp("broken"), wheels.iterdir())


@pytest.fixture
def clean(tmp_path: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    settings = {"VELESDB_MEMORY_PATH": str(tmp_path / "memory"), "VELESDB_MEMORY_QUIET": "1"}
    return kept | settings


def veles(bin: Path, environment: dict[str, str], *arguments: str) -> Any:
    return subprocess.run(
        [str(bin / "veles-memory"), *arguments],
        capture_output=True, text=True, env=environment, cwd="/", check=False, timeout=120,
    )  # fmt: skip


def test_the_example_is_listed_and_opens(environment: Path, clean: dict[str, str]) -> None:
    report = json.loads(veles(environment, clean, "plugins", "--json").stdout)
    (example,) = (b for b in report["backends"] if b["name"] == "example")
    assert example["problem"] is None
    assert (example["distribution"], example["version"]) == ("veles-embed-example", "1.0.0")
    assert report["clashes"] == []


def test_the_example_serves_a_memory(environment: Path, clean: dict[str, str]) -> None:
    clean["VELESDB_MEMORY_EMBEDDER"] = "example"
    code = (
        "from veles_core import open_memory\n"
        "with open_memory() as memory:\n"
        "    memory.remember('the pump stops at nine')\n"
        "    print(memory.recall('when does the pump stop', 1).memories[0].content)\n"
        "    print(memory.memory_status().embedder.model)\n"
    )
    done = subprocess.run(
        [str(environment / "python"), "-c", code],
        capture_output=True, text=True, env=clean, cwd="/", check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["the pump stops at nine", "letter-pairs-128"]


def test_our_modules_come_from_the_wheel(environment: Path, clean: dict[str, str]) -> None:
    code = (
        "import veles_core, veles_plugins.store_hnsw as p; print(veles_core.__file__, p.__file__)"
    )
    done = subprocess.run(
        [str(environment / "python"), "-c", code],
        capture_output=True, text=True, env=clean, cwd="/", check=True, timeout=120,
    )  # fmt: skip
    assert all(str(environment.parent) in path for path in done.stdout.split())


def test_the_examples_own_tests_pass(environment: Path, clean: dict[str, str]) -> None:
    done = subprocess.run(
        [str(environment / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider",
         str(ROOT / "contrib/veles-embed-example/tests")],
        capture_output=True, text=True, env=clean, cwd="/", check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_broken_plugins_are_told_and_stop_nothing(
    with_samples: Path, clean: dict[str, str]
) -> None:
    shown = veles(with_samples, clean, "plugins").stdout
    for part in (
        "broken: it fails to import: ModuleNotFoundError: No module named "
        "'a_module_that_nobody_has_installed'",
        "unknown hook 'veles_embeders'",
        "two plugins offer the embedder 'example'",
        "veles-embed-example 1.0.0",
        "pip install 'veles-sample[needy]'",
    ):
        assert part in shown
    assert json.loads(veles(with_samples, clean, "status", "--json").stdout)["facts"] == 0


@pytest.mark.parametrize(
    ("embedder", "words"),
    [("example", "remove one"), ("needy", "a_library_that_nobody_has_installed"),
     ("nobody", "broken plugins: ")],
)  # fmt: skip
def test_selecting_what_is_broken_says_why(
    with_samples: Path, clean: dict[str, str], embedder: str, words: str
) -> None:
    clean["VELESDB_MEMORY_EMBEDDER"] = embedder
    done = veles(with_samples, clean, "status")
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
