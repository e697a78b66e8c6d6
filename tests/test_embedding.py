"""What embedders share: vectors checked until they are some, and prefixes by a model's name."""

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core.embedding.options import Prefixes, RemoteEmbedderSettings, usual_prefixes
from veles_core.embedding.vectors import unit_rows
from veles_core.errors import BackendRefused
from veles_core.settings import load

NUMBERS = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**60), 2**60))
VECTORS = st.integers(1, 6).flatmap(
    lambda size: st.lists(
        st.lists(NUMBERS, min_size=size, max_size=size).filter(any), min_size=1, max_size=5
    )
)


@given(VECTORS)
def test_finite_numbers_become_unit_rows_of_the_same_direction(vectors: list[list[float]]) -> None:
    rows = unit_rows(vectors, len(vectors), None, "it")
    assert rows.dtype == np.float32
    assert rows.shape == (len(vectors), len(vectors[0]))
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    for row, vector in zip(rows, vectors, strict=True):
        largest = max(range(len(vector)), key=lambda i: abs(vector[i]))
        assert abs(row[largest]) == pytest.approx(float(np.abs(row).max()))
        assert math.copysign(1, row[largest]) == math.copysign(1, vector[largest])


ODD = st.recursive(
    st.none() | st.booleans() | st.text(max_size=3) | st.floats() | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=1), inner),
    max_leaves=12,
)


@given(ODD, st.integers(1, 3), st.none() | st.integers(1, 3))
def test_whatever_json_holds_it_is_vectors_or_refused(
    value: object, count: int, dimension: int | None
) -> None:
    with contextlib.suppress(BackendRefused):
        rows = unit_rows(value, count, dimension, "it")
        assert len(rows) == count
        assert dimension in (None, rows.shape[1])
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize(
    ("vector", "said"),
    [
        ([math.nan, 1.0], "not finite"),
        ([math.inf, 1.0], "not finite"),
        ([10**400, 1], "beyond all bounds"),
        ([0.0, -0.0], "zeros"),
        ([None, 1.0], "holds null"),
        ([True, 1.0], "holds booleans"),
        (["1.0", [1.0]], "holds lists and texts"),
        ([], "an empty list"),
        ({"0": 1.0}, "a JSON dict"),
    ],
)
def test_each_refusal_says_what_it_saw(vector: object, said: str) -> None:
    with pytest.raises(BackendRefused, match=said):
        unit_rows([[1.0, 2.0], vector], 2, 2, "it")


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("nomic-ai/nomic-embed-text-v2-moe", "search_query: ", "search_document: "),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("Multilingual-E5-Small:latest", "query: ", "passage: "),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-large", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        (
            "snowflake-arctic-embed:110m",
            "Represent this sentence for searching relevant passages: ",
            "",
        ),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
    ],
)
def test_models_that_want_prefixes_get_their_own(model: str, query: str, document: str) -> None:
    assert usual_prefixes(model) == Prefixes(query, document)


@pytest.mark.parametrize(
    "model", ["qwen3-embedding:0.6b", "intfloat/multilingual-e5-large-instruct"]
)
def test_models_that_take_instructions_get_one_before_queries_only(model: str) -> None:
    prefixes = usual_prefixes(model)
    assert prefixes.query.startswith("Instruct: ")
    assert prefixes.query.rstrip().endswith("Query:")
    assert prefixes.document == ""


@pytest.mark.parametrize(
    "model",
    ["all-minilm", "bge-m3", "text-embedding-3-small", "emb-a", "some5-model", "model-e5", ""],
)
def test_other_models_get_none(model: str) -> None:
    assert usual_prefixes(model) == Prefixes()


def test_configured_prefixes_win_and_none_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VELESDB_MEMORY_EMBEDDER_QUERY_PREFIX", "ask: ")
    chosen = load(RemoteEmbedderSettings).prefixes("nomic-embed-text")
    assert chosen == Prefixes("ask: ", "search_document: ")
    monkeypatch.setenv("VELESDB_MEMORY_EMBEDDER_DOCUMENT_PREFIX", "none")
    assert load(RemoteEmbedderSettings).prefixes("nomic-embed-text") == Prefixes("ask: ", "")
