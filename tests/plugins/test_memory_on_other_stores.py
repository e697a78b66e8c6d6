"""The whole service on the stores that are databases of their own, and moves between them."""

import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from veles_core.errors import NotFound
from veles_core.hookspecs import Host
from veles_core.ids import fact_id
from veles_core.memory.answers import Link
from veles_core.memory.service import MemoryService
from veles_core.memory.transfer import export_lines
from veles_core.migration.job import Limits
from veles_core.migration.move import move
from veles_core.plugins import discover
from veles_core.protocols import Store
from veles_core.records import Predicate
from veles_core.server.app import open_memory
from veles_core.testing.waiting import until

Configure = Callable[[str], None]

OUTLINE = """
fact: The edge gateway listens on port 8443 | Edge Gateway
edge: Edge Gateway | depends on | Auth Service
attr: Edge Gateway | region | "north"
"""


@pytest.fixture
def configure(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Select a store by its variables, as a user would; a server gives an empty database."""
    database = f"memory_{secrets.token_hex(6)}"

    def configured(name: str) -> None:
        values = {"STORE": name.split()[0]}
        if name == "chroma server":
            url = request.getfixturevalue("chroma_url")
            made = httpx.post(
                f"{url}/api/v2/tenants/default_tenant/databases", json={"name": database}
            )
            assert made.is_success
            values |= {"CHROMA_URL": url, "CHROMA_DATABASE": database}
        if name == "postgres":
            url = request.getfixturevalue("postgres_url")
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {database}")
            values["POSTGRES_URL"] = urlsplit(url)._replace(path=f"/{database}").geturl()
        for variable, value in values.items():
            monkeypatch.setenv(f"VELESDB_MEMORY_{variable}", value)

    return configured


@pytest.fixture(params=["chroma", "chroma server", "postgres"])
def memory(request: pytest.FixtureRequest, configure: Configure) -> Iterator[MemoryService]:
    configure(request.param)
    with open_memory() as opened:
        yield opened


def contents(found: Any) -> list[str]:
    return [memory.content for memory in found.memories]


def test_the_verbs_of_the_service_work(memory: MemoryService) -> None:
    nodes = memory.remember("The staging cluster has six nodes", metadata={"env": "staging"}).id
    backups = memory.remember(
        "Backups of the cluster run at two", links=[Link(nodes, "about")], metadata={"n": 2**53 + 1}
    ).id
    memory.remember("The canteen serves soup on Mondays", ttl_seconds=3600)
    assert contents(memory.recall("staging cluster nodes", 1)) == [
        "The staging cluster has six nodes"
    ]
    assert contents(memory.recall("soup", 5, {"env": "staging"})) == [
        "The staging cluster has six nodes"
    ]
    assert contents(memory.recall_where("x", [Predicate("n", "gt", 2**53)], 5)) == [
        "Backups of the cluster run at two"
    ]
    assert memory.feedback(nodes, True).confidence == 0.6
    trail = memory.why("Backups of the cluster run at two")
    assert [(node.id, node.hop) for node in trail.nodes] == [(backups, 0), (nodes, 1)]
    assert memory.memory_status().memory.facts == 3
    assert memory.memory_status().memory.edges == 1
    assert memory.forget(nodes).found
    assert memory.why("Backups of the cluster run at two").edges == ()
    assert not memory.forget(nodes).found
    with pytest.raises(NotFound):
        memory.relate(backups, nodes, "about")
    assert memory.check() == []


def test_a_passage_becomes_a_graph(memory: MemoryService) -> None:
    receipt = memory.remember_extracted(OUTLINE, extractor="outline")
    until(lambda: memory.extraction_status(receipt.request_id).state == "committed")
    entity = memory.entity("edge gateway")
    assert entity.attributes == {"region": "north"}
    assert [(r.predicate, r.name) for r in entity.relations] == [("depends on", "auth service")]
    north = [Predicate("region", "eq", "north")]
    assert contents(memory.recall_where("gateway", north, 5)) == [
        "The edge gateway listens on port 8443"
    ]
    assert memory.memory_status().memory.facts == 1
    memory.save_working_context("ops", "s1", {"goal": "resize the gateway"})
    assert memory.load_working_context("ops", "s1").found


def test_the_model_changes_while_the_memory_serves(memory: MemoryService) -> None:
    ids = [memory.remember(f"fact {n} of many", metadata={"n": n}).id for n in range(30)]
    memory.relate(ids[0], ids[1], "see")
    memory.feedback(ids[2], True)
    memory.save_working_context("ops", "s", {"goal": "migrate"})
    memory.migration_start("local", Limits(pause_budget_ms=5000))
    during = memory.remember("The clinic opens its doors at dawn", links=[Link(ids[3], "see")]).id
    assert memory.forget(ids[4]).found
    until(lambda: not memory.migration_status().running, 60)
    job = memory.migration_status().job
    assert job is not None
    assert job.phase == "committed", job
    assert memory.memory_status().embedder.model == "wordllama-l2-supercat"
    assert memory.memory_status().memory.facts == 30
    assert memory.memory_status().memory.edges == 2
    assert memory.recall("When can I see a doctor in the morning?", 1).memories[0].id == during
    assert [node.id for node in memory.why("The clinic opens", 1).nodes][:2] == [during, ids[3]]
    assert contents(memory.recall_where("fact", [Predicate("n", "eq", 4)], 5)) == []
    assert memory.load_working_context("ops", "s").found
    assert memory.check() == []


def test_a_memory_moves_from_store_to_store_and_stays_the_same(
    configure: Configure, tmp_path: Path
) -> None:
    configure("hnsw")
    with open_memory() as memory:
        ids = [memory.remember(f"fact {n} of many", metadata={"n": n / 3}).id for n in range(60)]
        memory.relate(ids[0], ids[1], "see")
        memory.feedback(ids[2], True)
        memory.save_working_context("ops", "s", {"goal": "move"})
        receipt = memory.remember_extracted(OUTLINE, extractor="outline")
        until(lambda: memory.extraction_status(receipt.request_id).state == "committed")
        registry, opened = discover(), [memory.live().store]
        lines = sorted(export_lines(opened[0], True))
        for number, name in enumerate(["postgres", "chroma", "chroma server", "hnsw"]):
            configure(name)
            folder = tmp_path / f"store-{number}"
            folder.mkdir()
            source = opened[-1]
            host = Host(folder, identity=source.provenance())
            target: Store = registry.open("store", name.split()[0], host)
            moved = move(source, target, lambda _done, _total: None)
            assert moved.facts == 63
            assert moved.edges == 4
            assert sorted(export_lines(target, True)) == lines, name
            found = [
                (record.fact.id, record.vector.tobytes()) for record in target.get_records(ids)
            ]
            assert found == [
                (record.fact.id, record.vector.tobytes()) for record in opened[0].get_records(ids)
            ], name
            opened.append(target)
        assert opened[-1].check() == []
        for store in opened[1:]:
            store.close()
    assert fact_id("fact 7 of many") == ids[7]


def veles(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "veles_core.cli", *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


@pytest.mark.parametrize("name", ["chroma", "postgres"])
def test_the_command_copies_a_memory_that_is_then_used(
    name: str, configure: Configure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configure(name)
    monkeypatch.setenv("VELESDB_MEMORY_STORE", "hnsw")
    with open_memory() as memory:
        memory.remember("Backups run at two", metadata={"env": "staging"})
        memory.remember("The canteen serves soup on Mondays")
    veles("export", "--include-internal", "--output", str(tmp_path / "before.jsonl"))
    told = veles("copy", "--to", name).stdout
    assert f"2 facts, 0 links and 0 documents are in {name}" in told
    monkeypatch.setenv("VELESDB_MEMORY_STORE", name)
    veles("export", "--include-internal", "--output", str(tmp_path / "after.jsonl"))
    assert (tmp_path / "after.jsonl").read_text() == (tmp_path / "before.jsonl").read_text()
    with open_memory() as memory:
        assert contents(memory.recall("backups", 1, {"env": "staging"})) == ["Backups run at two"]
