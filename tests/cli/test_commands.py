"""The command line, each command as its own process on a real memory."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from veles_core import Link, open_memory


def veles(*arguments: str, status: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "veles_core.cli", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture
def filled() -> list[int]:
    """A memory with everything that an export must carry."""
    with open_memory() as memory:
        cause = memory.remember("The cause ❄", metadata={"n": 9007199254740993, "x": [1, None]}).id
        effect = memory.remember("The effect", links=[Link(cause, "caused_by")]).id
        memory.remember("A passing note", ttl_seconds=100_000)
        memory.remember("An old note", metadata={"_veles_date": 20200101})
        memory.feedback(cause, True)
        memory.remember_extracted(
            "fact: Ada wrote notes | Ada\nattr: Ada | born | 1815", None, "outline"
        )
        while memory.memory_status().memory.facts < 5:
            threading.Event().wait(0.01)
        memory.save_working_context("ops", "s1", {"goal": "resize"})
    return [cause, effect]


def export(path: Path, *options: str) -> list[dict[str, Any]]:
    veles("export", "--output", str(path), *options)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_an_export_has_a_line_for_each_memory_and_link(filled: list[int], tmp_path: Path) -> None:
    lines = export(tmp_path / "out.jsonl")
    facts = [line for line in lines if line["type"] == "fact"]
    assert len(facts) == 5
    assert {line["type"] for line in lines} == {"fact", "edge"}
    (cause,) = (fact for fact in facts if fact["content"] == "The cause ❄")
    assert cause["id"] == str(filled[0])
    assert cause["confidence"] == 0.6
    assert cause["metadata"]["n"] == 9007199254740993
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("options", [(), ("--include-internal",)])
def test_what_was_exported_is_imported_as_it_was(
    filled: list[int], tmp_path: Path, options: tuple[str, ...]
) -> None:
    before = export(tmp_path / "before.jsonl", *options)
    os.environ["VELESDB_MEMORY_PATH"] = str(tmp_path / "other")
    done = veles("import", str(tmp_path / "before.jsonl"))
    assert "5 facts" in done.stdout or options
    assert export(tmp_path / "after.jsonl", *options) == before
    with open_memory() as memory:
        assert memory.recall("The effect", 1).memories[0].id == filled[1]
        assert [node.id for node in memory.why("The effect").nodes] == [filled[1], filled[0]]
        if options:
            assert memory.entity("ada").attributes == {"born": 1815}
            assert memory.load_working_context("ops", "s1").working == {"goal": "resize"}


@pytest.mark.parametrize(
    ("line", "words"),
    [("{", "line 2"), ('{"type":"fact"}', "'id' is missing"), ("[]", "line 2"), ("7", "line 2"),
     ('{"type":"note"}', "none of fact, edge, document"),
     ('{"type":"fact","id":"1","content":"x","metadata":{},"confidence":0.5,"expires_at":null}',
      "isn't that of its content")],
)  # fmt: skip
def test_a_bad_line_refuses_the_whole_file(tmp_path: Path, line: str, words: str) -> None:
    file = tmp_path / "in.jsonl"
    with open_memory() as memory:
        memory.remember("a good line")
    first = json.dumps(export(file)[0], ensure_ascii=False)
    file.write_text(f"{first}\n{line}\n", encoding="utf-8")
    other = str(tmp_path / "other")
    done = veles("import", str(file), status=1, VELESDB_MEMORY_PATH=other)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(veles("status", "--json", VELESDB_MEMORY_PATH=other).stdout)["facts"] == 0


@pytest.mark.usefixtures("filled")
def test_status_tells_what_runs_and_how_much_is_there() -> None:
    report = json.loads(veles("status", "--json").stdout)
    assert report["facts"] == 5
    assert report["embedder"] == "hash: hash-v1, 384 dimensions, by surface form only"
    assert "facts" in veles("status").stdout


def test_check_finds_missing_vectors_and_repair_embeds_them_again(
    filled: list[int], tmp_path: Path
) -> None:
    assert veles("check").stdout == "all is well\n"
    (ledger,) = (tmp_path / "memory").rglob("ledger.db")
    connection = apsw.Connection(str(ledger))
    connection.execute("DELETE FROM vectors")
    connection.close()
    assert "vector-missing" in veles("check", status=1).stdout
    assert "repaired: vector-missing" in veles("check", "--repair").stdout
    assert veles("check").stdout == "all is well\n"
    with open_memory() as memory:
        found = memory.recall("The effect", 1).memories[0]
    assert found.id == filled[1]
    assert found.score > 0.999


def test_a_misspelt_variable_is_reported_with_the_nearest_name() -> None:
    done = veles("status", VELESDB_MEMORY_EMBEDER="hash")
    assert "did you mean VELESDB_MEMORY_EMBEDDER?" in done.stderr
    assert veles("status", VELESDB_MEMORY_EMBEDER="hash", VELESDB_MEMORY_QUIET="1").stderr == ""


def test_autograph_without_an_extractor_is_told() -> None:
    assert "VELESDB_MEMORY_EXTRACTOR" in veles("status", VELESDB_MEMORY_AUTOGRAPH="1").stderr


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("STORE", "hsnw", "did you mean 'hnsw'?"), ("EMBEDDER", "none", "installed: "),
     ("RANKING", "best", "VELESDB_MEMORY_RANKING")],
)  # fmt: skip
def test_a_wrong_setting_is_one_sentence(name: str, value: str, words: str) -> None:
    done = veles("status", status=1, **{f"VELESDB_MEMORY_{name}": value})
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_path_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = veles("status", status=1, VELESDB_MEMORY_PATH=str(tmp_path / "file"))
    assert "VELESDB_MEMORY_PATH" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "file").read_text() == "mine"


def test_plugins_are_listed_with_whether_they_open() -> None:
    report = json.loads(veles("plugins", "--json").stdout)
    backends = {(backend["kind"], backend["name"]): backend for backend in report["backends"]}
    assert backends["store", "hnsw"]["problem"] is None
    assert backends["embedder", "hash"]["problem"] is None
    assert "VELESDB_MEMORY_EMBEDDER_URL" in backends["embedder", "openai"]["problem"]
    assert "builtin" in veles("plugins").stdout


@pytest.mark.usefixtures("filled")
def test_the_memory_moves_to_another_model_offline(tmp_path: Path) -> None:
    before = export(tmp_path / "before.jsonl", "--include-internal")
    other = {"VELESDB_MEMORY_EMBEDDER": "local"}
    refused = veles("status", status=1, **other)
    for part in ("hash-v1", "384", "wordllama", "256", "migrate-embeddings"):
        assert part in refused.stderr
    assert "facts will be embedded" in veles("migrate-embeddings", "--dry-run", **other).stdout
    assert (
        "can't be reused"
        in veles("migrate-embeddings", "--strategy", "reuse", status=1, **other).stderr
    )
    assert "is served with" in veles("migrate-embeddings", **other).stdout
    assert "stay in use" in veles("migrate-embeddings", **other).stdout
    assert export(tmp_path / "after.jsonl", "--include-internal") == before
    assert json.loads(veles("status", "--json", **other).stdout)["facts"] == 5
    assert "migrated to" in veles("status").stderr
    assert "is served with" in veles("migrate-embeddings", "--strategy", "reembed", **other).stdout


def test_the_demo_shows_the_main_job() -> None:
    shown = veles("demo").stdout
    for part in (
        "remembered 108 facts with 64 typed links",
        "why:",
        "feedback:",
        "[2026-",
        "is owned by",
    ):
        assert part in shown


@pytest.mark.parametrize("store", ["hnsw", "exact"])
def test_copying_within_one_ledger_is_refused(store: str) -> None:
    assert "in the store 'hnsw' already" in veles("copy", "--to", store, status=1).stderr
