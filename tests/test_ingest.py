"""Files below the roots and nothing else, whatever is linked, swapped or forged."""

import os
import re
import socket
import threading
import time
from pathlib import Path

import pytest

from veles_core.errors import (
    ContextOverLimit,
    IngestDisabled,
    IngestOutsideRoots,
    IngestPath,
    VelesError,
)
from veles_core.ingest import Taken, read_text
from veles_core.limits import MAX_INGEST_FILES, MAX_INGEST_TOTAL_BYTES

LIMIT = 1 << 20
SECRET = "the launch code is 0451"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with one note, next to a directory that must stay unread."""
    root = tmp_path / "docs"
    (root / "notes").mkdir(parents=True)
    (root / "notes/plan.md").write_text("Ship on Monday, Göteborg first.\r\n", encoding="utf-8")
    (tmp_path / "private").mkdir()
    (tmp_path / "private/secret.txt").write_text(SECRET)
    return root


def read(path: Path | str, root: Path, limit: int = LIMIT) -> str:
    return read_text(str(path), [root], limit, "path")[0]


def refused(error: type[VelesError], path: Path | str, root: Path, *words: str) -> None:
    """The path is refused, by its own name, and nothing else is given away."""
    with pytest.raises(error) as caught:
        read(path, root)
    assert type(caught.value) is error
    message = caught.value.message
    assert caught.value.field == "path"
    assert message.startswith("path: ")
    for word in words:
        assert word in message
    for leak in (SECRET, "private", "secret"):
        assert leak in str(path) or leak not in message


def test_a_file_below_a_root_is_read_byte_for_byte(root: Path) -> None:
    assert read(root / "notes/plan.md", root) == "Ship on Monday, Göteborg first.\r\n"
    (root / "empty").touch()
    assert read(root / "empty", root) == ""


def test_links_that_stay_below_a_root_are_followed(root: Path, tmp_path: Path) -> None:
    (root / "latest.md").symlink_to("notes/plan.md")
    (root / "n").symlink_to(root / "notes", target_is_directory=True)
    (tmp_path / "alias").symlink_to(root, target_is_directory=True)
    text = read(root / "notes/plan.md", root)
    assert read(root / "latest.md", root) == text
    assert read(root / "n/plan.md", root) == text
    assert read(root / "n/../notes/./plan.md", root) == text
    assert read(tmp_path / "alias/latest.md", root) == text  # it resolves below the root
    assert read(root / "latest.md", tmp_path / "alias") == text  # the root itself is a link


def test_any_of_several_roots_will_do(root: Path, tmp_path: Path) -> None:
    roots = [tmp_path / "absent", root, tmp_path / "private"]
    assert read_text(str(root / "notes/plan.md"), roots, LIMIT, "path")[0].startswith("Ship")


def test_without_roots_nothing_is_read(root: Path) -> None:
    with pytest.raises(IngestDisabled, match="VELESDB_MEMORY_INGEST_ROOTS"):
        read_text(str(root / "notes/plan.md"), [], LIMIT, "fragments")


@pytest.mark.parametrize(
    "path", ["", "notes/plan.md", "./plan.md", "~/plan.md", "/a\0b", "/\ud800", "file:///etc/x"]
)
def test_a_path_must_be_absolute(path: str, root: Path) -> None:
    refused(IngestPath, path, root, "is not an absolute path")


def test_dots_do_not_lead_out(root: Path) -> None:
    refused(IngestOutsideRoots, root / "../private/secret.txt", root)
    refused(IngestOutsideRoots, f"{root}/notes/../../private/secret.txt", root)


def test_a_sibling_with_the_roots_name_as_prefix_is_outside(root: Path, tmp_path: Path) -> None:
    (tmp_path / "docs-old").mkdir()
    (tmp_path / "docs-old/a.md").write_text(SECRET)
    refused(IngestOutsideRoots, tmp_path / "docs-old/a.md", root)


def test_links_out_are_refused_under_their_own_name(root: Path, tmp_path: Path) -> None:
    (root / "a.md").symlink_to(tmp_path / "private/secret.txt")
    (root / "b").symlink_to(tmp_path / "private", target_is_directory=True)
    (root / "c.md").symlink_to("a.md")
    (root / "d.md").symlink_to("../private/absent.txt")
    for path in ("a.md", "b/secret.txt", "c.md", "d.md"):
        refused(IngestOutsideRoots, root / path, root, f"docs/{path}")


def test_nothing_is_told_of_what_exists_outside(root: Path, tmp_path: Path) -> None:
    seen = set()
    for name in ("private", "private/secret.txt", "private/absent", "absent/absent"):
        with pytest.raises(IngestOutsideRoots) as caught:
            read(tmp_path / name, root)
        seen.add(caught.value.message.replace(repr(str(tmp_path / name)), "X"))
    assert len(seen) == 1


def test_what_is_no_regular_file_is_refused_at_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(root)  # the path of a socket has a limit of 107 bytes
        listener.bind("socket")
        refused(IngestPath, root / "fifo", root, "not a regular file")
        refused(IngestPath, root / "notes", root, "not a regular file")
        refused(IngestPath, root, root, "not a regular file")
        refused(IngestPath, root / "socket", root, "can't be read")
    refused(IngestPath, "/dev/null", Path("/dev"), "not a regular file")
    refused(IngestPath, "/dev/zero", Path("/dev"), "not a regular file")


def test_what_is_not_there_is_said_so(root: Path) -> None:
    refused(IngestPath, root / "absent.md", root, "No such file")
    refused(IngestPath, root / "notes/plan.md/x", root, "Not a directory")
    refused(IngestPath, root / ("x" * 300), root, "File name too long")
    (root / "loop").symlink_to("loop")
    refused(IngestPath, root / "loop", root, "symbolic links")


def test_text_must_be_utf8(root: Path) -> None:
    (root / "bad.txt").write_bytes(b"good \xff bad")
    refused(IngestPath, root / "bad.txt", root, "not UTF-8 text (byte 5)")
    (root / "surrogate.txt").write_bytes(b"\xed\xa0\x80")
    refused(IngestPath, root / "surrogate.txt", root, "not UTF-8")


def test_the_size_is_checked_before_reading(root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(1 << 30)  # sparse
    refused(ContextOverLimit, root / "huge", root, str(1 << 30), str(LIMIT))
    (root / "edge").write_bytes(b"x" * LIMIT)
    assert len(read(root / "edge", root)) == LIMIT
    (root / "edge").write_bytes(b"x" * (LIMIT + 1))
    refused(ContextOverLimit, root / "edge", root, str(LIMIT))


def test_a_file_that_says_it_is_empty_is_still_limited() -> None:
    """Files of /proc have no size until they are read, as a growing file has an older one."""
    path, root = Path("/proc/self/status"), Path("/proc")
    assert path.stat().st_size == 0
    assert "Name:" in read(path, root)
    with pytest.raises(ContextOverLimit):
        read(path, root, limit=10)


def test_files_of_one_request_add_up(root: Path) -> None:
    path = str(root / "notes/plan.md")
    size = (root / "notes/plan.md").stat().st_size
    taken = Taken()
    for number in range(1, 4):
        _, taken = read_text(path, [root], LIMIT, "path", taken)
        assert taken == Taken(number, number * size)
    last = Taken(MAX_INGEST_FILES - 1, MAX_INGEST_TOTAL_BYTES - size)
    assert read_text(path, [root], LIMIT, "path", last)[1].files == MAX_INGEST_FILES
    with pytest.raises(ContextOverLimit, match=re.escape(str(MAX_INGEST_FILES))):
        read_text(path, [root], LIMIT, "path", Taken(MAX_INGEST_FILES, 0))
    with pytest.raises(ContextOverLimit, match=str(MAX_INGEST_TOTAL_BYTES)):
        read_text(path, [root], LIMIT, "path", Taken(0, MAX_INGEST_TOTAL_BYTES - size + 1))


@pytest.mark.parametrize("swapped", ["file", "directory"])
def test_a_path_swapped_meanwhile_never_leads_out(swapped: str, root: Path, tmp_path: Path) -> None:
    """Another thread keeps exchanging the file, or its directory, for a link to the secret."""
    (root / "d").mkdir()
    (root / "d/f").write_text("harmless")
    (tmp_path / "private/f").write_text(SECRET)
    place = root / "d/f" if swapped == "file" else root / "d"
    aim = tmp_path / "private/f" if swapped == "file" else tmp_path / "private"
    kept, link = tmp_path / "kept", tmp_path / "link"
    ending = threading.Event()

    def swap() -> None:
        while not ending.is_set():
            link.symlink_to(aim)
            place.rename(kept)
            link.rename(place)
            place.unlink()
            kept.rename(place)

    thread = threading.Thread(target=swap)
    thread.start()
    outcomes: dict[str, int] = {}
    try:
        deadline = time.monotonic() + 30
        while sum(outcomes.values()) < 1500 or (
            len(outcomes) == 1 and time.monotonic() < deadline  # the swaps haven't been seen yet
        ):
            try:
                text = read(root / "d/f", root)
            except (IngestPath, IngestOutsideRoots) as error:
                text = error.message
            outcomes[text] = outcomes.get(text, 0) + 1
    finally:
        ending.set()
        thread.join()
    assert not any(leak in text for text in outcomes for leak in (SECRET, "private"))
    assert len(outcomes) > 1  # the race was really run
