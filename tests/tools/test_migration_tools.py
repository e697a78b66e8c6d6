"""The four migration tools, from one model to that of a distribution somebody installed."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import check_refusal, connected
from veles_core.server.app import open_memory
from veles_core.testing.waiting import until

PLUGIN = '''
import threading
import numpy as np
from veles_core.errors import BackendUnavailable
from veles_core.hookspecs import Backend, hookimpl
from veles_core.records import EmbeddingIdentity

gate, reached = threading.Event(), threading.Event()
state = {"down": False}

class Bytes:
    """What letters a text holds, in 26 dimensions and one for none."""
    identity = EmbeddingIdentity("letters-27", 27, False)
    def embed(self, texts):
        if len(texts) > 1:
            reached.set()
            assert gate.wait(30)
            if state["down"]:
                raise BackendUnavailable("the letters service didn't answer")
        rows = np.zeros((len(texts), 27), dtype=np.float32)
        for row, text in zip(rows, texts):
            row[26] = 0.1
            for letter in text.lower():
                if "a" <= letter <= "z":
                    row[ord(letter) - 97] += 1
            row /= np.linalg.norm(row)
        return rows
    def close(self):
        pass

@hookimpl
def veles_embedders():
    return [Backend("letters", "which letters a text holds", lambda settings, host: Bytes())]
'''

JOB = {
    "epoch_id",
    "phase",
    "running",
    "target_backend",
    "target_model",
    "target_dimension",
    "destination",
    "cancellation_requested",
    "last_error",
    "recovery_action",
    "progress",
    "quality",
}
START = {"target_backend": "letters", "pause_budget_ms": 5000}


@pytest.fixture
def letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The installed plugin's module. Its model waits for the gate before a batch of texts."""
    site = tmp_path / "site"
    info = site / "letters_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "letters_plugin.py").write_text(PLUGIN, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: letters-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[veles]\nletters = letters_plugin\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "letters_plugin", raising=False)
    return importlib.import_module("letters_plugin")


@pytest.fixture
def client(letters: Any, service: Any) -> Iterator[Any]:
    with connected(lambda: service) as caller:
        for number in range(30):
            caller.call("remember", fact=f"fact number {number}")
        yield caller
        letters.gate.set()


def job(client: Any) -> dict[str, Any]:
    answer = client.call("migration_status")
    assert answer["configured"] is True
    assert answer["job"].keys() == JOB
    found: dict[str, Any] = answer["job"]
    return found


def ended(client: Any, phase: str) -> dict[str, Any]:
    until(lambda: job(client)["phase"] == phase, 60)
    return job(client)


def test_there_is_no_job_until_one_is_started(client: Any) -> None:
    assert client.call("migration_status") == {"configured": True, "job": None}
    for tool in ("migration_cancel", "migration_recover"):
        check_refusal(client, tool, {}, "no migration", "migration_start", field=None)


def test_a_memory_moves_to_another_model_while_it_serves(client: Any, letters: Any) -> None:
    started = client.call("migration_start", **START)
    assert started["configured"] is True
    first = started["job"]
    assert (first["running"], first["cancellation_requested"]) == (True, False)
    assert first["target_backend"] == "letters"
    assert (first["target_model"], first["target_dimension"]) == ("letters-27", 27)
    assert first["epoch_id"] in first["destination"]
    assert (first["last_error"], first["recovery_action"], first["quality"]) == (None, None, None)

    assert letters.reached.wait(30)
    assert job(client)["phase"] in ("prepared", "capturing")
    late = client.call("remember", fact="written while it was being copied")
    assert client.call("memory_status")["embedder"]["model"] == "hash-v1"
    check_refusal(client, "migration_start", START, "one runs at a time", "migration_cancel",
                  field=None)  # fmt: skip
    assert job(client)["progress"]["input_watermark"] >= 1
    letters.gate.set()

    last = ended(client, "committed")
    progress = last["progress"]
    assert (last["epoch_id"], last["last_error"]) == (first["epoch_id"], None)
    assert progress["base_facts"] >= 30
    assert progress["input_watermark"] == progress["output_watermark"] >= 1
    assert progress["pending_journal_bytes"] == progress["distinct_dirty_facts"] == 0
    assert 0 <= progress["measured_cutover_ms"] <= 5000
    assert 0 <= last["quality"]["overlap_at_10"] <= 1
    status = client.call("memory_status")
    assert status["embedder"] == {"model": "letters-27", "dimension": 27, "semantic": False}
    assert status["provenance"] == {"recorded": True, "model": "letters-27", "dimension": 27}
    assert status["memory"]["facts"] == 31
    (best,) = client.call("recall", query="written while it was being copied", k=1)["memories"]
    assert best["id"] == late["id"]
    assert best["score"] == pytest.approx(1, abs=1e-3)
    check_refusal(client, "migration_start", START, "nothing to migrate", field="target_backend")
    for tool, word in [("migration_cancel", "can't be cancelled"), ("migration_recover", "can't")]:
        check_refusal(client, tool, {}, "committed", word, field=None)


