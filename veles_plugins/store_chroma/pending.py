"""Documents that an open transaction has changed: seen by it, written at its end.

They come last, after its facts have appeared: a document may say that facts are there,
as the state of a job does.
"""

from collections.abc import Sequence

from veles_core.records import Document
from veles_plugins.store_chroma.documents import Documents
from veles_plugins.store_chroma.rows import expiry, ordered_float

# By namespace and key; None is deleted.
Changes = dict[str, dict[str, Document | None]]


class PendingDocuments:
    """The documents at an instant, as the transaction with these changes sees them."""

    def __init__(self, stored: Documents, changes: Changes, now: float) -> None:
        self._stored = stored
        self._changes = changes
        self._now = ordered_float(now)

    def put(self, namespace: str, documents: Sequence[Document]) -> None:
        """Insert, or replace by key, at the transaction's end."""
        changed = self._changes.setdefault(namespace, {})
        changed |= {document.key: document for document in documents}

    def get(self, namespace: str, keys: Sequence[str]) -> dict[str, Document]:
        """The visible ones of these, in the order asked."""
        changed = self._visible(namespace)
        unchanged = [key for key in keys if key not in self._changes.get(namespace, {})]
        found = self._stored.get(namespace, unchanged) | changed
        return {key: found[key] for key in keys if key in found}

    def delete(self, namespace: str, keys: Sequence[str]) -> int:
        """Delete by key, at the transaction's end; how many were visible."""
        count = len(self.get(namespace, keys))
        self._changes.setdefault(namespace, {}).update(dict.fromkeys(keys))
        return count

    def scan(self, namespace: str, after: str | None, limit: int) -> list[Document]:
        """Up to ``limit`` documents above ``after``, ascending."""
        changes = self._changes.get(namespace, {})
        found = self._stored.scan(namespace, after, limit + len(changes))
        kept = [document for document in found if document.key not in changes]
        new = [
            document
            for key, document in self._visible(namespace).items()
            if after is None or key > after
        ]
        return sorted(kept + new, key=lambda document: document.key)[:limit]

    def namespaces(self) -> list[str]:
        """The namespaces that hold a visible document."""
        names = {*self._stored.namespaces(), *self._changes}
        return [name for name in sorted(names) if self.scan(name, None, 1)]

    def write(self) -> None:
        """Make the changes."""
        for namespace, changed in self._changes.items():
            gone = [key for key, document in changed.items() if document is None]
            if gone:
                self._stored.delete(namespace, gone)
            self._stored.put(namespace, [one for one in changed.values() if one is not None])

    def _visible(self, namespace: str) -> dict[str, Document]:
        return {
            key: document
            for key, document in self._changes.get(namespace, {}).items()
            if document is not None and expiry(document.expires_at) > self._now
        }
