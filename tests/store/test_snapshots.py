"""Snapshot files: read back exactly, or not at all."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veles_core.store import snapshots

ARRAYS = {
    "ids": np.arange(7, dtype=np.uint64) + np.uint64(2**64 - 10),
    "matrix": np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4),
    "flags": np.array([True, False, True]),
    "nothing": np.empty((0, 4), np.float32),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "deep" / "some.snapshot"
    snapshots.write(file, "some 1", 42, ARRAYS)
    return file


def test_it_comes_back_as_it_was_written(path: Path) -> None:
    found = snapshots.read(path, "some 1")
    assert found is not None
    assert found.position == 42
    assert found.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found.arrays[name].dtype == array.dtype
        assert np.array_equal(found.arrays[name], array)
        assert not found.arrays[name].flags.writeable
    assert snapshots.problem(path) is None


def test_an_array_may_come_in_blocks(tmp_path: Path) -> None:
    blocks = (np.full((n, 2), n, np.float32) for n in range(4))
    snapshots.write(tmp_path / "f", "k", 1, {"blocks": blocks})
    found = snapshots.read(tmp_path / "f", "k")
    assert found is not None
    assert found.arrays["blocks"][:, 0].tolist() == [1, 2, 2, 3, 3, 3]


def test_another_kind_or_no_file_is_nothing(path: Path) -> None:
    assert snapshots.read(path, "some 2") is None
    assert snapshots.read(path.with_name("other"), "some 1") is None
    assert snapshots.problem(path.with_name("other")) is None


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_cut_is_noticed(path: Path, data: st.DataObject) -> None:
    whole = path.read_bytes()
    damaged = path.with_name("cut.snapshot")
    damaged.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    assert snapshots.read(damaged, "some 1") is None
    assert snapshots.problem(damaged) is not None


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_flipped_bit_is_noticed_or_harmless(path: Path, data: st.DataObject) -> None:
    whole = bytearray(path.read_bytes())
    bit = data.draw(st.integers(0, 8 * len(whole) - 1))
    whole[bit // 8] ^= 1 << bit % 8
    damaged = path.with_name("flipped.snapshot")
    damaged.write_bytes(whole)
    found = snapshots.read(damaged, "some 1")
    if found is not None:  # a bit of the padding between two arrays
        assert all(np.array_equal(found.arrays[name], array) for name, array in ARRAYS.items())


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_other_file_is_nothing(content: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        assert snapshots.read(Path(file.name), "some 1") is None


def test_a_write_that_fails_leaves_the_old_one(path: Path) -> None:
    def failing() -> "snapshots.Iterable[snapshots.Array]":
        yield np.zeros(9)
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        snapshots.write(path, "some 1", 43, {"x": failing()})
    found = snapshots.read(path, "some 1")
    assert found is not None
    assert found.position == 42
    assert [file.name for file in path.parent.iterdir()] == ["some.snapshot"]


def test_a_map_outlives_its_replacement(path: Path) -> None:
    before = snapshots.read(path, "some 1")
    assert before is not None
    snapshots.write(path, "some 1", 43, {"ids": np.zeros(1)})
    assert np.array_equal(before.arrays["matrix"], ARRAYS["matrix"])


def test_left_overs_of_the_killed_are_cleared_away(path: Path) -> None:
    left_over = path.with_name("some.snapshot.123.tmp")
    left_over.write_bytes(b"half")
    snapshots.write(path, "some 1", 43, {})
    assert not left_over.exists()
