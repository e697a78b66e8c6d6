"""Passages as durable jobs: accepted, extracted once, stored whole, and found again."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from veles_core import ids
from veles_core.builtin.hash_embedder import HashEmbedder
from veles_core.builtin.outline_extractor import OutlineExtractor
from veles_core.errors import (
    BackendRefused,
    BackendUnavailable,
    ConfigurationError,
    InvalidInput,
    NotFound,
)
from veles_core.hookspecs import Host
from veles_core.memory import entities, jobs
from veles_core.memory.answers import ExtractionResult, Receipt
from veles_core.memory.extraction import ExtractionJobs
from veles_core.memory.extractors import Extractors
from veles_core.memory.service import MemoryService
from veles_core.plugins import discover
from veles_core.protocols import Embedder, Extractor
from veles_core.records import (
    Attribute,
    EmbeddingIdentity,
    ExtractedFact,
    Extraction,
    Relation,
)
from veles_core.testing.clock import SettableClock
from veles_core.testing.waiting import until

PASSAGE = "Theo, Camille's brother, repaired the pump."
FOUND = Extraction(
    (ExtractedFact("Theo repaired the pump", ("Theo", "pump")), ExtractedFact("It held")),
    (Relation("Camille", "sister of", "Theo"),),
    (Attribute("Theo", "age", 15),),
)


class Model:
    """An extractor that does as it was told, and notes what it was asked."""

    def __init__(self, *outcomes: Extraction | Exception) -> None:
        self.outcomes = list(outcomes) or [FOUND]
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def extract(self, text: str) -> Extraction:
        self.asked.append(text)
        self.may_answer.wait(30)
        outcome = self.outcomes[min(len(self.asked), len(self.outcomes)) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def close(self) -> None:
        self.may_answer.set()


class Flaky:
    """The hash embedder, unavailable for the first calls."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self._inner = HashEmbedder()

    @property
    def identity(self) -> EmbeddingIdentity:
        return self._inner.identity

    def embed(self, texts: Sequence[str]) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        if self.failures:
            self.failures -= 1
            raise BackendUnavailable("the embedder is down")
        return self._inner.embed(texts)

    def close(self) -> None:
        self._inner.close()


Open = Callable[..., ExtractionJobs]


@pytest.fixture
def start(tmp_path: Path, clock: SettableClock) -> Iterator[Open]:
    """Open one more memory on the test's directory, as another process would, with a model."""
    running: list[tuple[ExtractionJobs, MemoryService]] = []

    def opened(
        model: Extractor | None = None,
        embedder: Embedder | None = None,
        ttl: int | None = None,
        retries: Sequence[float] = (0.0, 0.0),
    ) -> ExtractionJobs:
        embedder = embedder or HashEmbedder()
        host = Host(tmp_path, clock=clock, identity=embedder.identity)
        store = discover(()).open("store", "exact", host)
        memory = MemoryService(store, embedder, clock=clock, default_ttl=ttl)

        def reader(name: str) -> Extractor:
            return OutlineExtractor() if name == "outline" or model is None else model

        extractors = Extractors(
            reader, ["ollama", "openai", "outline"], "ollama" if model else None
        )
        extracting = ExtractionJobs(memory, extractors, clock, ttl, retries)
        running.append((extracting, memory))
        return extracting

    yield opened
    for extracting, memory in running:
        extracting.close()
        memory.close()


def ended(extracting: ExtractionJobs, request_id: str) -> ExtractionResult:
    """The result once the job has ended."""
    until(lambda: extracting.status(request_id).state in ("committed", "failed"))
    return extracting.status(request_id)


def memory_of(extracting: ExtractionJobs) -> MemoryService:
    memory = extracting._memory
    assert isinstance(memory, MemoryService)
    return memory


def contents(extracting: ExtractionJobs) -> list[str]:
    return sorted(memory.content for memory in memory_of(extracting).list_memories().memories)


# --- the way of a job --------------------------------------------------------------------


