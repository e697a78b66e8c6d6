"""A collection of Chroma as a table: batches of any size, rows by id, typed failures."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import httpx
import numpy as np
from chromadb.errors import ChromaError

from veles_core.errors import BackendUnavailable, StoreError
from veles_plugins.store_chroma.predicates import Where
from veles_plugins.store_chroma.rows import Row

if TYPE_CHECKING:
    from veles_core.records import Vector

BATCH: Final = 5_000  # Chroma takes 5,461 rows at once, and SQLite 32,766 parameters


@contextmanager
def typed_failures(where: str, while_connecting: bool = False) -> Iterator[None]:
    """Turn the errors of Chroma's client into ours."""
    # A server that is away shows as ValueError when the client is made.
    away = (httpx.HTTPError, ConnectionError, *((ValueError,) if while_connecting else ()))
    try:
        yield
    except ChromaError as error:
        raise StoreError(f"{where} refused: {error}") from error
    except away as error:
        raise BackendUnavailable(
            f"{where} did not answer: {error}; trying again may help"
        ) from error


class Table:
    """One collection. Row ids are text; rows are their metadata."""

    def __init__(self, collection: Any, where: str) -> None:
        self._collection = collection
        self._where = where

    def __len__(self) -> int:
        with typed_failures(self._where):
            return int(self._collection.count())

    def get(self, ids: Iterable[str]) -> dict[str, Row]:
        """The rows of those of these ids that are there."""
        return {id: row for id, row, _ in self._each(ids, ["metadatas"])}

    def get_with_content(self, ids: Iterable[str]) -> dict[str, tuple[Row, str]]:
        """The same, each with its document."""
        return {id: (row, text) for id, row, text in self._each(ids, ["metadatas", "documents"])}

    def _each(self, ids: Iterable[str], include: list[str]) -> Iterator[tuple[str, Row, str]]:
        for batch in batches(list(dict.fromkeys(ids))):
            with typed_failures(self._where):
                found = self._collection.get(ids=batch, include=include)
            contents = found["documents"] or [""] * len(found["ids"])
            yield from zip(found["ids"], found["metadatas"], contents, strict=True)

    def vectors(self, ids: Iterable[str]) -> "dict[str, Vector]":
        """The vectors of those of these ids that are there."""
        vectors: dict[str, Vector] = {}
        for batch in batches(list(dict.fromkeys(ids))):
            with typed_failures(self._where):
                found = self._collection.get(ids=batch, include=["embeddings"])
            rows = np.asarray(found["embeddings"], np.float32)
            vectors |= zip(found["ids"], rows, strict=True)
        return vectors

    def find(self, where: Where, limit: int | None = None) -> list[str]:
        """The ids of the rows that fulfil a condition, in no order."""
        with typed_failures(self._where):
            return list(self._collection.get(where=where, limit=limit, include=[])["ids"])

    def find_rows(self, where: Where) -> dict[str, Row]:
        """The rows that fulfil a condition."""
        with typed_failures(self._where):
            found = self._collection.get(where=where, include=["metadatas"])
        return dict(zip(found["ids"], found["metadatas"], strict=True))

    def find_any(self, column: str, values: Sequence[int]) -> dict[str, Row]:
        """The rows whose ``column`` is one of these."""
        rows: dict[str, Row] = {}
        for batch in batches(values):
            rows |= self.find_rows({column: {"$in": batch}})
        return rows

    def put(
        self,
        ids: Sequence[str],
        vectors: "Sequence[Vector] | Sequence[Sequence[float]]",
        rows: Sequence[Row],
        contents: Sequence[str] | None = None,
    ) -> None:
        """Insert, or replace by id. Metadata are merged; None removes a key."""
        for start in range(0, len(ids), BATCH):
            part = slice(start, start + BATCH)
            with typed_failures(self._where):
                self._collection.upsert(
                    ids=ids[part],
                    embeddings=vectors[part],
                    metadatas=rows[part],
                    documents=contents[part] if contents is not None else None,
                )

    def update(self, ids: Sequence[str], rows: Sequence[Row]) -> None:
        """Merge metadata into rows; absent ids are passed over."""
        for start in range(0, len(ids), BATCH):
            part = slice(start, start + BATCH)
            with typed_failures(self._where):
                self._collection.update(ids=ids[part], metadatas=rows[part])

    def delete(self, ids: Iterable[str]) -> None:
        """Delete rows; absent ids are passed over."""
        for batch in batches(list(dict.fromkeys(ids))):
            with typed_failures(self._where):
                self._collection.delete(ids=batch)

    def nearest(self, vector: "Vector", count: int) -> dict[str, float]:
        """About the ``count`` rows with the largest inner product, and that product."""
        with typed_failures(self._where):
            found = self._collection.query(
                query_embeddings=[vector], n_results=count, include=["distances"]
            )
        (ids,), (distances,) = found["ids"], found["distances"]
        return {id: 1.0 - distance for id, distance in zip(ids, distances, strict=True)}


def batches(items: Sequence[Any]) -> Iterator[list[Any]]:
    """Items in lists that Chroma takes at once."""
    for start in range(0, len(items), BATCH):
        yield list(items[start : start + BATCH])
