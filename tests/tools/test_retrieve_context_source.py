"""retrieve_context_source: the exact original, for as long as it was to be kept."""

import base64
from typing import Any

import pytest

from tests.serving import check_refusal
from veles_core.testing.clock import SettableClock


def kept(client: Any, fragment: dict[str, Any], **policy: Any) -> str:
    """The handle of a fragment that was compiled."""
    answer = client.call(
        "compile_context", query="x", token_budget=5, fragments=[fragment], policy=policy
    )
    handle: str = answer["sources"][0]["handle"]
    return handle


@pytest.mark.parametrize(
    "text",
    [" ", "a\r\nb\n\n", "e\u0301\u2028 🚀\x00\u0085", "x" * (1 << 20), "\ufeffa", "\n"],
    ids=["blank", "crlf", "unicode", "mebibyte", "mark", "newline"],
)
def test_text_comes_back_byte_for_byte(client: Any, text: str) -> None:
    handle = kept(client, {"content": text})
    assert handle.startswith("ctx://source/")
    source = client.call("retrieve_context_source", handle=handle)
    assert source == {"handle": handle, "content": text}


def test_an_image_comes_back_as_it_was_sent(client: Any) -> None:
    media = {"mime": "image/png", "bytes_b64": base64.b64encode(bytes(range(256))).decode()}
    handle = kept(client, {"media": media})
    source = client.call("retrieve_context_source", handle=handle)
    assert source == {"handle": handle, "content": "", "media": media}


def test_equal_text_has_one_source_whoever_sends_it(client: Any) -> None:
    one = kept(client, {"content": "the same"})
    assert kept(client, {"content": "the same", "id": "5", "kind": "log"}) == one
    assert kept(client, {"content": "the same "}) != one


def test_a_lifetime_may_grow_and_never_shrinks(timed: Any, clock: SettableClock) -> None:
    def is_there(handle: str) -> bool:
        outcome = timed.outcome("retrieve_context_source", {"handle": handle})
        return isinstance(outcome, dict)

    short = kept(timed, {"content": "short"}, source_ttl_seconds=10)
    longer = kept(timed, {"content": "longer"}, source_ttl_seconds=10)
    assert kept(timed, {"content": "longer"}, source_ttl_seconds=100) == longer
    kept(timed, {"content": "longer"}, source_ttl_seconds=1)
    forever = kept(timed, {"content": "forever"})
    kept(timed, {"content": "forever"}, source_ttl_seconds=1)
    clock.advance(9.999)
    assert [is_there(handle) for handle in (short, longer, forever)] == [True, True, True]
    clock.advance(0.001)
    assert [is_there(handle) for handle in (short, longer, forever)] == [False, True, True]
    clock.advance(90)
    assert [is_there(handle) for handle in (short, longer, forever)] == [False, False, True]
    assert kept(timed, {"content": "short"}) == short
    clock.advance(10**9)
    assert is_there(short)


def test_a_handle_that_leads_nowhere_is_not_found(client: Any) -> None:
    handle = f"ctx://source/{2**64 - 1}"
    check_refusal(
        client,
        "retrieve_context_source",
        {"handle": handle},
        handle,
        "store_sources",
        "expired",
        field="handle",
        category="NotFound",
    )


@pytest.mark.parametrize(
    ("handle", "words"),
    [
        ("", ["ctx://source/<decimal id>"]),
        ("5", ["ctx://source/<decimal id>", "'5'"]),
        ("ctx://source/", ["of the form"]),
        ("ctx://source/05", ["of the form"]),
        ("ctx://source/5 ", ["of the form"]),
        ("ctx://source/-5", ["of the form"]),
        ("ctx://source/٣", ["of the form"]),
        ("ctx://source/18446744073709551616", ["of the form"]),
        ("CTX://source/5", ["of the form"]),
        ("ctx://source/5/../6", ["of the form"]),
        ("ctx://source/ff", ["of the form"]),
        (5, ["must be a string"]),
        (None, ["required"]),
    ],
)
def test_anything_but_the_exact_form_is_refused(
    refusing: Any, handle: Any, words: list[str]
) -> None:
    check_refusal(refusing, "retrieve_context_source", {"handle": handle}, *words, field="handle")
