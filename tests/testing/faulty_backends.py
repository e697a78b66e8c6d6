"""Vector indexes, embedders, extractors, tokenizers and plugins with one fault each.

``FAULTY`` names, for each contract, its faults and the tests that each has to fail.
"""
# mypy: ignore-errors

import itertools
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from veles_core.builtin.exact_index import ExactIndex
from veles_core.builtin.hash_embedder import HashEmbedder
from veles_core.builtin.heuristic_tokenizer import HeuristicTokenizer
from veles_core.builtin.outline_extractor import OutlineExtractor
from veles_core.errors import BackendRefused
from veles_core.records import EmbeddingIdentity, Extraction
from veles_core.testing import (
    EmbedderContract,
    ExtractorContract,
    PluginContract,
    RemoteEmbedderContract,
    TokenizerContract,
    VectorIndexContract,
)

FAULTY: dict[type, dict[type, str]] = {}


class Faulty:
    """Keeps account of the faults of each contract."""

    def __init_subclass__(cls) -> None:
        contract = next((base.contract for base in cls.__mro__ if "contract" in vars(base)), None)
        if "fails" in vars(cls):
            FAULTY.setdefault(contract, {})[cls] = cls.fails


# Vector indexes


class Index(Faulty, ExactIndex):
    contract = VectorIndexContract

    def __init__(self, directory: Path) -> None:
        super().__init__(directory / "vectors")
        self.directory = directory


class NeverEmpty(Index):
    fails = "a_fresh_index_is_empty clear_forgets_the_snapshot_too"

    def __len__(self):
        return super().__len__() + 1


class DistancesForScores(Index):
    fails = "search_gives_the_nearest_with_their_cosine many_vectors_are_found"

    def search(self, vector, k, allowed=None, excluded=None):
        ids, scores = super().search(vector, k, allowed, excluded)
        return ids, 1 - scores


class LaterFirst(Index):
    fails = "ties_are_ordered_by_unsigned_id many_identical_vectors_hide_nothing"

    def search(self, vector, k, allowed=None, excluded=None):
        ids, scores = super().search(vector, 10_000, allowed, excluded)
        order = np.lexsort((-ids.astype(np.float64), -scores))[:k]
        return ids[order], scores[order]


class FiltersLast(Index):
    fails = "allowed_and_excluded_come_before_the_search"

    def search(self, vector, k, allowed=None, excluded=None):
        ids, scores = super().search(vector, k)
        kept = np.ones(len(ids), bool) if allowed is None else np.isin(ids, allowed)
        if excluded is not None:
            kept &= ~np.isin(ids, excluded)
        return ids[kept], scores[kept]


class FirstVectorsStay(Index):
    fails = "adding_again_replaces"

    def add(self, ids, vectors):
        new = np.isnan(self.similarities(vectors[0], ids)) if len(self) else slice(None)
        super().add(ids[new], vectors[new])


class RemovesTheKnownOnly(Index):
    fails = "removing_is_final_and_needs_no_presence"

    def remove(self, ids):
        assert not np.isnan(self.similarities(np.ones(8, np.float32), ids)).any()
        super().remove(ids)


class SortsWhatIsAsked(Index):
    fails = "similarities_come_in_the_order_asked"

    def similarities(self, vector, ids):
        return super().similarities(vector, np.sort(ids))


class SavesNothing(Index):
    fails = "a_snapshot_is_what_it_comes_back_at"

    def save(self):
        pass


