"""The contracts that veles-memory ships, applied to this plugin."""

import pytest
import veles_embed_example
from veles_embed_example.letters import LetterPairs

from veles_core.testing import EmbedderContract, PluginContract


class TestExamplePlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return veles_embed_example

    @pytest.fixture
    def heavy(self):
        return ["numpy"]


class TestLetterPairs(EmbedderContract):
    @pytest.fixture
    def embedder(self):
        return LetterPairs(128)
