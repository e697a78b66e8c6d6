"""memory_status: what runs, what filled the store, and how much is there."""

from typing import Any

import pytest

from tests.serving import check_refusal, connected
from veles_core.server.app import open_memory


def test_an_empty_memory_says_so(client: Any) -> None:
    assert client.call("memory_status") == {
        "embedder": {"model": "hash-v1", "dimension": 384, "semantic": False},
        "provenance": {"recorded": False, "model": None, "dimension": None},
        "extraction": {
            "configured": False,
            "autograph_active": False,
            "autograph_dropped": 0,
            "autograph_failed": 0,
        },
        "memory": {"facts": 0, "edges": 0},
    }


def test_the_first_fact_records_what_fills_the_store(client: Any) -> None:
    one = client.call("remember", fact="one")["id_str"]
    client.call("remember", fact="two", links=[{"target": one, "relation": "after"}])
    status = client.call("memory_status")
    assert status["provenance"] == {"recorded": True, "model": "hash-v1", "dimension": 384}
    assert status["memory"] == {"facts": 2, "edges": 1}


def test_scaffolding_is_not_counted_as_facts(client: Any) -> None:
    client.call("save_working_context", project="p", session="s", working={"goal": "g"})
    client.call("compile_context", query="x", token_budget=9, fragments=[{"content": "text"}])
    assert client.call("memory_status")["memory"] == {"facts": 0, "edges": 0}


def test_a_configured_extractor_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VELESDB_MEMORY_EXTRACTOR", "outline")
    monkeypatch.setenv("VELESDB_MEMORY_AUTOGRAPH", "1")
    with open_memory() as service, connected(lambda: service) as client:
        extraction = client.call("memory_status")["extraction"]
    assert (extraction["configured"], extraction["autograph_active"]) == (True, True)


def test_it_takes_no_arguments(client: Any) -> None:
    check_refusal(client, "memory_status", {"verbose": True}, "there are none", field="verbose")
