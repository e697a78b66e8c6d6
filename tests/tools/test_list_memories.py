"""list_memories: every memory once, by ascending id, page by page."""

from typing import Any

import pytest

from tests.serving import check_refusal
from veles_core.testing.waiting import until


@pytest.fixture
def twenty(client: Any) -> Any:
    for number in range(20):
        client.call("remember", fact=f"note {number}", metadata={"even": number % 2 == 0})
    return client


def walked(client: Any, **arguments: Any) -> list[list[dict[str, Any]]]:
    """The pages of a whole walk."""
    pages, cursor = [], None
    while True:
        page = client.call("list_memories", cursor=cursor, **arguments)
        pages.append(page["memories"])
        cursor = page["next_cursor"]
        if cursor is None:
            return pages


def test_a_memory_is_listed_whole(client: Any) -> None:
    stored = client.call("remember", fact="a note", metadata={"n": [1, None]})
    page = client.call("list_memories")
    (memory,) = page["memories"]
    assert memory == stored | {
        "content": "a note",
        "metadata": {"n": [1, None], "_veles_date": memory["metadata"]["_veles_date"]},
    }
    assert page["next_cursor"] is None


def test_pages_have_no_gap_and_the_last_one_says_so(twenty: Any) -> None:
    for limit, sizes in [(7, [7, 7, 6]), (10, [10, 10]), (20, [20]), (10**9, [20])]:
        pages = walked(twenty, limit=limit)
        assert [len(page) for page in pages] == sizes
        ids = [memory["id"] for page in pages for memory in page]
        assert ids == sorted(set(ids))
    assert [len(page) for page in walked(twenty, limit=0)] == [1] * 20


def test_a_filter_keeps_exactly_what_equals_it(twenty: Any) -> None:
    pages = walked(twenty, limit=3, filter={"even": True})
    found = [memory["content"] for page in pages for memory in page]
    assert sorted(found) == sorted(f"note {number}" for number in range(0, 20, 2))
    assert walked(twenty, filter={"even": 1}) == [[]]


def test_a_cursor_is_any_id_there_was(twenty: Any) -> None:
    pages = walked(twenty, limit=10)
    cursor = pages[0][-1]["id"]
    for form in (cursor, str(cursor)):
        page = twenty.call("list_memories", cursor=form, limit=10)
        assert page["memories"] == pages[1]
    twenty.call("forget", id=cursor)
    assert twenty.call("list_memories", cursor=cursor, limit=10)["memories"] == pages[1]
    end = twenty.call("list_memories", cursor=2**64 - 1)
    assert end == {"memories": [], "next_cursor": None}


def test_scaffolding_is_listed_only_when_asked_for(client: Any) -> None:
    text = "fact: The gateway calls auth | Gateway"
    request = client.call("remember_extracted", text=text, extractor="outline")["request_id"]
    until(lambda: client.call("extraction_status", request_id=request)["state"] == "committed")
    (visible,) = client.call("list_memories")["memories"]
    assert visible["content"] == "The gateway calls auth"
    internal = client.call("list_memories", include_internal=True)["memories"]
    assert sorted(memory["content"] for memory in internal) == [
        "Entity: gateway",
        "The gateway calls auth",
    ]


@pytest.mark.parametrize(
    ("arguments", "field", "words", "data"),
    [
        ({"cursor": "next"}, "cursor", ["must be an id", '"next"'], {}),
        ({"cursor": "-1"}, "cursor", ["must be an id"], {}),
        ({"cursor": 1.5}, "cursor", ["must be an id"], {}),
        ({"cursor": 2**64}, "cursor", ["must be an id"], {}),
        ({"limit": -1}, "limit", ["at least 0", "-1"], {"limit": 0}),
        ({"limit": "all"}, "limit", ["must be an integer"], {}),
        ({"filter": "x"}, "filter", ["must be an object"], {}),
        ({"filter": {"content": "x"}}, "filter", ["reserved", "content"], {}),
        ({"filter": {"_veles_kind": "x"}, "include_internal": True}, "filter", ["reserved"], {}),
        ({"filter": {str(n): n for n in range(65)}}, "filter", ["at most 64"],
         {"limit": 64, "actual": 65}),
        ({"include_internal": "yes"}, "include_internal", ["must be a boolean"], {}),
        ({"include_internal": 1}, "include_internal", ["must be a boolean", "1"], {}),
        ({"k": 5}, "k", ["known: cursor, filter, include_internal, limit"], {}),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], data: dict[str, Any]
) -> None:
    refusing.call("remember", fact="a note")
    check_refusal(refusing, "list_memories", arguments, *words, field=field, **data)
