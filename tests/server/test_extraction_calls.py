"""Extraction as a client sees it: three tools, from a passage to a graph and back to nothing."""

import time
from collections.abc import Callable

import pytest

from tests.serving import Caller, Process
from veles_core.testing.http import NEVER, Service, ollama
from veles_core.testing.waiting import until


def extracted(client: Caller, text: str) -> list[str]:
    """The ids of the facts of an outline, once it is committed."""
    receipt = client.call("remember_extracted", extractor="outline", text=text)
    assert (receipt["state"], receipt["reused"]) == ("accepted", False)

    def status() -> dict[str, object]:
        return client.call("extraction_status", request_id=receipt["request_id"])

    until(lambda: status()["state"] == "committed")
    result = status()
    assert [str(id) for id in result["ids"]] == result["ids_str"]  # type: ignore[attr-defined]
    assert (result["skipped_over_cap"], result["error"]) == (0, None)
    return result["ids_str"]  # type: ignore[return-value]


def test_spellings_of_one_thing_are_one_entity(client: Caller) -> None:
    extracted(
        client,
        "fact: The gateway moved to port 8443 | Edge Gateway\n"
        "fact: The gateway logs rotate daily |   edge   gateway\n"
        "fact: The gateway belongs to platform | ＥＤＧＥ Gateway\n"
        "edge: EDGE GATEWAY | depends on | Auth Service\n"
        'attr: edge gateway | region | "north"',
    )
    gateway = client.call("entity", name=" eDgE  GaTeWaY ")
    assert (gateway["found"], gateway["name"]) == (True, "edge gateway")
    assert gateway["attributes"] == {"region": "north"}
    auth = client.call("entity", name="auth service")
    assert gateway["relations"] == [
        {
            "predicate": "depends on",
            "target": "auth service",
            "target_id": auth["id"],
            "target_id_str": auth["id_str"],
        }
    ]
    assert (gateway["relations_in"], auth["relations"]) == ([], [])
    assert auth["relations_in"] == [
        {
            "predicate": "depends on",
            "source": "edge gateway",
            "source_id": gateway["id"],
            "source_id_str": gateway["id_str"],
        }
    ]


def test_what_is_forgotten_leaves_the_graph(client: Caller) -> None:
    first, second = extracted(
        client,
        "fact: The invoice job retries three times | Invoice Job; Retries\n"
        "fact: The invoice job runs at dawn | Invoice Job",
    )
    links = [{"target": first, "relation": "led_to"}]
    ticket = client.call("remember", fact="Ticket 88 asked for retries", links=links)["id_str"]
    assert client.call("forget", id=first)["found"]
    assert not client.call("entity", name="Retries")["found"]
    assert client.call("entity", name="Invoice Job")["found"]
    trail = client.call("why", decision="Ticket 88 asked for retries")
    assert [(node["id_str"], node["hop"]) for node in trail["nodes"]] == [(ticket, 0)]
    assert (trail["edges"], trail["truncated"]) == ([], False)
    assert [client.call("forget", id=id)["found"] for id in (second, ticket, ticket)] == [
        True,
        True,
        False,
    ]
    assert not client.call("entity", name="Invoice Job")["found"]
    assert client.call("memory_status")["memory"] == {"facts": 0, "edges": 0}
    assert client.call("recall", query="invoice retries")["memories"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "part"),
    [
        ("remember_extracted", {"text": "fact: a\nedge: b"}, -32602, "line 2"),
        ("remember_extracted", {"text": " "}, -32602, "empty"),
        ("remember_extracted", {"text": "a", "idempotency_key": "k" * 257}, -32602, "257"),
        (
            "remember_extracted",
            {"text": "a", "extractor": None},
            -32603,
            "VELESDB_MEMORY_EXTRACTOR",
        ),
        ("remember_extracted", {"text": "a", "extractor": "ollama"}, -32603, "not configured"),
        ("remember_extracted", {"text": "a", "extractor": "x"}, -32602, "unknown"),
        ("extraction_status", {"request_id": "abc"}, -32602, "64"),
        ("extraction_status", {"request_id": "0" * 64}, -32602, "no passage"),
        ("entity", {"name": " "}, -32602, "blank"),
    ],
)
def test_refusals_say_what_and_why(
    client: Caller, tool: str, arguments: dict[str, object], code: int, part: str
) -> None:
    if tool == "remember_extracted":
        arguments = {"extractor": "outline"} | arguments
    error = client.refused(tool, **arguments)
    assert error.code == code
    assert part in error.message
    assert client.call("memory_status")["memory"] == {"facts": 0, "edges": 0}


def test_a_silent_model_does_not_keep_the_server_alive(
    spawn: Callable[..., Process],
) -> None:
    with Service(ollama(chat=lambda _: NEVER)) as service:
        process = spawn(
            VELESDB_MEMORY_EXTRACTOR="ollama",
            VELESDB_MEMORY_EXTRACTOR_URL=service.url,
            VELESDB_MEMORY_AUTOGRAPH="1",
        )
        process.handshake()
        process.call("remember_extracted", {"text": "A passage."})
        process.call("remember", {"fact": "A fact."})
        until(lambda: len(service.requests) == 2)
        began = time.monotonic()
        process.close_input()
        assert process.wait() == 0
        assert time.monotonic() - began < 2
