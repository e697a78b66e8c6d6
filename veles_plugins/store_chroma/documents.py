"""Documents in Chroma. A row of its own says that a namespace has been used."""

from collections.abc import Sequence

from veles_core.records import Document
from veles_plugins.store_chroma import rows
from veles_plugins.store_chroma.predicates import Where, both
from veles_plugins.store_chroma.rows import document_id
from veles_plugins.store_chroma.table import Table


class Documents:
    """The documents at an instant."""

    def __init__(self, table: Table, now: float) -> None:
        self._table = table
        self._now = rows.ordered_float(now)

    def put(self, namespace: str, documents: Sequence[Document]) -> None:
        """Insert, or replace by key; the last of a key stays."""
        latest = {document_id(namespace, document.key): document for document in documents}
        if not latest:
            return
        marker = f"namespace.{namespace.encode().hex()}"
        if not self._table.get([marker]):
            self._table.put([marker], [rows.spread(marker)], [{"used": namespace}])
        self._table.put(
            list(latest),
            [rows.spread(id) for id in latest],
            [rows.document_row(namespace, document) for document in latest.values()],
        )

    def get(self, namespace: str, keys: Sequence[str]) -> dict[str, Document]:
        """The visible ones of these, in the order asked."""
        found = self._table.get(document_id(namespace, key) for key in keys)
        documents = {
            key: rows.to_document(id, found[id])
            for key in keys
            if (id := document_id(namespace, key)) in found
        }
        return {
            key: document
            for key, document in documents.items()
            if rows.expiry(document.expires_at) > self._now
        }

    def delete(self, namespace: str, keys: Sequence[str]) -> int:
        """Delete by key; how many were visible."""
        count = len(self.get(namespace, keys))
        self._table.delete(document_id(namespace, key) for key in keys)
        return count

    def scan(self, namespace: str, after: str | None, limit: int) -> list[Document]:
        """Up to ``limit`` documents above ``after``: the keys are in the row ids."""
        keys = sorted(rows.document_key(id) for id in self._table.find(self._in(namespace)))
        wanted = [key for key in keys if after is None or key > after][:limit]
        return list(self.get(namespace, wanted).values())

    def namespaces(self) -> list[str]:
        """The namespaces that hold a visible document."""
        used = sorted(
            row["used"]
            for row in self._table.find_rows({"used": {"$ne": 0}}).values()
            if "used" in row
        )
        return [name for name in used if self._table.find(self._in(name), limit=1)]

    def reclaim(self, limit: int) -> int:
        """Delete up to ``limit`` expired documents; how many there were."""
        expired = self._table.find({"expires": {"$lte": self._now}}, limit=limit) if limit else []
        self._table.delete(expired)
        return len(expired)

    def _in(self, namespace: str) -> Where:
        return both({"namespace": namespace}, {"expires": {"$gt": self._now}})