class PlainFile(Index):
    """Keeps a snapshot without a digest, and tries to make sense of whatever it finds."""

    fails = "a_damaged_snapshot_is_forgotten a_flipped_bit_is_noticed"

    def __init__(self, directory):
        super().__init__(directory)
        file = directory / "plain"
        if file.exists():
            rows = np.frombuffer(file.read_bytes()[: file.stat().st_size // 32 * 32], np.float32)
            rows = rows.reshape(-1, 8)
            self.add(np.arange(len(rows), dtype=np.uint64), rows)
            self.advance(7)

    def save(self):
        (self.directory / "plain").write_bytes(b"".join(self.standing().vectors(slice(None))))


class KeepsTheSnapshot(Index):
    fails = "clear_forgets_the_snapshot_too"

    def clear(self):
        self._reset()


class TestIndexes(VectorIndexContract):
    fault = Index

    @pytest.fixture
    def open_index(self):
        return self.fault


# Embedders


class Embedder(Faulty, HashEmbedder):
    contract = EmbedderContract


class LongVectors(Embedder):
    fails = "rows_are_unit_vectors_of_one_dimension an_odd_text_is_embedded_or_refused"

    def embed(self, texts):
        return super().embed(texts) * 2


class AnyOrder(Embedder):
    fails = "order_is_kept_and_neighbours_change_nothing a_query_is_a_unit_vector_too"

    def embed(self, texts):
        return super().embed(sorted(texts))


class NeverTheSame(Embedder):
    fails = "the_same_text_gives_the_same_row"
    turn = itertools.count()

    def embed(self, texts):
        return super().embed([f"{text} {next(self.turn)} salt" for text in texts])


class WantsTexts(Embedder):
    fails = "no_texts_are_no_rows"

    def embed(self, texts):
        if not texts:
            raise BackendRefused("there is nothing to embed")
        return super().embed(texts)


class OneBatch(Embedder):
    fails = "a_large_batch_is_one_call"

    def embed(self, texts):
        return super().embed(texts[:100])


class ForgetsItsName(Embedder):
    fails = "the_identity_names_the_model"
    identity = EmbeddingIdentity("", 384)


class TallQueries(Embedder):
    fails = "a_query_is_a_unit_vector_too"

    def embed_query(self, text):
        return self.embed([text])[:1]


class CannotEnd(Embedder):
    fails = "it_can_be_closed"

    def close(self):
        raise RuntimeError("still busy")


class TestEmbedders(EmbedderContract):
    fault = Embedder

    @pytest.fixture
    def embedder(self):
        return self.fault()


class Away(Faulty, HashEmbedder):
    contract = RemoteEmbedderContract


class InventsVectors(Away):
    fails = "a_service_that_is_away_is_said_to_be"


class TestAways(RemoteEmbedderContract):
    fault = Away

    @pytest.fixture
    def embedder(self):
        return HashEmbedder()

    @pytest.fixture
    def unreachable(self):
        return self.fault()


# Extractors


class Extractor(Faulty, OutlineExtractor):
    contract = ExtractorContract


class Backwards(Extractor):
    fails = "everything_is_found_in_order"

    def extract(self, text):
        found = super().extract(text)
        return replace(found, facts=found.facts[::-1])


class Untidy(Extractor):
    fails = "what_is_found_is_text_and_json"

    def extract(self, text):
        found = super().extract(text)
        return replace(
            found, facts=tuple(replace(fact, content=f" {fact.content}") for fact in found.facts)
        )


class Lists(Extractor):
    fails = "the_records_can_be_kept_and_compared"

    def extract(self, text):
        return replace(super().extract(text), facts=list(super().extract(text).facts))


class TakesAnything(Extractor):
    fails = "a_malformed_text_is_refused"

    def extract(self, text):
        try:
            return super().extract(text)
        except Exception:
            return Extraction()


class CannotStop(Extractor):
    fails = "it_can_be_closed"

    def close(self):
        raise RuntimeError("still busy")


class TestExtractors(ExtractorContract):
    fault = Extractor
    text = "fact: One | a; b\nTwo\nedge: a | knows | b\nattr: a | age | 5"

    @pytest.fixture
    def extractor(self):
        return self.fault()

    @pytest.fixture
    def passage(self):
        return self.text

    @pytest.fixture
    def found(self):
        return OutlineExtractor().extract(self.text)

    @pytest.fixture
    def malformed(self):
        return "edge: only | two"


# Tokenizers


class Tokenizer(Faulty, HeuristicTokenizer):
    contract = TokenizerContract


class Learns(Tokenizer):
    fails = "a_count_is_a_whole_number_and_stays"
    known = frozenset()

    def count(self, text):
        count = super().count(text) - (text in self.known)
        self.known = self.known | {text}
        return count


class AlwaysOneMore(Tokenizer):
    fails = "nothing_has_no_tokens"

    def count(self, text):
        return super().count(text) + 1


class Saturates(Tokenizer):
    fails = "more_text_has_more_tokens"

    def count(self, text):
        return min(super().count(text), 100)


class KnowsSpecials(Tokenizer):
    fails = "names_of_special_tokens_are_plain_text"

    def count(self, text):
        return super().count(re.sub(r"<\|\w+\|>", "x", text))


class CutsShort(Tokenizer):
    fails = "a_cut_is_the_longest_that_fits"

    def cut(self, text, limit):
        return super().cut(text, limit - 1) if limit else 0


class TestTokenizers(TokenizerContract):
    fault = Tokenizer

    @pytest.fixture
    def tokenizer(self):
        return self.fault()


# Plugins: each fault is the source of a module


GOOD = """
from veles_core import Backend, BackendSettings, hookimpl, variable

class Settings(BackendSettings):
    token: str = variable("SAMPLE_NAME", default="x")

@hookimpl
def veles_tokenizers():
    return [Backend("sample", "a sample", open_it, Settings, install="pip install it")]

def open_it(settings, host):
    import wave
"""


class Plugin(Faulty):
    contract = PluginContract
    source = GOOD


class OffersNothing(Plugin):
    fails = "it_offers_backends"
    source = GOOD.replace("return [", "return [] and [")


class ShoutsItsName(Plugin):
    fails = "backends_describe_themselves"
    source = GOOD.replace('"sample"', '"SAMPLE 1"')


class ShowsItsToken(Plugin):
    fails = "settings_are_named_variables"
    source = GOOD.replace("SAMPLE_NAME", "SAMPLE_TOKEN")


class AnswersOnce(Plugin):
    fails = "hooks_may_be_asked_twice"
    source = (
        GOOD + "\nveles_tokenizers = hookimpl(lambda _answer=veles_tokenizers(): [_answer.pop()])"
    )


class ImportsAtOnce(Plugin):
    fails = "nothing_heavy_is_imported_before_open"
    source = "import wave" + GOOD


class NoWayOut(Plugin):
    fails = "a_missing_library_has_a_way_out"
    source = GOOD.replace(', install="pip install it"', "")


class TestPlugins(PluginContract):
    fault = Plugin

    @pytest.fixture
    def plugin(self, tmp_path, monkeypatch):
        name = f"sample_{self.fault.__name__}".lower()
        (tmp_path / f"{name}.py").write_text(self.fault.source)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path.cwd()}")
        module = ModuleType(name)
        exec(self.fault.source, module.__dict__)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    @pytest.fixture
    def heavy(self):
        return ["wave"]


for base in (TestIndexes, TestEmbedders, TestAways, TestExtractors, TestTokenizers, TestPlugins):
    for fault in FAULTY[base.fault.contract]:
        globals()[f"Test{fault.__name__}"] = type(
            f"Test{fault.__name__}", (base,), {"fault": fault}
        )
del base, fault
