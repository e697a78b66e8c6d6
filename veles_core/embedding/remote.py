"""The embedder that a protocol gets for free once it can ask its service for vectors."""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from veles_core.embedding.options import Prefixes, usual_prefixes
from veles_core.embedding.vectors import unit_rows
from veles_core.errors import BackendRefused
from veles_core.records import EmbeddingIdentity
from veles_core.remote import Remote

if TYPE_CHECKING:
    from veles_core.records import Matrix, Vector

BATCH: Final = 16  # texts a request; some services refuse more than 32, slow ones need time
SHORTEST_CUT: Final = 128  # characters of a query that any model's window holds
_TOO_LONG: Final = (400, 413)  # what services answer to a text over the model's window

log = logging.getLogger(__name__)


class RemoteEmbedder:
    """Embeds by ``ask``, which sends texts to ``remote`` and returns what stands for their vectors.

    Whatever ``ask`` returns is checked. The dimension is that of the first answer; later
    answers must have it. A text over the model's window is refused by the service, with
    its reason; a query is cut until it fits, and the log says so.
    """

    def __init__(
        self,
        remote: Remote,
        model: str,
        prefixes: Prefixes,
        ask: Callable[[list[str]], object],
    ) -> None:
        self._remote = remote
        self._prefixes = prefixes
        self._ask = ask
        self._name = _named(model, prefixes)
        self._dimension: int | None = None
        self._learning = threading.Lock()

    @property
    def identity(self) -> EmbeddingIdentity:
        """The model, and its dimension once an answer has shown it."""
        return EmbeddingIdentity(self._name, self._dimension)

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """One unit row a text, in order, asked for in batches; all or an error."""
        marked = [self._prefixes.document + text for text in texts]
        batches = [marked[start : start + BATCH] for start in range(0, len(marked), BATCH)]
        if not batches:
            return np.empty((0, self._dimension or 0), np.float32)
        return np.concatenate([self._rows(batch) for batch in batches])

    def embed_query(self, text: str) -> "Vector":
        """The unit vector of a query, or of as much of its beginning as the model takes."""
        try:
            row: Vector = self._rows([self._prefixes.query + text])[0]
        except BackendRefused as error:
            if error.actual not in _TOO_LONG or len(text) <= SHORTEST_CUT:
                raise
            log.warning("%s; embedding only the first half of the query", error.message)
            return self.embed_query(text[: len(text) // 2])
        return row

    def close(self) -> None:
        """Close the connections."""
        self._remote.close()

    def _rows(self, texts: list[str]) -> "Matrix":
        vectors = self._ask(texts)
        with self._learning:
            rows = unit_rows(vectors, len(texts), self._dimension, self._remote.source)
            self._dimension = rows.shape[1]
        return rows


def _named(model: str, prefixes: Prefixes) -> str:
    """The name that a store is filled under: another document prefix makes other vectors."""
    if prefixes.document == usual_prefixes(model).document:
        return model
    return f"{model} with document prefix {prefixes.document!r}"
