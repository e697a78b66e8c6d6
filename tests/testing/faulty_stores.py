"""Stores with one fault each: the default store, with one promise broken.

Each says which tests of the contract it has to fail. The test classes over them are made at
the end; ``test_contracts_bite.py`` runs those tests.
"""
# mypy: ignore-errors
# ruff: noqa: ARG002  (a fault is often that an argument is not used)

import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veles_core.builtin.exact_index import ExactIndex
from veles_core.clock import Clock
from veles_core.hookspecs import Host
from veles_core.records import ABOUT, Edge, FactRecord, Hit, Predicate
from veles_core.store import LedgerStore
from veles_core.testing import StoreContract, WordSearchContract

BITES: dict[type["Sound"], str] = {}
ALL = 1_000_000


class Sound(LedgerStore):
    """No fault: what the others derive from."""

    fails = ""

    def __init__(self, host: Host) -> None:
        super().__init__(host, ExactIndex)
        self.host = host

    def __init_subclass__(cls) -> None:
        BITES[cls] = cls.fails


# Predicates


class PythonEquality(Sound):
    """Compares values as Python does: True is 1, and integers meet floats as floats."""

    fails = "types_are_never_mixed every_value_compares_exactly_with_every_other"

    def scan_facts(self, after, limit, predicates=(), internal=False):
        return [
            fact
            for fact in super().scan_facts(after, ALL, (), internal)
            if all(self._holds(fact.metadata.get(p.field), p) for p in predicates)
        ][:limit]

    @staticmethod
    def _holds(value: Any, predicate: Predicate) -> bool:
        with suppress(TypeError):
            return {
                "eq": lambda a, b: a == b,
                "ne": lambda a, b: a != b,
                "lt": lambda a, b: a < b,
                "le": lambda a, b: a <= b,
                "gt": lambda a, b: a > b,
                "ge": lambda a, b: a >= b,
            }[predicate.op](value, predicate.value)
        return False


class ChangesPredicates(Sound):
    """Changes each predicate before it asks."""

    def change(self, predicates: Sequence[Predicate]) -> list[Predicate]:
        raise NotImplementedError

    def scan_facts(self, after, limit, predicates=(), internal=False):
        return super().scan_facts(after, limit, self.change(predicates), internal)

    def search(self, vector, k, predicates=()):
        return super().search(vector, k, self.change(predicates))


class ShortStrings(ChangesPredicates):
    """Looks at the beginning of a text only."""

    fails = "long_strings_compare_to_their_last_character"

    def put_facts(self, records):
        super().put_facts(
            [
                replace(
                    one,
                    fact=replace(
                        one.fact, metadata={k: self._cut(v) for k, v in one.fact.metadata.items()}
                    ),
                )
                for one in records
            ]
        )

    def change(self, predicates):
        return [replace(p, value=self._cut(p.value)) for p in predicates]

    @staticmethod
    def _cut(value: Any) -> Any:
        return value[:64] if isinstance(value, str) else value


class NestedFields(ChangesPredicates):
    """Takes a dot in a field's name for a path."""

    fails = "any_key_is_a_field"

    def change(self, predicates):
        return [replace(p, field=p.field.split(".")[0]) for p in predicates]


class FirstPredicateOnly(ChangesPredicates):
    fails = "all_predicates_must_hold"

    def change(self, predicates):
        return list(predicates)[:1]


class IgnoresHubs(ChangesPredicates):
    fails = "attributes_of_hubs_count_if_asked"

    def change(self, predicates):
        return [replace(p, through_hubs=False) for p in predicates]


class FiltersLast(Sound):
    """Takes the first or the nearest, and filters what it took."""

    fails = (
        "pages_of_matching_facts_are_full predicates_come_before_the_search "
        "words_are_searched_among_what_matches"
    )

    def scan_facts(self, after, limit, predicates=(), internal=False):
        page = super().scan_facts(after, limit, (), internal)
        kept = super().scan_facts(after, ALL, predicates, internal)
        return [fact for fact in page if fact in kept]

    def search(self, vector, k, predicates=()):
        kept = {fact.id for fact in super().scan_facts(None, ALL, predicates)}
        return [hit for hit in super().search(vector, k) if hit.id in kept]

    def search_words(self, query, k, predicates=()):
        kept = {fact.id for fact in super().scan_facts(None, ALL, predicates)}
        return [hit for hit in super().search_words(query, k) if hit.id in kept]


