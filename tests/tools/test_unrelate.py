"""unrelate: the exact undo of relate. What both refuse is in test_relate."""

from typing import Any

from veles_core.testing.waiting import until


def test_a_link_is_removed_once_and_the_memories_stay(client: Any) -> None:
    one, other = (client.call("remember", fact=fact)["id_str"] for fact in ("one", "other"))
    edge = {"from": one, "to": other, "relation": "see"}
    back = {"from": other, "to": one, "relation": "see"}
    client.call("relate", **edge)
    client.call("relate", **back)
    assert client.call("unrelate", **edge | {"to": "42"}) == {"found": False, "removed": 0}
    assert client.call("unrelate", **edge | {"relation": "seen"}) == {"found": False, "removed": 0}
    assert client.call("unrelate", **edge | {"relation": " see "}) == {"found": True, "removed": 1}
    assert client.call("unrelate", **edge) == {"found": False, "removed": 0}
    assert client.call("memory_status")["memory"] == {"facts": 2, "edges": 1}
    assert client.call("unrelate", **back) == {"found": True, "removed": 1}
    assert client.call("memory_status")["memory"] == {"facts": 2, "edges": 0}


def test_a_derived_link_is_removed_like_any_other(client: Any) -> None:
    text = "fact: The gateway calls auth | Gateway\nedge: Gateway | calls | Auth"
    request = client.call("remember_extracted", text=text, extractor="outline")["request_id"]
    until(lambda: client.call("extraction_status", request_id=request)["state"] == "committed")
    (relation,) = client.call("entity", name="gateway")["relations"]
    source = client.call("entity", name="gateway")["id_str"]
    edge = {"from": source, "to": relation["target_id_str"], "relation": "calls"}
    assert client.call("unrelate", **edge) == {"found": True, "removed": 1}
    view = client.call("entity", name="gateway")
    assert (view["found"], view["relations"]) == (True, [])
