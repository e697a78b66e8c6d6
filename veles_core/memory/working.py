"""Working contexts: the distilled state of a session, saved so that a later one picks it up.

Kept as documents. ``working`` holds each state under the decimal id of its (project,
session) pair; ``working-index`` lists the sessions of a project without reading the states.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from veles_core.errors import InvalidInput
from veles_core.ids import source_id, working_id
from veles_core.limits import MAX_WORKING_CONTEXT_BYTES
from veles_core.memory.answers import LoadedContext, Remembered, SessionEntry
from veles_core.memory.metadata import plain_json
from veles_core.memory.text import byte_length
from veles_core.protocols import Store
from veles_core.records import Document

STATES: Final = "working"
INDEX: Final = "working-index"
FIELDS: Final = (
    "goal",
    "active_constraints",
    "verified_facts",
    "open_hypotheses",
    "decisions",
    "exact_evidence",
    "pending_actions",
)
PAGE: Final = 500


def save(
    store: Store, project: str, session: str, working: Mapping[str, Any], now: float
) -> Remembered:
    """Save the state of a session; it replaces the one saved under the same pair before."""
    project, session = _facet(project, "project"), _facet(session, "session")
    state = _checked(working)
    id = working_id(project, session)
    entry = {"project": project, "session": session, "saved_at": int(now)}
    with store.transaction():
        store.put_documents(STATES, [Document(str(id), _bytes(entry | {"working": state}))])
        store.put_documents(INDEX, [Document(_index_key(project, id), _bytes(entry))])
    return Remembered(id)


def load(store: Store, project: str, session: str) -> LoadedContext:
    """The state saved under exactly this pair, and the other sessions of the project."""
    project, session = _facet(project, "project"), _facet(session, "session")
    key = str(working_id(project, session))
    found = store.get_documents(STATES, [key]).get(key)
    others = tuple(entry.session for entry in listed(store, project) if entry.session != session)
    working = json.loads(found.value)["working"] if found else None
    return LoadedContext(found is not None, working, others)


def listed(store: Store, project: str) -> list[SessionEntry]:
    """The sessions saved under a project, newest first, ties by name."""
    entries = [
        SessionEntry(entry["session"], entry["saved_at"])
        for entry in _index(store, _facet(project, "project"))
    ]
    return sorted(entries, key=lambda entry: (-entry.saved_at, entry.session))


def forget(store: Store, id: int) -> bool:
    """Inside a transaction: delete the state with this id and its entry in the index."""
    found = store.get_documents(STATES, [str(id)]).get(str(id))
    if found is None:
        return False
    store.delete_documents(STATES, [str(id)])
    store.delete_documents(INDEX, [_index_key(json.loads(found.value)["project"], id)])
    return True


def _index(store: Store, project: str) -> Iterator[dict[str, Any]]:
    prefix = _index_key(project)
    after = prefix
    while page := store.scan_documents(INDEX, after, PAGE):
        for document in page:
            if not document.key.startswith(prefix):
                return
            yield json.loads(document.value)
        after = page[-1].key


def _index_key(project: str, id: int | str = "") -> str:
    return f"{source_id(project.encode())}/{id}"


def _facet(value: str, field: str) -> str:
    byte_length(value, field)
    if not value.strip():
        raise InvalidInput(f"{field} is empty; name it", field=field)
    return value.strip()


def _checked(working: Mapping[str, Any]) -> dict[str, Any]:
    state = plain_json(working, "working", MAX_WORKING_CONTEXT_BYTES)
    for name in state:
        if name not in FIELDS:
            raise InvalidInput(
                f"working holds an unknown field {name[:80]!r}; it may hold {', '.join(FIELDS)}",
                field="working",
                actual=name[:80],
            )
    if not any(value.strip() if isinstance(value, str) else value for value in state.values()):
        raise InvalidInput(
            "working is empty, and saving it would replace a real state: give it a goal or "
            "anything else to resume from",
            field="working",
        )
    return state


def _bytes(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