class MergesMetadata(Sound):
    """Keeps old keys when a fact is put again."""

    fails = "replaced_metadata_no_longer_matches putting_again_replaces_by_id_and_keeps_edges"

    def put_facts(self, records):
        for one in records:
            old = [fact.metadata for fact in self.get_facts([one.fact.id])]
            merged = {**dict(*old), **one.fact.metadata}
            super().put_facts([replace(one, fact=replace(one.fact, metadata=merged))])


class HubsAreFacts(Sound):
    fails = (
        "hubs_never_match hubs_are_fetched_by_id_and_scanned_only_if_asked "
        "hubs_and_the_deleted_are_never_found records_are_facts_with_vectors_and_hubs_have_none"
    )

    def put_facts(self, records):
        vector = np.eye(8, dtype=np.float32)[0]
        super().put_facts(
            [
                FactRecord(replace(r.fact, kind="fact"), vector) if r.fact.kind == "entity" else r
                for r in records
            ]
        )


class EveryRelationIsAbout(Sound):
    fails = (
        "only_about_edges_to_visible_hubs_count edges_come_back_from_both_ends "
        "an_entitys_edges_are_those_that_say_something_about_it"
    )

    def put_edges(self, edges):
        super().put_edges([replace(edge, relation=ABOUT) for edge in edges])


# Facts


class TidiesContent(Sound):
    fails = "content_comes_back_code_point_for_code_point"

    def put_facts(self, records):
        super().put_facts(
            [
                replace(r, fact=replace(r.fact, content=" ".join(r.fact.content.split())))
                for r in records
            ]
        )


class FloatsForNumbers(Sound):
    fails = "metadata_comes_back_with_its_json_types"

    def get_facts(self, ids):
        return [
            replace(
                fact,
                metadata={
                    k: float(v) if type(v) is int and abs(v) < 2**53 else v
                    for k, v in fact.metadata.items()
                },
            )
            for fact in super().get_facts(ids)
        ]


class RoundsNumbers(Sound):
    """Keeps confidence to two decimals, and whole seconds."""

    fails = "all_parts_of_a_fact_come_back"

    def put_facts(self, records):
        super().put_facts(
            [
                replace(
                    r,
                    fact=replace(
                        r.fact,
                        confidence=round(r.fact.confidence, 2),
                        expires_at=r.fact.expires_at and float(int(r.fact.expires_at)),
                    ),
                )
                for r in records
            ]
        )


class HalfPrecision(Sound):
    fails = "vectors_come_back_bit_for_bit"

    def get_records(self, ids):
        return [
            replace(r, vector=r.vector if r.vector is None else np.float32(np.float16(r.vector)))
            for r in super().get_records(ids)
        ]


class SortsWhatIsAsked(Sound):
    fails = (
        "get_keeps_the_order_asked_and_leaves_out_the_absent "
        "similarities_are_cosines_in_the_order_asked scores_come_in_the_order_asked "
        "they_are_grouped_as_asked_and_ordered_by_unsigned_id"
    )

    def get_facts(self, ids):
        return super().get_facts(sorted(ids))

    def similarities(self, vector, ids):
        return super().similarities(vector, sorted(ids))

    def word_scores(self, query, ids):
        return super().word_scores(query, sorted(ids))

    def edges_from(self, sources, limit):
        return super().edges_from(sorted(sources), limit)


class SignedIds(Sound):
    fails = "ids_are_unsigned_64_bit"

    def scan_facts(self, after, limit, predicates=(), internal=False):
        page = super().scan_facts(after, limit, predicates, internal)
        return sorted(page, key=lambda fact: fact.id - (fact.id >> 63 << 64))


class InclusivePages(Sound):
    fails = "pages_ascend_and_end"

    def scan_facts(self, after, limit, predicates=(), internal=False):
        return super().scan_facts(after and after - 1, limit, predicates, internal)


class ReplacesByDeleting(Sound):
    fails = "putting_again_replaces_by_id_and_keeps_edges"

    def put_facts(self, records):
        self.delete_facts([one.fact.id for one in records])
        super().put_facts(records)


