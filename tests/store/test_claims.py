"""Duties: one holder at a time, freed by the kernel however the holder dies."""

import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from veles_core.store.claims import claim
from veles_core.testing.waiting import until

HOLDER = """
import sys, time
from pathlib import Path
from veles_core.store.claims import claim
with claim(Path(sys.argv[1]), "sweep"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_duty_moves_on_when_its_holder_is_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert claim(tmp_path, "sweep") is None
    other = claim(tmp_path, "other")
    assert other is not None
    holder.kill()
    holder.communicate()
    claims: list[AbstractContextManager[None]] = []

    def claimed() -> bool:
        claims.extend(filter(None, [claim(tmp_path, "sweep")]))
        return bool(claims)

    until(claimed, 5)
    with claims[0]:
        assert claim(tmp_path, "sweep") is None
    with other:
        pass
    again = claim(tmp_path, "sweep")
    assert again is not None
    with again:
        pass


def test_an_error_inside_frees_the_duty(tmp_path: Path) -> None:
    for _ in range(2):
        held = claim(tmp_path, "sweep")
        assert held is not None
        try:
            with held:
                raise ValueError
        except ValueError:
            pass
