"""What an embedder promises: one unit vector a text, in order, whatever else is in the batch."""

import contextlib

import numpy as np
import pytest

from veles_core.errors import BackendRefused, BackendUnavailable
from veles_core.protocols import Embedder, QueryEmbedder

TEXTS = [
    "The staging cluster has six nodes",
    "Backups run at two in the morning",
    "会议室预订系统的超时设置为八秒",
    "emoji 👩‍👩‍👧, مرحبا, a tab\tand\r\nlines",
    "<|endoftext|> is ordinary text here",
    "x",
]


class EmbedderContract:
    """Every promise of ``veles_core.protocols.Embedder``, and of ``QueryEmbedder`` if offered.

    Subclass it and give the fixture ``embedder``.
    """

    @pytest.fixture
    def embedder(self) -> Embedder:
        """The embedder, open; the test doesn't close it."""
        raise NotImplementedError("give an embedder fixture")

    def test_rows_are_unit_vectors_of_one_dimension(self, embedder: Embedder) -> None:
        found = embedder.embed(TEXTS)
        assert found.dtype == np.float32
        assert found.shape[0] == len(TEXTS)
        assert np.linalg.norm(found, axis=1) == pytest.approx([1.0] * len(TEXTS), abs=1e-4)
        assert embedder.identity.dimension in (None, found.shape[1])
        assert embedder.embed(["another"]).shape == (1, found.shape[1])

    def test_order_is_kept_and_neighbours_change_nothing(self, embedder: Embedder) -> None:
        together = embedder.embed(TEXTS)
        backwards = embedder.embed(TEXTS[::-1])[::-1]
        alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
        np.testing.assert_allclose(backwards, together, atol=1e-3)
        np.testing.assert_allclose(alone, together, atol=1e-3)
        # Different texts must not share a row, or an order could not be told at all.
        assert len({row.tobytes() for row in together}) == len(TEXTS)

    def test_the_same_text_gives_the_same_row(self, embedder: Embedder) -> None:
        first, other, again = embedder.embed([TEXTS[0], TEXTS[1], TEXTS[0]])
        np.testing.assert_allclose(first, again, atol=1e-3)
        assert float(first @ again) > float(first @ other)

    def test_no_texts_are_no_rows(self, embedder: Embedder) -> None:
        assert len(embedder.embed([])) == 0

    def test_a_large_batch_is_one_call(self, embedder: Embedder) -> None:
        texts = [f"note {n} of a large batch" for n in range(300)]
        found = embedder.embed(texts)
        assert len(found) == len(texts)
        np.testing.assert_allclose(found[257], embedder.embed([texts[257]])[0], atol=1e-3)

    @pytest.mark.parametrize("text", ["", " ", "…", "\x00", "y" * 2048, "字" * 682])
    def test_an_odd_text_is_embedded_or_refused(self, embedder: Embedder, text: str) -> None:
        with contextlib.suppress(BackendRefused):
            (row,) = embedder.embed([text])
            assert float(np.linalg.norm(row)) == pytest.approx(1.0, abs=1e-4)

    def test_the_identity_names_the_model(self, embedder: Embedder) -> None:
        before = embedder.identity
        assert before.model
        dimension = embedder.embed(["one"]).shape[1]
        assert embedder.identity.model == before.model
        assert before.dimension in (None, dimension)
        assert embedder.identity.dimension in (None, dimension)

    def test_a_query_is_a_unit_vector_too(self, embedder: Embedder) -> None:
        rows = embedder.embed(TEXTS)
        for number, text in enumerate(TEXTS[:3]):
            query = (
                embedder.embed_query(text)
                if isinstance(embedder, QueryEmbedder)
                else embedder.embed([text])[0]
            )
            assert query.shape == rows[0].shape
            assert query.dtype == np.float32
            assert float(np.linalg.norm(query)) == pytest.approx(1.0, abs=1e-4)
            assert int(np.argmax(rows @ query)) == number

    def test_it_can_be_closed(self, embedder: Embedder) -> None:
        embedder.close()


class RemoteEmbedderContract(EmbedderContract):
    """What an embedder promises besides that asks a service. Give ``unreachable`` too."""

    @pytest.fixture
    def unreachable(self) -> Embedder:
        """The embedder, configured for an address where nothing listens."""
        raise NotImplementedError("give an unreachable fixture")

    def test_a_service_that_is_away_is_said_to_be(self, unreachable: Embedder) -> None:
        assert unreachable.identity.model
        with pytest.raises(BackendUnavailable) as refusal:
            unreachable.embed(["one"])
        assert refusal.value.message
        unreachable.close()