class FirstOfABatch(Sound):
    fails = "the_last_of_one_id_in_a_batch_stays put_replaces_by_key"

    def put_facts(self, records):
        super().put_facts(list({one.fact.id: one for one in reversed(records)}.values()))

    def put_documents(self, namespace, documents):
        super().put_documents(namespace, list({d.key: d for d in reversed(documents)}.values()))


class CountsWhatIsAsked(Sound):
    """Answers how many it was asked to change, whatever there was."""

    fails = (
        "confidence_is_set_on_visible_facts_only delete_removes_the_fact_and_counts_the_visible "
        "delete_counts_the_edges_there_were delete_counts_what_there_was"
    )

    def set_confidence(self, fact_id, confidence):
        super().set_confidence(fact_id, confidence)
        return True

    def delete_facts(self, ids):
        super().delete_facts(ids)
        return len(ids)

    def delete_edges(self, ids):
        super().delete_edges(ids)
        return len(ids)

    def delete_documents(self, namespace, keys):
        super().delete_documents(namespace, keys)
        return len(keys)


class RemembersEdges(Sound):
    """Brings the edges of a fact back when the fact comes back."""

    fails = "deleted_then_put_again_starts_anew putting_an_expired_fact_starts_it_anew"

    def __init__(self, host):
        super().__init__(host)
        self.edges: list[Edge] = []

    def put_edges(self, edges):
        self.edges += edges
        super().put_edges(edges)

    def put_facts(self, records):
        super().put_facts(records)
        super().put_edges(self.edges)


class DislikesNothing(Sound):
    fails = "empty_batches_are_nothing"

    def get_facts(self, ids):
        assert ids, "nothing is asked for"
        return super().get_facts(ids)


class SmallBatches(Sound):
    fails = "huge_batches_pass many_documents_pass_in_one_batch"

    def put_facts(self, records):
        assert len(records) <= 5_000, "too many at once"
        super().put_facts(records)

    def get_documents(self, namespace, keys):
        assert len(keys) <= 5_000, "too many at once"
        return super().get_documents(namespace, keys)


# Search


class MissesTheNearest(Sound):
    fails = "hits_are_the_nearest_with_their_cosine"

    def search(self, vector, k, predicates=()):
        return super().search(vector, k + 1, predicates)[1:]


class PositiveOnly(Sound):
    fails = "k_is_met_if_there_are_as_many"

    def search(self, vector, k, predicates=()):
        return [hit for hit in super().search(vector, k, predicates) if hit.score > 0]


class LaterFirst(Sound):
    """Puts the higher of tied ids first."""

    fails = "equal_scores_are_ordered_by_unsigned_id equal_words_are_ordered_by_unsigned_id"

    def search(self, vector, k, predicates=()):
        hits = super().search(vector, ALL, predicates)
        return sorted(hits, key=lambda hit: (-hit.score, -hit.id))[:k]

    def search_words(self, query, k, predicates=()):
        hits = super().search_words(query, ALL, predicates)
        return sorted(hits, key=lambda hit: (-hit.score, -hit.id))[:k]


class OneHitAScore(Sound):
    fails = "many_identical_vectors_hide_nothing"

    def search(self, vector, k, predicates=()):
        hits = super().search(vector, ALL, predicates)
        return list({hit.score: hit for hit in reversed(hits)}.values())[::-1][:k]


class FindsTheDeleted(Sound):
    fails = "hubs_and_the_deleted_are_never_found a_deleted_end_takes_its_edges_with_it"

    def __init__(self, host):
        super().__init__(host)
        self.deleted: list[int] = []

    def delete_facts(self, ids):
        self.deleted += ids
        return super().delete_facts(ids)

    def search(self, vector, k, predicates=()):
        return [*super().search(vector, k, predicates), *(Hit(id, 0.0) for id in self.deleted)]

    def edges_from(self, sources, limit):
        lost = [Edge(id, id, "lost", id) for id in self.deleted]
        return [*super().edges_from(sources, limit), *lost]


class OldVectors(Sound):
    """Keeps the vector that a fact had first."""

    fails = "a_replaced_vector_moves_the_fact"

    def put_facts(self, records):
        old = {one.fact.id: one.vector for one in self.get_records([r.fact.id for r in records])}
        super().put_facts([replace(r, vector=old.get(r.fact.id, r.vector)) for r in records])


