"""The hash embedder: unit vectors for any text, near where surfaces are near."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veles_core.builtin.hash_embedder import HashEmbedder
from veles_core.records import EmbeddingIdentity

embedder = HashEmbedder()
SLOTS = {25: -0.1961, 36: 0.1601, 292: 0.1991, 314: 0.1961, 342: -0.1628, 380: -0.229}


def similarity(one, other):
    first, second = embedder.embed([one, other])
    return float(first @ second)


def test_it_says_what_it_is():
    assert embedder.identity == EmbeddingIdentity("hash-v1", 384, semantic=False)


@settings(deadline=None)
@given(st.lists(st.text(st.characters()), max_size=5))
def test_every_text_gets_a_unit_vector(texts):
    matrix = embedder.embed(texts)
    assert matrix.shape == (len(texts), 384)
    assert matrix.dtype == np.float32
    assert np.einsum("ij,ij->i", matrix, matrix) == pytest.approx(np.ones(len(texts)), abs=1e-6)


@settings(deadline=None)
@given(st.lists(st.text(st.characters()), min_size=1, max_size=5))
def test_a_text_embeds_alike_in_any_company(texts):
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert embedder.embed(texts).tobytes() == alone.tobytes()


@pytest.mark.parametrize("text", ["", "   ", "?!…", "---", "\ud800"])
def test_text_without_words_gets_one_fixed_vector(text):
    assert embedder.embed([text]).tobytes() == embedder.embed(["*"]).tobytes()


def test_vectors_do_not_depend_on_the_hash_seed():
    code = (
        "import sys; from veles_core.builtin.hash_embedder import HashEmbedder; "
        "sys.stdout.buffer.write(HashEmbedder().embed(['We moved to parking_lot 会议室'])[0])"
    )
    vectors = {
        subprocess.run(
            [sys.executable, "-X", "utf8", "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert vectors == {embedder.embed(["We moved to parking_lot 会议室"]).tobytes()}


def test_vectors_stay_what_stores_were_filled_with():
    """A change of terms, weights or hashes needs a new model name, or a store mixes two kinds."""
    vector = embedder.embed(["The deploy of billing-worker failed 会议室"])[0]
    strongest = {int(slot): round(float(vector[slot]), 4) for slot in SLOTS}
    assert (embedder.identity.model, strongest) == ("hash-v1", SLOTS)


@pytest.mark.parametrize(
    ("query", "near", "far"),
    [
        ("deploy failed", "The deploy failed on Friday", "Lunch is at noon on Friday"),
        ("deployment failure", "The deploy failed on Friday", "Lunch is at noon on Friday"),
        ("parking lot", "parking_lot replaced the mutex", "The mutex was standard"),
        ("postgers conection", "The Postgres connection broke", "The Redis cache was cold"),
        ("超时设置", "会议室预订系统的超时设置为八秒", "重启后恢复正常"),
        ("CAFÉ CREME", "a café crème, please", "a black tea, please"),
    ],
)
def test_what_looks_alike_is_nearer(query, near, far):
    assert similarity(query, near) > similarity(query, far) + 0.1


def test_small_words_weigh_little():
    assert similarity("who is it that they have", "what is it that you had") < 1
    assert abs(similarity("it is in the broker", "it is in the garden")) < 0.3


def test_repetition_counts_less_each_time():
    once, twice, often = embedder.embed(
        ["broker restart", "broker broker restart", "broker restart " + "broker " * 50]
    )
    broker = embedder.embed(["broker"])[0]
    assert once @ broker < twice @ broker < often @ broker
    assert often @ embedder.embed(["restart"])[0] > 0.1
