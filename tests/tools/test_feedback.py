"""feedback: confidence in exact steps, within its bounds, for memories that are there."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.serving import check_refusal


def test_confidence_moves_in_exact_steps_within_its_bounds(client: Any) -> None:
    stored = client.call("remember", fact="a fact")
    identity = stored["id_str"]
    first = client.call("feedback", id=identity, success=True)
    assert first == stored | {"confidence": 0.6}

    def after(success: bool, times: int) -> list[float]:
        calls = [client.call("feedback", id=identity, success=success) for _ in range(times)]
        return [call["confidence"] for call in calls]

    assert after(True, 6) == [0.7, 0.8, 0.9, 1.0, 1.0, 1.0]
    assert after(False, 3) == [0.95, 0.9, 0.85]
    assert after(False, 18)[-2:] == [0.0, 0.0]


def test_calls_at_once_lose_no_step(client: Any) -> None:
    identity = client.call("remember", fact="a fact")["id_str"]
    with ThreadPoolExecutor(8) as threads:
        calls = [
            threads.submit(client.call, "feedback", id=identity, success=False) for _ in range(8)
        ]
        seen = sorted(call.result()["confidence"] for call in calls)
    assert seen == [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45]


@pytest.mark.parametrize(
    ("arguments", "field", "words", "category"),
    [
        ({"id": "42", "success": True}, "id", ["no memory 42"], "NotFound"),
        ({"success": True}, "id", ["required"], "InvalidInput"),
        ({"id": "x", "success": True}, "id", ["must be an id"], "InvalidInput"),
        ({"id": "1"}, "success", ["required"], "InvalidInput"),
        ({"id": "1", "success": "yes"}, "success", ["must be a boolean", '"yes"'], "InvalidInput"),
        ({"id": "1", "success": 1}, "success", ["must be a boolean", "1"], "InvalidInput"),
        ({"id": "1", "success": "null"}, "success", ["must be a boolean"], "InvalidInput"),
        ({"id": "1", "success": True, "sucess": 1}, "sucess", ["success?"], "InvalidInput"),
    ],
)
def test_bad_outcomes_are_refused(
    refusing: Any, arguments: dict[str, Any], field: str, words: list[str], category: str
) -> None:
    refusing.call("remember", fact="a fact")
    check_refusal(refusing, "feedback", arguments, *words, field=field, category=category)


def test_a_working_context_is_no_memory_to_reinforce(client: Any) -> None:
    saved = client.call("save_working_context", project="p", session="s", working={"goal": "g"})
    arguments = {"id": saved["id_str"], "success": True}
    check_refusal(client, "feedback", arguments, "no memory", field="id", category="NotFound")