def test_an_outline_becomes_facts_and_a_graph(start: Open) -> None:
    extracting = start()
    receipt = extracting.submit(
        "fact: The invoice job retries three times | Invoice Job; Retries\n"
        "edge: Invoice Job | owned by | Billing\n"
        "fact: The invoice job runs at dawn | Invoice Job",
        metadata={"project": "billing"},
        extractor="outline",
    )
    assert (receipt.state, receipt.reused) == ("accepted", False)
    result = ended(extracting, receipt.request_id)
    first, second = "The invoice job retries three times", "The invoice job runs at dawn"
    assert result == ExtractionResult(
        receipt.request_id, "committed", (ids.fact_id(first), ids.fact_id(second)), 0
    )
    memory = memory_of(extracting)
    assert {m.metadata["project"] for m in memory.list_memories().memories} == {"billing"}
    assert all("_veles_date" in m.metadata for m in memory.list_memories().memories)
    trail = memory.why("invoice retries")
    assert {"Entity: invoice job", "Entity: billing"} <= {node.content for node in trail.nodes}


def test_the_receipt_comes_before_the_model_answers(start: Open) -> None:
    model = Model()
    model.may_answer.clear()
    extracting = start(model)
    receipt = extracting.submit(PASSAGE)
    assert receipt == Receipt(receipt.request_id, "accepted", False)
    until(lambda: model.asked == [PASSAGE])
    pending = extracting.status(receipt.request_id)
    assert pending == ExtractionResult(receipt.request_id, "running")
    assert extracting.submit(PASSAGE) == Receipt(receipt.request_id, "running", True)
    model.may_answer.set()
    result = ended(extracting, receipt.request_id)
    assert (result.state, result.skipped_over_cap, result.error) == ("committed", 0, None)
    assert result.ids == tuple(ids.fact_id(fact.content) for fact in FOUND.facts)
    store = memory_of(extracting).live().store
    theo = entities.view(store, "Theo")
    assert theo.attributes == {"age": 15}
    assert [(r.predicate, r.name) for r in theo.relations_in] == [("sister of", "camille")]
    assert theo.relations == ()


def test_facts_are_dated_by_when_the_passage_came(start: Open, clock: SettableClock) -> None:
    model = Model()
    model.may_answer.clear()
    extracting = start(model)
    receipt = extracting.submit(PASSAGE)
    day = memory_of(extracting)._clock.today()
    clock.advance(3 * 86_400)
    model.may_answer.set()
    ended(extracting, receipt.request_id)
    dates = [m.metadata["_veles_date"] for m in memory_of(extracting).list_memories().memories]
    assert dates == [day, day]


def test_what_is_over_the_cap_is_counted_and_the_rest_is_kept(start: Open) -> None:
    long, fits = "x" * 2049, "é" * 1024
    extracting = start(Model(Extraction((ExtractedFact(long, ("a",)), ExtractedFact(fits)))))
    result = ended(extracting, extracting.submit(PASSAGE).request_id)
    assert (result.state, result.ids) == ("committed", (ids.fact_id(fits),))
    assert result.skipped_over_cap == 1
    assert contents(extracting) == [fits]
    assert not entities.view(memory_of(extracting).live().store, "a").found


def test_a_fact_found_twice_is_one_about_all_its_topics(start: Open) -> None:
    extracting = start()
    text = "fact: f | a\nfact: g\nfact: f | b; A"
    result = ended(extracting, extracting.submit(text, extractor="outline").request_id)
    assert result.ids == (ids.fact_id("f"), ids.fact_id("g"))
    assert memory_of(extracting).memory_status().memory.edges == 4


def test_finding_nothing_is_a_result(start: Open) -> None:
    extracting = start(Model(Extraction()))
    result = ended(extracting, extracting.submit(PASSAGE).request_id)
    assert (result.state, result.ids, result.skipped_over_cap) == ("committed", (), 0)


def test_facts_that_were_there_keep_what_was_learned(start: Open) -> None:
    extracting = start()
    memory = memory_of(extracting)
    known = memory.remember("The pump leaks", metadata={"old": 1}).id
    memory.feedback(known, success=True)
    text = "fact: The pump leaks | pump"
    ended(extracting, extracting.submit(text, {"new": 2}, "outline").request_id)
    (fact,) = memory.live().store.get_facts([known])
    assert fact.confidence == 0.6
    assert memory.list_memories().memories[0].metadata.keys() == {
        "new",
        "_veles_date",
    }