def test_a_job_is_cancelled_while_the_source_is_authoritative(
    client: Any, letters: Any, tmp_path: Path
) -> None:
    started = client.call("migration_start", **START)["job"]
    destination = tmp_path / "memory" / started["destination"]
    assert destination.exists()
    assert letters.reached.wait(30)
    assert client.call("migration_cancel")["job"]["cancellation_requested"] is True
    letters.gate.set()
    ended(client, "cancelled")
    until(lambda: not job(client)["running"])
    assert not destination.exists()
    assert client.call("memory_status")["embedder"]["model"] == "hash-v1"
    check_refusal(client, "migration_recover", {}, "cancelled", field=None)
    assert client.call("migration_start", **START)["job"]["epoch_id"] != started["epoch_id"]
    ended(client, "committed")


def test_a_job_that_failed_tells_what_to_do_and_goes_on(client: Any, letters: Any) -> None:
    letters.gate.set()
    letters.state["down"] = True
    client.call("migration_start", **START)
    until(lambda: not job(client)["running"])
    stopped = job(client)
    assert stopped["last_error"] == "the letters service didn't answer"
    assert "migration_recover" in stopped["recovery_action"]
    letters.state["down"] = False
    resumed = client.call("migration_recover")["job"]
    assert (resumed["epoch_id"], resumed["last_error"]) == (stopped["epoch_id"], None)
    assert ended(client, "committed")["recovery_action"] is None


def test_a_job_outlives_its_server(client: Any, letters: Any, service: Any) -> None:
    letters.gate.set()
    letters.state["down"] = True
    client.call("migration_start", **START)
    until(lambda: not job(client)["running"])
    service.close()
    letters.state["down"] = False
    with open_memory() as again, connected(lambda: again) as caller:
        left = job(caller)
        assert (left["phase"], left["running"]) == ("capturing", False)
        caller.call("migration_recover")
        ended(caller, "committed")


def test_the_largest_limits_are_taken(client: Any, letters: Any) -> None:
    letters.gate.set()
    limits = dict.fromkeys(
        ("fact_batch", "replay_batch", "edge_cap", "journal_max_bytes"), str(2**53 - 1)
    )
    client.call("migration_start", **START | limits | {"verification_reserve_ms": 0})
    ended(client, "committed")


def test_a_host_without_the_control_plane_says_so(timed: Any) -> None:
    for tool in ("migration_status", "migration_cancel", "migration_recover"):
        assert timed.call(tool) == {"configured": False, "job": None}
    assert timed.call("migration_start", **START) == {"configured": False, "job": None}


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({"target_backend": None}, "target_backend", ["required"], {}),
        ({"target_backend": 5}, "target_backend", ["must be a string"], {}),
        ({"target_backend": "leters"}, "target_backend", ["'leters' can't be used", "letters"],
         {"actual": "leters"}),
        ({"target_backend": "openai"}, "target_backend",
         ["can't be used", "VELESDB_MEMORY_EMBEDDER_URL"], {}),
        ({"target_backend": "hash"}, "target_backend", ["nothing to migrate", "hash-v1"], {}),
        ({"pause_budget_ms": None}, "pause_budget_ms", ["required"], {}),
        ({"pause_budget_ms": 0}, "pause_budget_ms", ["at least 1, not 0"], {"limit": 1}),
        ({"pause_budget_ms": -1}, "pause_budget_ms", ["at least 0"], {"limit": 0}),
        ({"pause_budget_ms": 2.5}, "pause_budget_ms", ["must be an integer"], {}),
        ({"pause_budget_ms": 100}, "pause_budget_ms", ["verification reserve of 100 ms"],
         {"limit": 100, "actual": 100}),
        ({"journal_max_bytes": 0}, "journal_max_bytes", ["must be at least 1"], {"limit": 1}),
        ({"fact_batch": 0}, "fact_batch", ["must be at least 1"], {"limit": 1}),
        ({"replay_batch": 0}, "replay_batch", ["must be at least 1"], {}),
        ({"edge_cap": 0}, "edge_cap", ["must be at least 1"], {}),
        ({"edge_cap": 2**53}, "edge_cap", ["must be at most 9007199254740991"],
         {"limit": 2**53 - 1, "actual": str(2**53)}),
        ({"pause_budget_ms": 2**70}, "pause_budget_ms", ["must be at most"], {}),
        ({"observation_window": 0}, "observation_window", ["must be at least 1"], {}),
        ({"verification_reserve_ms": "long"}, "verification_reserve_ms",
         ["must be an integer"], {}),
        ({"backend": "letters"}, "backend", ["did you mean target_backend?"], {}),
    ],
)  # fmt: skip
def test_a_bad_start_is_refused_and_leaves_nothing(
    client: Any,
    tmp_path: Path,
    arguments: dict[str, Any],
    field: str,
    words: list[str],
    data: dict[str, Any],
) -> None:
    check_refusal(client, "migration_start", START | arguments, *words, field=field, **data)
    assert client.call("migration_status")["job"] is None
    assert [each.name for each in (tmp_path / "memory" / "stores").iterdir()] == ["main"]
