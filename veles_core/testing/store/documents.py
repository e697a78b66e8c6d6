"""What a store promises of documents and of provenance."""

import hashlib
from dataclasses import replace

from veles_core.protocols import Store
from veles_core.records import Document, EmbeddingIdentity
from veles_core.testing.store.fixtures import StoreFixtures


def keys(documents: list[Document]) -> list[str]:
    """The keys of documents, in their order."""
    return [document.key for document in documents]


def digested(document: Document) -> Document:
    """The same with the digest of its value: under CI pytest prints differences whole,
    and a mebibyte's takes minutes."""
    return replace(document, value=hashlib.sha256(document.value).digest())


class DocumentsContract(StoreFixtures):
    """Documents are bytes under a key of a namespace."""

    def test_values_come_back_byte_for_byte(self, store: Store) -> None:
        documents = [
            Document("empty", b""),
            Document("all", bytes(range(256))),
            Document("large", b"\x00\xff" * (1 << 19)),
            Document("expiring", b"x", 4_000_000_000.25),
        ]
        store.put_documents("n", documents)
        expected = {document.key: digested(document) for document in documents}
        found = store.get_documents("n", list(expected))
        assert {key: digested(document) for key, document in found.items()} == expected
        scanned = [digested(document) for document in store.scan_documents("n", None, 9)]
        assert scanned == [expected[key] for key in sorted(expected)]

    def test_put_replaces_by_key(self, store: Store) -> None:
        store.put_documents("n", [Document("k", b"old", 4_000_000_000.0), Document("l", b"l")])
        store.put_documents("n", [Document("k", b"first"), Document("k", b"new")])
        assert store.get_documents("n", ["k"]) == {"k": Document("k", b"new")}
        assert keys(store.scan_documents("n", None, 9)) == ["k", "l"]

    def test_keys_ascend_by_code_point(self, store: Store) -> None:
        ascending = ["", "A", "Z", "a", "a b", "a-b", "a_b", "aa", "b", "é", "\uffff", "😀"]
        store.put_documents("n", [Document(key, key.encode()) for key in reversed(ascending)])
        assert keys(store.scan_documents("n", None, 99)) == ascending
        assert keys(store.scan_documents("n", "a b", 3)) == ["a-b", "a_b", "aa"]
        assert keys(store.scan_documents("n", "az", 2)) == ["b", "é"]
        assert store.scan_documents("n", "😀", 9) == []
        assert store.scan_documents("n", None, 0) == []

    def test_namespaces_are_apart(self, store: Store) -> None:
        assert store.namespaces() == []
        store.put_documents("two", [Document("k", b"2")])
        store.put_documents("one", [Document("k", b"1"), Document("only", b"")])
        assert store.namespaces() == ["one", "two"]
        assert store.get_documents("two", ["k", "only"]) == {"k": Document("k", b"2")}
        assert store.delete_documents("one", ["k"]) == 1
        assert store.get_documents("two", ["k"]) == {"k": Document("k", b"2")}
        assert keys(store.scan_documents("one", None, 9)) == ["only"]
        store.delete_documents("two", ["k"])
        assert store.namespaces() == ["one"]

    def test_delete_counts_what_there_was(self, store: Store) -> None:
        store.put_documents("n", [Document("a", b""), Document("b", b"")])
        assert store.delete_documents("n", ["a", "absent"]) == 1
        assert store.delete_documents("n", ["a"]) == 0
        assert store.delete_documents("elsewhere", ["b"]) == 0
        assert store.get_documents("n", ["a", "b"]) == {"b": Document("b", b"")}

    def test_many_documents_pass_in_one_batch(self, store: Store, huge: int) -> None:
        wanted = [f"{n:06}" for n in range(7 * huge)]
        store.put_documents("n", [Document(key, key.encode()) for key in wanted[:huge]])
        assert len(store.get_documents("n", wanted)) == huge
        assert keys(store.scan_documents("n", wanted[huge - 11], 99)) == wanted[huge - 10 : huge]
        assert store.delete_documents("n", wanted) == huge
        assert store.namespaces() == []

    def test_provenance_is_what_was_last_recorded(self, store: Store) -> None:
        assert store.provenance() is None
        for identity in (
            EmbeddingIdentity("model-a", 8, semantic=False),
            EmbeddingIdentity("modèle b", None),
        ):
            store.set_provenance(identity)
            assert store.provenance() == identity
        assert store.namespaces() == []
