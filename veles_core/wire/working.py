"""The working-context tools: the state of a session as an agent writes it and reads it back.

What is saved is what was sent, ids as decimal strings, so that an agent can load it,
enrich it and save it back.
"""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from veles_core.wire.arguments import Arguments
from veles_core.wire.slots import DecimalId, Items, Text


class Source(Arguments):
    fragment_id: DecimalId = Field(description="The fragment's id, as a string.")
    handle: Text = Field(description="The ctx://source/… handle of its original.")
    memory_id: DecimalId | None = Field(
        None, description="The memory it was pulled from, as a string."
    )


class Statement(Arguments):
    text: Text = Field(description="One sentence.")
    source: Source | None = Field(None, description="Where it is known from: a compiled fragment.")


class Decision(Arguments):
    fragment_id: DecimalId = Field(description="The fragment decided on, as a string.")
    rule_id: Text = Field(description="The rule that decided.")


class WorkingContext(Arguments):
    goal: Text | None = Field(None, description="What the session is trying to achieve.")
    active_constraints: Items[Statement] = Field(
        (), description="What must or must not be done, from here to the end."
    )
    verified_facts: Items[Statement] = Field((), description="What was found to be true.")
    open_hypotheses: Items[Statement] = Field((), description="What is suspected but not shown.")
    decisions: Items[Decision] = Field(
        (), description="Decisions of a compilation worth keeping, by fragment and rule."
    )
    exact_evidence: Items[Source] = Field(
        (), description="Fragments whose exact wording matters; their handles give it back."
    )
    pending_actions: Items[Text] = Field((), description="What to do next, in order.")

    def saved(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_unset=True)


class Session(Arguments):
    project: Text = Field(description="The project, as in the metadata of its memories.")
    session: Text = Field(description="A stable name of the run to resume, e.g. a conversation id.")


class SaveWorkingContext(Session):
    working: WorkingContext = Field(
        description="The distilled state, at most 1 MiB. It replaces the one saved before."
    )


class LoadWorkingContext(Session):
    pass


class ListWorkingContexts(Arguments):
    project: Text = Field(description="The project whose sessions to list.")


class SavedSource(TypedDict):
    fragment_id: str
    handle: str
    memory_id: NotRequired[str | None]


class SavedStatement(TypedDict):
    text: str
    source: NotRequired[SavedSource | None]


class SavedDecision(TypedDict):
    fragment_id: str
    rule_id: str


class SavedState(TypedDict, total=False):
    goal: str | None
    active_constraints: list[SavedStatement]
    verified_facts: list[SavedStatement]
    open_hypotheses: list[SavedStatement]
    decisions: list[SavedDecision]
    exact_evidence: list[SavedSource]
    pending_actions: list[str]


class Loaded(TypedDict):
    found: bool
    working: SavedState | None
    other_sessions: list[str]


class SessionEntry(TypedDict):
    session: str
    saved_at: Annotated[int, Field(ge=0)]


class Sessions(TypedDict):
    sessions: list[SessionEntry]