def test_facts_and_entities_take_the_default_lifetime(start: Open, clock: SettableClock) -> None:
    extracting = start(Model(), ttl=60)
    ended(extracting, extracting.submit(PASSAGE).request_id)
    store = memory_of(extracting).live().store
    assert entities.view(store, "camille").found
    clock.advance(60)
    assert contents(extracting) == []
    assert not entities.view(store, "camille").found
    assert store.count().edges == 0


# --- one request, one job ----------------------------------------------------------------


def test_the_same_request_is_one_job(start: Open) -> None:
    model = Model()
    extracting = start(model)
    first = extracting.submit(PASSAGE, {"a": 1, "b": 2})
    assert len(first.request_id) == 64
    ended(extracting, first.request_id)
    again = extracting.submit(f"  {PASSAGE}\n", {"b": 2, "a": 1}, "ollama")
    assert again == Receipt(first.request_id, "committed", True)
    assert extracting.submit(PASSAGE).request_id != first.request_id
    assert extracting.submit(PASSAGE, {"a": 1.5}).request_id != first.request_id
    outline = extracting.submit(PASSAGE, {"a": 1, "b": 2}, "outline")
    assert (outline.reused, outline.request_id == first.request_id) == (False, False)
    assert extracting.submit(PASSAGE, {}) == extracting.submit(PASSAGE, None)


def test_a_key_stands_for_its_request(start: Open) -> None:
    extracting = start(Model())
    first = extracting.submit(PASSAGE, idempotency_key="k1")
    assert first.request_id != extracting.submit(PASSAGE).request_id
    again = extracting.submit(PASSAGE, idempotency_key="k1")
    assert (again.request_id, again.reused) == (first.request_id, True)
    assert not extracting.submit(PASSAGE, idempotency_key="k2").reused
    ended(extracting, first.request_id)
    for other in (
        {"text": "Another passage."},
        {"text": PASSAGE, "metadata": {"a": 1}},
        {"text": PASSAGE, "extractor": "outline"},
    ):
        with pytest.raises(InvalidInput) as refused:
            extracting.submit(**other, idempotency_key="k1")  # type: ignore[arg-type]
        assert refused.value.field == "idempotency_key"


def test_an_ended_job_keeps_its_result_and_nothing_of_the_passage(start: Open) -> None:
    extracting = start(Model())
    good = extracting.submit(PASSAGE, {"secret": "s3cret"}).request_id
    ended(extracting, good)
    store = memory_of(extracting).live().store
    assert store.namespaces() == [jobs.JOBS]
    (kept,) = store.scan_documents(jobs.JOBS, None, 9)
    for gone in (b"Theo", b"pump", b"s3cret", b"sister"):
        assert gone not in kept.value
    assert extracting.submit(PASSAGE, {"secret": "s3cret"}).reused


def test_the_65th_waiting_passage_is_refused(start: Open) -> None:
    model = Model()
    model.may_answer.clear()
    extracting = start(model)
    receipts = [extracting.submit(f"Passage {n}.") for n in range(64)]
    with pytest.raises(InvalidInput) as refused:
        extracting.submit("Passage 64.")
    assert (refused.value.limit, refused.value.actual) == (64, 64)
    assert extracting.submit("Passage 63.").reused
    model.may_answer.set()
    ended(extracting, receipts[-1].request_id)
    assert [extracting.status(r.request_id).state for r in receipts] == ["committed"] * 64
    assert model.asked == [f"Passage {n}." for n in range(64)]
    assert not extracting.submit("Passage 64.").reused


def test_admitting_does_not_slow_down_with_the_jobs_there_were(start: Open) -> None:
    extracting = start()
    store = memory_of(extracting).live().store
    with store.transaction():
        for n in range(5000):
            jobs.save(store, jobs.Job(f"{n:064x}", "f", "outline", 0.0, state="committed"))
    took = []
    for n in range(5):
        began = time.perf_counter()
        extracting.submit(f"fact: number {n}", extractor="outline")
        took.append(time.perf_counter() - began)
    assert min(took) < 0.05


