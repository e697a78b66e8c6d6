"""The kit of plugin authors: contract tests to subclass, a settable clock, fake services.

::

    from veles_core.testing import EmbedderContract

    class TestMyEmbedder(EmbedderContract):
        @pytest.fixture
        def embedder(self):
            return MyEmbedder()

The contracts state every promise of ``veles_core.protocols``. Needs pytest.
"""

import pytest

# Failing asserts of a contract show their values, as those of a test file do.
_CONTRACTS = ("embedder", "extractor", "index", "plugin", "store", "tokenizer")
pytest.register_assert_rewrite(*(f"{__name__}.{module}" for module in _CONTRACTS))

from veles_core.testing.clock import SettableClock  # noqa: E402
from veles_core.testing.embedder import EmbedderContract, RemoteEmbedderContract  # noqa: E402
from veles_core.testing.extractor import ExtractorContract  # noqa: E402
from veles_core.testing.index import VectorIndexContract  # noqa: E402
from veles_core.testing.plugin import PluginContract  # noqa: E402
from veles_core.testing.store import StoreContract, WordSearchContract  # noqa: E402
from veles_core.testing.tokenizer import TokenizerContract  # noqa: E402

__all__ = [
    "EmbedderContract",
    "ExtractorContract",
    "PluginContract",
    "RemoteEmbedderContract",
    "SettableClock",
    "StoreContract",
    "TokenizerContract",
    "VectorIndexContract",
    "WordSearchContract",
]
