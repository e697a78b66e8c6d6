"""The built-in backends keep the promises that strangers' backends are held to."""

from collections.abc import Sequence
from types import ModuleType

import pytest

from veles_core import builtin
from veles_core.builtin.hash_embedder import HashEmbedder
from veles_core.builtin.outline_extractor import OutlineExtractor
from veles_core.protocols import Embedder, Extractor
from veles_core.records import Attribute, ExtractedFact, Extraction, Relation
from veles_core.testing import EmbedderContract, ExtractorContract, PluginContract


class TestHashEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return HashEmbedder()


class TestOutlineExtractor(ExtractorContract):
    @pytest.fixture
    def extractor(self) -> Extractor:
        return OutlineExtractor()

    @pytest.fixture
    def passage(self) -> str:
        return (
            "fact: The gateway moved to port 8443 | Edge Gateway; Ports\n"
            "A plain line\n"
            "edge: Edge Gateway | depends on | Auth Service\n"
            'attr: Edge Gateway | limits | {"rps": 200, "burst": null}\n'
        )

    @pytest.fixture
    def found(self) -> Extraction:
        return Extraction(
            (
                ExtractedFact("The gateway moved to port 8443", ("Edge Gateway", "Ports")),
                ExtractedFact("A plain line"),
            ),
            (Relation("Edge Gateway", "depends on", "Auth Service"),),
            (Attribute("Edge Gateway", "limits", {"rps": 200, "burst": None}),),
        )

    @pytest.fixture
    def malformed(self) -> str:
        return "fact: fine\nedge: only | two"


class TestBuiltins(PluginContract):
    @pytest.fixture
    def plugin(self) -> ModuleType:
        return builtin

    @pytest.fixture
    def heavy(self) -> Sequence[str]:
        return ()
