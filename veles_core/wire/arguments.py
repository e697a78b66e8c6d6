"""Arguments: the base of every tool's input model, and how a refusal is told."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from veles_core.errors import InvalidInput
from veles_core.wire.slots import excerpt, json_object, printable

A = TypeVar("A", bound="Arguments")

_MEMBER: Final = "member"  # pydantic's name for a refused member of an object
_NAME: Final = 60  # characters of an unknown name that an error repeats


class Arguments(BaseModel):
    """A JSON object with known members: a tool's arguments, or an object slot in them.

    A null member is an absent one. An object slot may also come as JSON text. Unknown
    members are refused, so that a misspelt name is never ignored in silence.
    """

    model_config = ConfigDict(frozen=True)

    deprecated: ClassVar[Mapping[str, str]] = {}
    """Former names of members, still accepted but not advertised."""

    @model_validator(mode="before")
    @classmethod
    def _members(cls, value: object) -> object:
        members = json_object(value)
        assert isinstance(members, dict)
        present = {name: member for name, member in members.items() if member is not None}
        for former, name in cls.deprecated.items():
            if former in present and name in present:
                _refuse_member(former, f"is a former name of {name}; send {name} only")
            if former in present:
                present[name] = present.pop(former)
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for name in members:
            if name not in known and name not in cls.deprecated:
                _refuse_member(name, f"is not a known argument{nearest(name, known)}")
        return present


def read(model: type[A], arguments: Mapping[str, Any]) -> A:
    """A tool's arguments as its model. Raises InvalidInput naming the slot at fault."""
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
    raise _refusal(fault)


def nearest(name: str, known: Iterable[str]) -> str:
    """The way out of a misspelt name: the nearest known one, or all there are."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known: {', '.join(names)}" if names else "; there are none"


def _refuse_member(name: str, sentence: str) -> NoReturn:
    context = {"name": printable(name[:_NAME]), "sentence": sentence}
    raise PydanticCustomError(_MEMBER, "{sentence}", context)


def _refusal(fault: ErrorDetails) -> InvalidInput:
    """A fault told with its full path; ``field`` is the tool's own slot at the path's head."""
    context = fault.get("ctx", {})
    location = fault["loc"]
    message, limit = fault["msg"], context.get("limit")
    actual: float | str | None = context.get("actual", excerpt(fault["input"]))
    match fault["type"]:
        case "missing":
            message, actual = "is required", None
        case "greater_than_equal":
            limit = context["ge"]
            message = f"must be at least {limit}, not {actual}"
        case "less_than_equal":
            limit = context["le"]
            message = f"must be at most {limit}, not {actual}"
        case "literal_error":
            message = f"must be one of {context['expected']}, not {actual}"
        case kind if kind == _MEMBER:
            location, actual = (*location, context["name"]), None
    head = str(location[0]) if location else None
    return InvalidInput(f"{_path(location)} {message}", field=head, limit=limit, actual=actual)


def _path(location: Sequence[int | str]) -> str:
    """``links[0].target`` for ("links", 0, "target"); a caller's own key may be long."""
    path = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part[:_NAME]}" for part in location
    )
    return path.removeprefix(".")
