"""Lines: what is a message, what is refused and under which id, and that UTF-8 leaves."""

import json
from typing import Any

import mcp_types as mcp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veles_core.server.lines import Refused, decode, encode


def refusal(line: bytes) -> tuple[int, Any]:
    with pytest.raises(Refused) as caught:
        decode(line)
    return caught.value.answer.error.code, caught.value.answer.id


def test_a_request_a_notification_and_a_response_are_messages() -> None:
    request = decode(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
    assert request == mcp.JSONRPCRequest(jsonrpc="2.0", id=1, method="ping")
    notification = decode(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert isinstance(notification, mcp.JSONRPCNotification)
    response = decode(b'{"jsonrpc":"2.0","id":"a","result":{}}')
    assert isinstance(response, mcp.JSONRPCResponse)


@pytest.mark.parametrize(
    ("line", "code", "identity"),
    [
        (b"garbage", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"meth', -32700, None),
        (b"\x00\xff", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b'{"id":' + b"9" * 5000 + b"}", -32700, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'"text"', -32600, None),
        (b"null", -32600, None),
        (b"{}", -32600, None),
        (b'{"id":7}', -32600, 7),
        (b'{"id":7,"method":"ping"}', -32600, 7),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":8}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}', -32602, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":"x"}', -32602, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"caf\xe9"}', -32700, 7),
    ],
)
def test_a_line_that_is_no_message_is_refused_under_its_id(
    line: bytes, code: int, identity: Any
) -> None:
    assert refusal(line) == (code, identity)


def test_null_parameters_are_absent_ones() -> None:
    message = decode(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":null}')
    assert isinstance(message, mcp.JSONRPCRequest)
    assert message.params is None


def test_an_id_with_a_lone_surrogate_comes_back_as_it_came() -> None:
    message = decode(rb'{"jsonrpc":"2.0","id":"\ud800","method":"ping"}')
    assert isinstance(message, mcp.JSONRPCRequest)
    answer = encode(mcp.JSONRPCResponse(jsonrpc="2.0", id=message.id, result={}))
    assert answer == b'{"jsonrpc":"2.0","id":"\\ud800","result":{}}\n'


def test_a_replacement_character_that_was_sent_is_no_error() -> None:
    line = '{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\ufffd"}}'.encode()
    message = decode(line)
    assert isinstance(message, mcp.JSONRPCRequest)
    assert message.params == {"a": "\ufffd"}


@given(st.binary())
def test_any_bytes_are_a_message_or_a_refusal(line: bytes) -> None:
    try:
        decode(line)
    except Refused as refused:
        encode(refused.answer)


@given(st.text() | st.text(st.characters(codec=None)))
def test_a_message_is_one_line_of_utf8_that_says_the_same(text: str) -> None:
    message = mcp.JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": text, "none": None})
    line = encode(message)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line.decode()) == {
        "jsonrpc": "2.0", "id": 1, "result": {"text": text, "none": None}
    }  # fmt: skip
