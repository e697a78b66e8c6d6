"""Opening a ledger, its one way to write, and what its failures say."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from veles_core.errors import ConfigurationError, StoreError
from veles_core.ledger import connect, schema
from veles_core.ledger.connect import Database, check_library


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2", "3.9.2"])
def test_a_library_that_can_corrupt_a_shared_store_is_refused(version: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"SQLite {version} .* 3\.51\.3"):
        check_library(version)


def test_newer_libraries_are_accepted() -> None:
    check_library("3.51.3")
    check_library("4.0.0")
    check_library(apsw.sqlite_lib_version())


def test_the_connection_is_durable_shared_and_unmapped(db: Database) -> None:
    settings = {
        name: db.rows(f"PRAGMA {name}")[0][0]
        for name in ("journal_mode", "synchronous", "mmap_size")
    }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "mmap_size": 0}


def test_a_file_in_the_place_of_the_directory_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ConfigurationError, match=r"can't be kept in .*file.*VELESDB_MEMORY_PATH"):
        Database(tmp_path / "file" / "ledger.db")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_directory_in_the_place_of_the_database_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").mkdir()
    with pytest.raises(ConfigurationError, match="can't be written"):
        Database(tmp_path / "ledger.db")


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"notes of mine, not a database\n" * 50)
    with pytest.raises(StoreError, match="not a SQLite file"):
        schema.migrate(Database(path))
    assert path.read_bytes().startswith(b"notes of mine")


def test_a_damaged_database_is_one_sentence(db: Database, tmp_path: Path) -> None:
    with db.transaction():
        for n in range(200):
            db.run("INSERT INTO documents VALUES ('n', ?, ?, NULL)", (str(n), b"x" * 400))
    db.close()
    path = tmp_path / "ledger.db"
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    damaged = Database(path)
    with pytest.raises(StoreError, match="damaged"), damaged.reading():
        damaged.rows("SELECT * FROM documents")
    damaged.close()


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A directory with a ledger that this process may read but not change."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        database = Database(folder / "ledger.db")
        schema.migrate(database)
        database.close()
        folder.chmod(0o555)
        (folder / "ledger.db").chmod(0o444)
        user = os.geteuid()
        if user == 0:  # whom permissions don't bind
            os.seteuid(65534)
        yield folder
        os.seteuid(user)
        folder.chmod(0o700)


def test_a_read_only_directory_is_one_sentence(read_only: Path) -> None:
    before = (read_only / "ledger.db").read_bytes()
    for name in ("ledger.db", "new.db"):
        with pytest.raises(ConfigurationError, match=r"can't be written.*VELESDB_MEMORY_PATH"):
            Database(read_only / name)
    assert (read_only / "ledger.db").read_bytes() == before


def test_a_ledger_of_a_newer_version_is_refused(db: Database) -> None:
    with db.transaction():
        db.run("INSERT INTO migrations VALUES ('quantum leap')")
    with pytest.raises(ConfigurationError, match=r"newer version.*quantum leap.*upgrade"):
        schema.migrate(db)


def test_a_migration_is_whole_with_its_record_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half_done(db: Database) -> None:
        db.run("CREATE TABLE half(x)")
        db.run("this is no SQL")

    db = Database(tmp_path / "ledger.db")
    monkeypatch.setitem(schema.MIGRATIONS, "half", half_done)
    with pytest.raises(StoreError):
        schema.migrate(db)
    tables = {name for (name,) in db.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert "facts" in tables
    assert "half" not in tables
    assert db.rows("SELECT name FROM migrations") == [("initial",)]
    db.close()


def test_a_transaction_is_all_or_nothing_and_may_be_nested(db: Database) -> None:
    def put(key: str) -> None:
        db.run("INSERT INTO documents VALUES ('n', ?, x'', NULL)", (key,))

    with db.transaction():
        put("a")
        with db.transaction():
            put("b")
    with pytest.raises(KeyboardInterrupt), db.transaction():  # noqa: PT012
        with db.transaction():
            put("c")
        raise KeyboardInterrupt
    assert db.rows("SELECT key FROM documents") == [("a",), ("b",)]


def test_a_failed_statement_dooms_its_transaction_even_if_swallowed(db: Database) -> None:
    with pytest.raises(StoreError, match="earlier write"), db.transaction():  # noqa: PT012
        with pytest.raises(StoreError), db.transaction():
            db.run("INSERT INTO documents VALUES (NULL, NULL, NULL, NULL)")
        with db.transaction():
            db.run("INSERT INTO documents VALUES ('n', 'k', x'', NULL)")
    assert db.rows("SELECT * FROM documents") == []


def test_reads_inside_reading_see_one_instant(db: Database, tmp_path: Path) -> None:
    other = Database(tmp_path / "ledger.db")
    with db.reading():
        assert db.rows("SELECT count(*) FROM documents") == [(0,)]
        with other.transaction():
            other.run("INSERT INTO documents VALUES ('n', 'k', x'', NULL)")
        assert db.rows("SELECT count(*) FROM documents") == [(0,)]
    assert db.rows("SELECT count(*) FROM documents") == [(1,)]
    other.close()


def test_the_version_changes_with_every_write_of_anyone(db: Database, tmp_path: Path) -> None:
    other = Database(tmp_path / "ledger.db")
    versions = [db.version()]
    for writer in (db, other, db):
        with writer.transaction():
            writer.run("UPDATE state SET facts = facts + 1")
            if writer is db:
                versions.append(db.version())
        versions.append(db.version())
    assert versions[0] != versions[1] == versions[2] != versions[3] != versions[4]
    other.close()


def test_a_lock_that_is_never_freed_becomes_a_sentence(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "BUSY_SECONDS", 0.05)
    other = Database(tmp_path / "ledger.db")
    with (
        other.transaction(),
        pytest.raises(StoreError, match="another process kept the memory locked"),
        db.transaction(),
    ):
        pass
    other.close()


def test_a_closed_ledger_says_so(db: Database) -> None:
    db.close()
    db.close()
    with pytest.raises(StoreError, match="closed"), db.reading():
        pass
    with pytest.raises(StoreError, match="closed"), db.transaction():
        pass


GREEDY = """
import sys, time
from pathlib import Path
from veles_core.ledger.connect import Database
db = Database(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    with db.transaction():
        db.run("UPDATE state SET facts = facts + 1")
        time.sleep(0.05)
"""


def test_a_writer_without_pause_starves_nobody(db: Database, tmp_path: Path) -> None:
    """Each of its transactions holds the lock for 50 ms, and the next begins at once."""
    greedy = subprocess.Popen(
        [sys.executable, "-c", GREEDY, str(tmp_path / "ledger.db")],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert greedy.stdout is not None
        assert greedy.stdout.readline() == "ready\n"
        for n in range(20):
            with db.transaction():
                db.run("INSERT INTO documents VALUES ('n', ?, x'', NULL)", (str(n),))
    finally:
        greedy.kill()
        greedy.communicate()
    assert db.rows("SELECT count(*) FROM documents") == [(20,)]


def test_threads_wait_for_each_others_transactions(db: Database) -> None:
    order: list[str] = []
    inside = threading.Event()

    def write() -> None:
        inside.wait(10)
        with db.transaction():
            order.append("second")

    thread = threading.Thread(target=write)
    thread.start()
    with db.transaction():
        inside.set()
        thread.join(0.05)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_disk_space_comes_back(db: Database, tmp_path: Path) -> None:
    with db.transaction():
        db.run_many(
            "INSERT INTO documents VALUES ('n', ?, ?, NULL)",
            [(str(n), b"x" * 4000) for n in range(500)],
        )
    with db.transaction():
        db.run("DELETE FROM documents")
    db.compact()
    assert db.rows("PRAGMA page_count")[0][0] < 40
    db.close()
    assert (tmp_path / "ledger.db").stat().st_size < 200_000


def test_every_statement_in_a_transaction_is_planned_once(db: Database) -> None:
    """A range over a parameter would otherwise be planned anew, at ten times the cost."""
    config: Callable[[int, int], int] = db._connection.config  # the setting has no other reader
    assert config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1
