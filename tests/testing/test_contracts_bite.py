"""A test of the tests: each test of each contract is failed by some wrong backend."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.testing import faulty_backends, faulty_stores
from veles_core.testing import StoreContract, WordSearchContract

HERE = Path(__file__).parent
STORE_TESTS = {faulty_stores.FaultFixtures: faulty_stores.BITES}
PARTS = 4  # each by a pytest of its own, so that no single one takes long
ALL = STORE_TESTS | faulty_backends.FAULTY


def promises_of(contract: type) -> set[str]:
    return {name for name in dir(contract) if name.startswith("test_")}


def named(fails: str) -> list[str]:
    return [f"test_{name}" for name in fails.split()]


def failures(module: Path, wanted: Iterable[str], directory: Path) -> dict[str, str]:
    """What became of some tests of a module, run by a pytest of their own."""
    report = directory / "report.xml"
    said = run_alone([f"{module}::{node}" for node in wanted], report)
    assert report.exists(), said
    outcomes: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        node = f"{case.attrib['classname'].rpartition('.')[2]}::{case.attrib['name'].split('[')[0]}"
        # An error is no failure: it would say nothing of what the test asserts.
        bad = case.find("failure") is not None
        outcomes[node] = "failed" if bad or outcomes.get(node) == "failed" else "passed"
    return outcomes


def run_alone(nodes: list[str], report: Path) -> str:
    """Run tests as a CI does, in a session of processes that is killed at the end.

    Under ``CI`` pytest prints differences whole, which takes minutes for large values: the
    contracts must not make a stranger's CI wait for them.
    """
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"]
    # This way to time out ends the process, a deadlock or not.
    command += ["--timeout=45", "--timeout-method=thread", "--tb=no", f"--junitxml={report}"]
    output = report.with_suffix(".txt")
    # Not through a pipe: a process left behind would keep it open, and this one waiting.
    with output.open("w") as file:
        process = subprocess.Popen(
            [*command, *nodes],
            stdout=file,
            stderr=subprocess.STDOUT,
            env=os.environ | {"CI": "true"},
            start_new_session=True,
        )
        try:
            process.wait(120)
        except subprocess.TimeoutExpired:
            file.write("\n\nThe tests did not end within 120 s.\n")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return output.read_text()


@pytest.mark.parametrize("contract", ALL, ids=lambda contract: contract.__name__)
def test_every_test_of_a_contract_is_failed_by_some_fault(contract: type) -> None:
    bitten = {test for fails in ALL[contract].values() for test in named(fails)}
    expected = promises_of(contract)
    if contract.__mro__[1] in ALL:
        expected -= promises_of(contract.__mro__[1])
    assert bitten == expected


def test_no_part_of_the_store_contract_hides_a_test_of_another() -> None:
    parts = [*StoreContract.__mro__, WordSearchContract]
    names = [name for part in parts for name in vars(part) if name.startswith("test_")]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("module", [faulty_stores, faulty_backends], ids=["stores", "backends"])
def test_every_fault_fails_where_it_should(module: object, part: int, tmp_path: Path) -> None:
    faults = STORE_TESTS if module is faulty_stores else faulty_backends.FAULTY
    wanted = [
        f"Test{fault.__name__}::{test}"
        for bites in faults.values()
        for fault, fails in bites.items()
        for test in named(fails)
    ][part::PARTS]
    path = HERE / f"{module.__name__.rpartition('.')[2]}.py"  # type: ignore[attr-defined]
    outcomes = failures(path, wanted, tmp_path)
    assert [node for node in wanted if outcomes.get(node) != "failed"] == []