# --- refusals ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "field", "part"),
    [
        ({"text": " \n "}, "text", "empty"),
        ({"text": "x" * ((1 << 20) + 1)}, "text", "1048577 bytes; at most 1048576"),
        ({"text": "\ud800"}, "text", "surrogate"),
        ({"text": "a", "metadata": {"content": 1}}, "metadata", "reserved"),
        ({"text": "a", "metadata": {"_veles_date": 20260231}}, "metadata", "calendar"),
        ({"text": "a", "metadata": {"big": "x" * 70_000}}, "metadata", "at most 65536"),
        ({"text": "a", "extractor": "outlin"}, "extractor", "unknown"),
        ({"text": "a", "extractor": "openai"}, "extractor", "not the configured one"),
        ({"text": "a", "idempotency_key": ""}, "idempotency_key", "1 to 256 bytes, not 0"),
        ({"text": "a", "idempotency_key": "é" * 129}, "idempotency_key", "not 258"),
        ({"text": "fact: a\n\nedge: a | b", "extractor": "outline"}, "text", "line 3"),
        ({"text": "\n\nfact:", "extractor": "outline"}, "text", "line 3"),
    ],
)
def test_bad_input_is_refused_at_once(
    start: Open, arguments: dict[str, object], field: str, part: str
) -> None:
    extracting = start(Model())
    with pytest.raises(InvalidInput) as refused:
        extracting.submit(**arguments)  # type: ignore[arg-type]
    assert refused.value.field == field
    assert part in refused.value.message
    assert memory_of(extracting).live().store.namespaces() == []
    assert contents(extracting) == []


@pytest.mark.parametrize("extractor", [None, "ollama"])
def test_without_a_configured_extractor_only_outlines_are_taken(
    start: Open, extractor: str | None
) -> None:
    extracting = start()
    with pytest.raises(ConfigurationError, match="VELESDB_MEMORY_EXTRACTOR"):
        extracting.submit(PASSAGE, extractor=extractor)
    assert extracting.submit(PASSAGE, extractor="outline").state == "accepted"


@pytest.mark.parametrize(
    "request_id", ["", "x" * 64, "A" * 64, "a" * 63, "a" * 65, "a" * 64 + "\n"]
)
def test_a_status_is_asked_by_a_receipts_id(start: Open, request_id: str) -> None:
    with pytest.raises(InvalidInput, match="request_id"):
        start().status(request_id)


def test_an_id_that_no_receipt_gave_is_not_found(start: Open) -> None:
    with pytest.raises(NotFound):
        start().status("a" * 64)


# --- failures ----------------------------------------------------------------------------


def test_passing_failures_are_tried_again(start: Open) -> None:
    down = BackendUnavailable("down")
    model = Model(down, down, FOUND)
    extracting = start(model)
    assert ended(extracting, extracting.submit(PASSAGE).request_id).state == "committed"
    assert len(model.asked) == 3


def test_passing_failures_end_after_a_few_attempts(start: Open) -> None:
    model = Model(BackendUnavailable("the service is down"))
    extracting = start(model)
    result = ended(extracting, extracting.submit(PASSAGE).request_id)
    assert (result.state, result.ids, result.skipped_over_cap) == ("failed", (), None)
    assert result.error == "the service is down (given up after 3 attempts)"
    assert len(model.asked) == 3


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (BackendRefused("no JSON"), "no JSON"),
        (InvalidInput("no"), "no"),
        (RuntimeError(PASSAGE), "the extraction failed unexpectedly (RuntimeError)"),
        (Extraction((ExtractedFact(" "),)), "a fact is blank"),
        (Extraction(attributes=(Attribute("a", "content", 1),)), "reserved"),
        (Extraction((ExtractedFact("f"),), (Relation("a", "x" * 600, "b"),)), "at most 512"),
        (
            Extraction(
                (ExtractedFact("f"),),
                (),
                (Attribute("a", "k", "x" * 40_000), Attribute("a", "l", "x" * 40_000)),
            ),
            "at most 65536",
        ),
    ],
)
def test_other_failures_end_the_job_and_store_nothing(
    start: Open, failure: Extraction | Exception, reason: str
) -> None:
    model = Model(failure)
    extracting = start(model)
    result = ended(extracting, extracting.submit(PASSAGE).request_id)
    assert result.state == "failed"
    assert reason in (result.error or "")
    assert len(model.asked) == 1
    store = memory_of(extracting).live().store
    assert store.scan_facts(None, 9, internal=True) == []
    assert store.namespaces() == [jobs.JOBS]


