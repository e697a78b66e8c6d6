"""Rows behave as a dict from id to row, whatever the order of adding and removing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veles_core.store import rows
from veles_core.store.rows import Rows

IDS = st.integers(0, 40) | st.integers(2**64 - 3, 2**64 - 1)
STEPS = st.lists(st.tuples(st.sampled_from(["append", "remove"]), st.lists(IDS, max_size=6)))


def ids(numbers: list[int]) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    return np.array(numbers, np.uint64)


@pytest.mark.parametrize("floor", [0, 3, 1024])
@settings(deadline=None)
@given(start=st.lists(IDS, unique=True, max_size=6), steps=STEPS)
def test_any_sequence_of_steps(
    floor: int, start: list[int], steps: list[tuple[str, list[int]]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "_FOLD_FLOOR", floor)
        found, model, count = Rows(ids(start)), {n: row for row, n in enumerate(start)}, len(start)
        for step, numbers in steps:
            if step == "append":
                found.append(ids(numbers))
                model |= {n: count + row for row, n in enumerate(numbers)}
                count += len(numbers)
            else:
                found.remove(ids(numbers))
                for n in numbers:
                    model.pop(n, None)
            assert len(found) == count
            assert found.live == len(model)
            everyone = [*range(41), 2**64 - 3, 2**64 - 2, 2**64 - 1]
            assert found.find(ids(everyone)).tolist() == [model.get(n, -1) for n in everyone]
            assert found.alive.tolist() == [row in model.values() for row in range(count)]
            assert found.ids[found.sorted()].tolist() == sorted(model)
            assert found.present(ids(everyone)).tolist() == [
                model[n] for n in everyone if n in model
            ]


def test_what_it_starts_from_is_copied() -> None:
    start = ids([3, 1])
    found = Rows(start, np.array([True, False]))
    found.remove(ids([3]))
    found.append(ids([1]))
    assert start.tolist() == [3, 1]
    assert found.find(ids([1, 3])).tolist() == [2, -1]
