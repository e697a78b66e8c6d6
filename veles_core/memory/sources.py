"""Stored sources: the exact bytes behind ``ctx://source/…`` handles, kept as documents.

A source is its media type on a line of its own (empty for text), then its bytes. Nothing
is embedded: a source is fetched by its handle, never searched.
"""

import base64
from collections.abc import Sequence
from typing import Final

from veles_core.context.handles import parse_handle
from veles_core.context.model import Media, Source
from veles_core.errors import NotFound
from veles_core.memory.answers import RetrievedSource
from veles_core.protocols import Store
from veles_core.records import Document

NAMESPACE: Final = "source"


def keep(store: Store, sources: Sequence[Source], expires_at: float | None) -> None:
    """Inside a transaction: store sources; a lifetime may grow, never shrink."""
    known = store.get_documents(NAMESPACE, [str(source.id) for source in sources])
    documents = []
    for source in sources:
        earlier = known.get(str(source.id))
        if earlier is None or _outlives(expires_at, earlier.expires_at):
            documents.append(Document(str(source.id), _packed(source), expires_at))
    if documents:
        store.put_documents(NAMESPACE, documents)


def retrieve(store: Store, handle: str) -> RetrievedSource:
    """The original behind a handle; raises NotFound if it was never stored or has expired."""
    key = str(parse_handle(handle))
    found = store.get_documents(NAMESPACE, [key]).get(key)
    if found is None:
        raise NotFound(
            f"handle {handle} leads to no stored source: it was compiled with store_sources off, "
            "or has expired",
            field="handle",
            actual=handle,
        )
    mime, _, data = found.value.partition(b"\n")
    if not mime:
        return RetrievedSource(handle, data.decode())
    return RetrievedSource(handle, "", Media(mime.decode(), base64.b64encode(data).decode()))


def _packed(source: Source) -> bytes:
    return (source.mime or "").encode() + b"\n" + source.data


def _outlives(expires_at: float | None, other: float | None) -> bool:
    return other is not None and (expires_at is None or expires_at > other)