class WantsADimension(Sound):
    fails = "the_dimension_may_be_unknown_at_first"

    def __init__(self, host):
        assert host.identity.dimension, "how long are vectors?"
        super().__init__(host)


class DropsBareFacts(Sound):
    fails = "a_fact_without_a_vector_is_kept_and_reported"

    def put_facts(self, records):
        super().put_facts([r for r in records if r.vector is not None or r.fact.kind == "entity"])


# Edges


class OneWay(Sound):
    fails = "edges_come_back_from_both_ends"

    def edges_to(self, targets, limit):
        return []


class OneLimitForAll(Sound):
    fails = "the_limit_is_one_for_each_source"

    def edges_from(self, sources, limit):
        return super().edges_from(sources, limit)[:limit]


class EdgesAreReplaced(Sound):
    fails = "an_edge_that_is_there_stays_as_it_is"

    def put_edges(self, edges):
        self.delete_edges([edge.id for edge in edges])
        super().put_edges(edges)


class EdgesToNowhere(Sound):
    """Lists edges whether or not their ends are there."""

    fails = "an_edge_without_an_end_is_not_visible"

    def __init__(self, host):
        super().__init__(host)
        self.edges: dict[int, Edge] = {}

    def put_edges(self, edges):
        self.edges |= {edge.id: edge for edge in edges}
        super().put_edges(edges)

    def edges_from(self, sources, limit):
        return [edge for edge in self.edges.values() if edge.source in sources]


class LimitBeforeVisibility(Sound):
    fails = "the_limit_counts_visible_edges_only"

    def __init__(self, host):
        super().__init__(host)
        self.first: list[Edge] = []

    def put_edges(self, edges):
        self.first += edges
        super().put_edges(edges)

    def edges_from(self, sources, limit):
        looked_at = [edge for edge in self.first if edge.source in sources][:limit]
        return [edge for edge in super().edges_from(sources, limit) if edge in looked_at]


# Documents


class TextDocuments(Sound):
    fails = "values_come_back_byte_for_byte"

    def put_documents(self, namespace, documents):
        super().put_documents(
            namespace,
            [replace(d, value=d.value.decode(errors="replace").encode()) for d in documents],
        )


class DocumentsStay(Sound):
    """Doesn't replace a document, not even one that has expired."""

    fails = "put_replaces_by_key an_expired_document_may_be_put_again"

    def __init__(self, host):
        super().__init__(host)
        self.seen: set[tuple[str, str]] = set()

    def put_documents(self, namespace, documents):
        new = [d for d in documents if (namespace, d.key) not in self.seen]
        self.seen |= {(namespace, document.key) for document in documents}
        super().put_documents(namespace, new)


class LocaleOrder(Sound):
    fails = "keys_ascend_by_code_point"

    def scan_documents(self, namespace, after, limit):
        found = super().scan_documents(namespace, after, ALL)
        return sorted(found, key=lambda document: document.key.casefold())[:limit]


class OneNamespace(Sound):
    fails = "namespaces_are_apart"

    def put_documents(self, namespace, documents):
        super().put_documents("one", documents)

    def get_documents(self, namespace, keys):
        return super().get_documents("one", keys)


class FirstProvenance(Sound):
    fails = "provenance_is_what_was_last_recorded"

    def set_provenance(self, identity):
        if self.provenance() is None:
            super().set_provenance(identity)


# Expiry


class SlowClock(Sound):
    """Looks at the clock of a second ago."""

    fails = (
        "an_expired_fact_is_in_no_answer an_expired_document_is_in_no_answer "
        "an_expired_hub_is_no_hub"
    )

    def __init__(self, host):
        super().__init__(replace(host, clock=Clock(lambda: host.clock.now() - 1)))


class ExpiryStays(Sound):
    fails = "putting_a_visible_fact_moves_its_expiry"

    def put_facts(self, records):
        old = {fact.id: fact.expires_at for fact in self.get_facts([r.fact.id for r in records])}
        super().put_facts(
            [
                replace(r, fact=replace(r.fact, expires_at=old.get(r.fact.id, r.fact.expires_at)))
                for r in records
            ]
        )


