"""Meta-tests: what stands in the docs is what the code does."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from veles_core.server.tools import TOOLS

ROOT = Path(__file__).parent.parent


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("docs_generator", ROOT / "docs/__main__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["tools.md", "environment.md", "hooks.md", "errors.md"])
def test_generated_pages_are_fresh(page: str) -> None:
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == generator().pages()[page], (
        "run: make docs"
    )


def test_the_readme_names_every_tool() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [tool.name for tool in TOOLS if f"`{tool.name}`" not in readme]
    assert missing == []


def markdown_files() -> list[Path]:
    folders = ("docs", "contrib", "veles_plugins")
    return [*ROOT.glob("*.md"), *(p for f in folders for p in (ROOT / f).rglob("*.md"))]


@pytest.mark.parametrize("page", markdown_files(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_every_figure_names_a_script_that_exists() -> None:
    for page in markdown_files():
        for script in re.findall(r"benchmarks/\w+\.py", page.read_text(encoding="utf-8")):
            assert (ROOT / script).exists(), f"{page}: {script}"


def test_every_make_target_of_the_docs_exists() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in markdown_files():
        for target in re.findall(r"`make (\w+)", page.read_text(encoding="utf-8")):
            assert target in targets, f"{page}: make {target}"


def test_the_tutorials_snippets_are_the_example_itself() -> None:
    page = (ROOT / "docs/writing-a-plugin.md").read_text(encoding="utf-8")
    snippets = re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)\n```", page, re.DOTALL)
    assert len(snippets) == 4
    for file, snippet in snippets:
        assert snippet == (ROOT / file).read_text(encoding="utf-8").rstrip(), file