def test_one_bad_job_does_not_stop_the_next(start: Open) -> None:
    extracting = start(Model(RuntimeError("boom"), FOUND))
    first, second = extracting.submit("One."), extracting.submit("Two.")
    assert ended(extracting, first.request_id).state == "failed"
    assert ended(extracting, second.request_id).state == "committed"


def test_a_job_that_waits_for_its_model_holds_up_no_other(start: Open) -> None:
    extracting = start(Model(BackendUnavailable("down")), retries=(60.0,))
    stuck = extracting.submit(PASSAGE)
    quick = extracting.submit("fact: a", extractor="outline")
    assert ended(extracting, quick.request_id).state == "committed"
    assert extracting.status(stuck.request_id).state == "running"


def test_an_embedder_that_is_down_costs_no_second_interpretation(start: Open) -> None:
    model = Model()
    extracting = start(model, embedder=Flaky(failures=2))
    assert ended(extracting, extracting.submit(PASSAGE).request_id).state == "committed"
    assert len(model.asked) == 1


# --- several memories on one store -------------------------------------------------------


def test_a_memory_that_opens_later_goes_on_with_what_was_left(start: Open) -> None:
    model = Model()
    model.may_answer.clear()
    first = start(model)
    receipt = first.submit(PASSAGE)
    until(lambda: model.asked == [PASSAGE])
    first.close()
    memory_of(first).close()
    model.may_answer.set()
    second = start(Model())
    assert ended(second, receipt.request_id).state == "committed"


def test_one_worker_at_a_time_works_for_all(start: Open) -> None:
    models = [Model(), Model()]
    models[0].may_answer.clear()
    first, second = start(models[0]), start(models[1])
    held = first.submit("Held.")
    until(lambda: models[0].asked == ["Held."])
    mine = second.submit("Mine.")
    threading.Event().wait(1.5)  # longer than its poll: it looked, and may not begin
    assert models[1].asked == []
    models[0].may_answer.set()
    assert ended(second, held.request_id).state == "committed"
    assert ended(second, mine.request_id).state == "committed"
    assert len(models[0].asked) + len(models[1].asked) == 2


def test_a_job_waits_for_a_process_that_has_its_extractor(
    start: Open, clock: SettableClock
) -> None:
    model = Model(BackendUnavailable("down"))
    able = start(model, retries=(60.0,))
    receipt = able.submit(PASSAGE)
    until(lambda: model.asked == [PASSAGE])
    unable = start()
    quick = unable.submit("fact: a", extractor="outline")
    assert ended(unable, quick.request_id).state == "committed"
    assert unable.status(receipt.request_id).state == "running"
    clock.advance(3601)
    result = ended(unable, receipt.request_id)
    assert result.error == "the extractor 'ollama' is not configured any more"


def test_stopping_does_not_wait_for_a_model(start: Open) -> None:
    model = Model()
    model.may_answer.clear()
    extracting = start(model)
    extracting.submit(PASSAGE)
    until(lambda: model.asked == [PASSAGE])
    began = time.monotonic()
    extracting.close()
    assert time.monotonic() - began < 1.5


# --- size --------------------------------------------------------------------------------


def test_10_000_directives_are_stored_in_a_few_seconds(start: Open) -> None:
    extracting = start()
    text = "\n".join(
        f"fact: Item {n} of the ledger was counted | Ledger {n % 100}"
        if n % 2
        else f"edge: Shelf {n % 500} | stands beside | Shelf {n % 499}"
        for n in range(10_000)
    )
    began = time.process_time()
    result = ended(extracting, extracting.submit(text, extractor="outline").request_id)
    assert (result.state, len(result.ids)) == ("committed", 5000)
    # Two seconds where nothing else runs: benchmarks/extraction_speed.py measures it.
    assert time.process_time() - began < 6


def test_a_passage_of_one_mebibyte_is_taken(start: Open) -> None:
    model = Model()
    extracting = start(model)
    text = "x" * (1 << 20)
    assert ended(extracting, extracting.submit(text).request_id).state == "committed"
    assert model.asked == [text]
    line = "fact: " + "y" * ((1 << 20) - 6)
    result = ended(extracting, extracting.submit(line, extractor="outline").request_id)
    assert (result.ids, result.skipped_over_cap) == ((), 1)