class NothingIsOver(Sound):
    """Takes an instant that has passed for none at all."""

    fails = "what_is_put_already_expired_is_never_seen"

    def put_facts(self, records):
        now = self.host.clock.now()
        super().put_facts(
            [
                replace(r, fact=replace(r.fact, expires_at=None))
                if (r.fact.expires_at or now + 1) <= now
                else r
                for r in records
            ]
        )


class ReclaimsAll(Sound):
    fails = "reclaim_frees_what_expired_and_nothing_else"

    def reclaim(self, limit):
        return super().reclaim(ALL)


# Transactions, threads, processes


class NoTransactions(Sound):
    fails = (
        "a_transaction_that_fails_leaves_nothing inner_transactions_belong_to_the_outermost "
        "a_failing_transaction_is_only_its_own_threads a_killed_transaction_leaves_nothing "
        "a_failed_transaction_leaves_no_words"
    )

    def transaction(self):
        return nullcontext()


class NeverCommits(Sound):
    fails = "a_transaction_that_ends_well_is_kept"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with suppress(ZeroDivisionError), super().transaction():
            yield
            raise ZeroDivisionError


class WritesAtTheEnd(Sound):
    fails = "a_transaction_sees_its_own_writes"

    def __init__(self, host):
        super().__init__(host)
        self.waiting: list[Sequence[FactRecord]] | None = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.waiting = []
        with super().transaction():
            yield
            batches, self.waiting = self.waiting, None
            for batch in batches:
                super().put_facts(batch)

    def put_facts(self, records):
        if self.waiting is None:
            super().put_facts(records)
        else:
            self.waiting.append(records)


class OneThread(Sound):
    fails = "threads_write_and_read_at_once"

    def __init__(self, host):
        super().__init__(host)
        self.thread = threading.get_ident()

    def put_facts(self, records):
        assert threading.get_ident() == self.thread, "another thread"
        super().put_facts(records)


class UpdatesOutside(Sound):
    """Reads outside of the transaction that writes: the lock is taken too late."""

    fails = "threads_lose_no_update processes_lose_no_update"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        yield

    def get_documents(self, namespace, keys):
        found = super().get_documents(namespace, keys)
        threading.Event().wait(0.001)
        return found


class InMemory(Sound):
    """Keeps nothing where it was told to."""

    fails = (
        "everything_is_there_after_reopening writes_that_returned_outlive_a_kill "
        "a_kill_amid_writing_leaves_whole_transactions processes_see_each_others_writes"
    )

    def __init__(self, host):
        super().__init__(replace(host, data_dir=Path(tempfile.mkdtemp())))


class OneEpoch(Sound):
    fails = "epochs_are_apart disposing_removes_one_epoch_and_no_other"

    def __init__(self, host):
        super().__init__(replace(host, epoch="only"))


class CompactsAway(Sound):
    fails = "compacting_loses_nothing"

    def compact(self):
        super().delete_facts([fact.id for fact in self.scan_facts(None, ALL)])


class ClaimsForAll(Sound):
    fails = "a_duty_has_one_holder_until_it_dies"

    def claim(self, duty):
        return nullcontext()


# Words


class OtherFormula(Sound):
    fails = "scores_are_bm25_over_the_terms_of_the_core"

    def search_words(self, query, k, predicates=()):
        return [Hit(hit.id, hit.score * 2) for hit in super().search_words(query, k, predicates)]


class RemembersAnswers(Sound):
    """Answers a question about words as it did the first time."""

    fails = "only_visible_facts_count replaced_words_are_forgotten"

    def __init__(self, host):
        super().__init__(host)
        self.answers: dict[str, list[Hit]] = {}

    def put_facts(self, records):
        super().put_facts(records)
        for word in ("backups", "cluster"):
            self.answers.setdefault(word, super().search_words(word, ALL))

    def search_words(self, query, k, predicates=()):
        if query in self.answers and not predicates:
            return self.answers[query][:k]
        return super().search_words(query, k, predicates)


class FaultFixtures(StoreContract, WordSearchContract):
    """The contract over one of the faults."""

    fault: type[Sound]

    @pytest.fixture
    def open_store(self):
        return self.fault


for fault in (Sound, *BITES):
    name = f"Test{fault.__name__}"
    globals()[name] = type(name, (FaultFixtures,), {"fault": fault})
del fault
