"""The server around the tools: failures nobody foresaw, slow calls, both protocol eras."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from mcp_types import TextContent

from veles_core.errors import BackendUnavailable, StoreError
from veles_core.server.protocol import MAX_CONCURRENT_CALLS, result
from veles_core.server.tools import READS, Tool
from veles_core.wire.memory import MemoryStatus

ERAS = ["legacy", "auto"]


def tool(name: str, handler: Callable[..., Any]) -> Tool:
    return Tool(name, MemoryStatus, dict[str, Any], handler, READS, "A tool of this test.")


def broken(_service: Any, _given: Any) -> Any:
    raise RuntimeError("the password is swordfish")


def unavailable(_service: Any, _given: Any) -> Any:
    raise BackendUnavailable("the embedding service didn't answer within 5 s")


def nulls(_service: Any, _given: Any) -> Any:
    return {"next_cursor": None, "job": {"error": None, "list": [None]}, "id": 2**64 - 1}


@pytest.mark.parametrize("era", ERAS)
def test_an_unforeseen_failure_is_generic_and_logged(
    connect: Any, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR), connect(object, era, [tool("broken", broken)]) as client:
        error = client.refused("broken")
        again = client.refused("broken")
    assert error.code == -32603
    assert "swordfish" not in error.model_dump_json()
    assert "swordfish" in caplog.text
    assert error.data["reference"] in caplog.text
    assert error.data["reference"] != again.data["reference"]


@pytest.mark.parametrize("era", ERAS)
def test_a_failure_on_purpose_says_why(connect: Any, era: str) -> None:
    with connect(object, era, [tool("unavailable", unavailable)]) as client:
        error = client.refused("unavailable")
    assert error.code == -32603
    assert error.message == "the embedding service didn't answer within 5 s"
    assert error.data == {"category": "Internal"}


def test_a_service_that_cannot_open_is_what_each_call_answers(connect: Any) -> None:
    def closed() -> Any:
        raise StoreError("the store is damaged")

    with connect(closed) as client:
        assert len(client.tools()) > 0
        error = client.refused("memory_status")
    assert (error.code, error.message) == (-32603, "the store is damaged")


@pytest.mark.parametrize("era", ERAS)
def test_nulls_and_large_ids_survive_in_structured_content(connect: Any, era: str) -> None:
    with connect(object, era, [tool("nulls", nulls)]) as client:
        assert client.call("nulls") == nulls(None, None)


def test_the_text_of_an_answer_is_its_structured_content_as_compact_json() -> None:
    answer = {"id_str": "7", "content": "caf\u00e9\u2028", "next_cursor": None}
    answered = result(answer)
    (text,) = answered.content
    assert isinstance(text, TextContent)
    assert text.text == '{"id_str":"7","content":"caf\u00e9\u2028","next_cursor":null}'
    assert answered.structured_content == answer


def test_a_slow_call_does_not_block_another(connect: Any) -> None:
    release = threading.Event()

    def slow(_service: Any, _given: Any) -> Any:
        assert release.wait(30)
        return {"slow": True}

    def quick(_service: Any, _given: Any) -> Any:
        return {"slow": False}

    waiting = MAX_CONCURRENT_CALLS - 1
    with (
        ThreadPoolExecutor(waiting) as threads,
        connect(object, "legacy", [tool("slow", slow), tool("quick", quick)]) as client,
    ):
        calls = [threads.submit(client.call, "slow") for _ in range(waiting)]
        try:
            assert client.call("quick") == {"slow": False}
            assert not any(call.done() for call in calls)
        finally:
            release.set()
        assert [call.result(30) for call in calls] == [{"slow": True}] * waiting


def test_both_eras_see_the_same_tools(connect: Any) -> None:
    listed = []
    for era in ERAS:
        with connect(object, era) as client:
            listed.append([tool.model_dump() for tool in client.tools()])
            assert client.instructions
    assert listed[0] == listed[1]
