"""Slots: the types of a tool's arguments, as lenient as the wire allows and no more.

Each slot advertises one JSON type. A slot whose type is not string also accepts that
value JSON-encoded inside a string, because some clients stringify everything; a string
slot is never decoded. Whatever the form, the value must then be of the advertised type:
6 and "6" are integers; 6.0, "6.0", true and "null" are not.
"""

import json
import math
from typing import Annotated, Any, Final, NoReturn, TypeVar

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from veles_core.errors import InvalidInput
from veles_core.ids import parse_id
from veles_core.limits import MAX_JSON_DEPTH

REFUSED: Final = "refused"  # pydantic's name for every refusal that starts here

_EXCERPT: Final = 60  # characters of a refused value that an error repeats


def refuse(expected: str, value: object) -> NoReturn:
    """Refuse a slot's value; ``expected`` completes the sentence "<slot> must be …"."""
    context = {"expected": expected, "actual": excerpt(value)}
    raise PydanticCustomError(REFUSED, "must be {expected}, not {actual}", context)


def excerpt(value: object) -> str:
    """A refused value as an error may repeat it: JSON, and short."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case dict():
            return "an object"
        case list() | tuple():
            return "an array"
        case int() if value.bit_length() > 256:
            return "an integer of more than 70 digits"
        case str():
            quoted = json.dumps(printable(value[:_EXCERPT]), ensure_ascii=False)
            return quoted if len(value) <= _EXCERPT else quoted + "…"
        case _:
            return json.dumps(value, default=str)


def printable(text: str) -> str:
    """Text that can be sent: lone surrogates are spelt out."""
    return text.encode(errors="backslashreplace").decode()


def decode(value: object) -> object:
    """What a string stands for, once, if it is JSON; any other value is itself."""
    if not isinstance(value, str):
        return value
    try:
        decoded: object = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return decoded


def plain(value: object) -> object:
    """The value, if every part of it can be stored and sent as JSON.

    Refuses NaN, infinities, lone surrogates and nesting that a recursive reader could
    not follow; walks without recursion for that reason.
    """
    pending: list[tuple[object, int]] = [(value, 0)]
    while pending:
        part, depth = pending.pop()
        if depth > MAX_JSON_DEPTH:
            message = "must not be nested more than {limit} levels deep"
            raise PydanticCustomError(REFUSED, message, {"limit": MAX_JSON_DEPTH})
        if isinstance(part, dict):
            pending += [(key, depth) for key in part]
            pending += [(item, depth + 1) for item in part.values()]
        elif isinstance(part, (list, tuple)):
            pending += [(item, depth + 1) for item in part]
        elif isinstance(part, str):
            _check_unicode(part)
        elif isinstance(part, float) and not math.isfinite(part):
            refuse("made of finite numbers", part)
    return value


def _check_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PydanticCustomError(
            REFUSED,
            "must be well-formed Unicode: character {position} is the lone surrogate U+{code}",
            {"code": f"{ord(text[error.start]):04X}", "position": error.start},
        ) from None


def _text(value: object) -> object:
    if not isinstance(value, str):
        refuse("a string", value)
    _check_unicode(value)
    return value


def _id(value: object) -> object:
    try:
        return parse_id(value, "id")
    except (InvalidInput, ValueError):  # ValueError: an integer too long to be printed
        refuse("an id: a decimal string from 0 to 2^64-1, the id_str of an earlier answer", value)


def _decimal_id(value: object) -> object:
    return str(_id(value))


def _integer(value: object) -> object:
    decoded = decode(value)
    if not isinstance(decoded, int) or isinstance(decoded, bool):
        refuse("an integer", value)
    return decoded


def _number(value: object) -> object:
    decoded = decode(value)
    if not isinstance(decoded, (int, float)) or isinstance(decoded, bool):
        refuse("a number", value)
    try:
        number = float(decoded)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        refuse("a finite number", value)
    return number


def _boolean(value: object) -> object:
    decoded = decode(value)
    if not isinstance(decoded, bool):
        refuse("a boolean", value)
    return decoded


def json_object(value: object) -> object:
    """An object, or the JSON text of one."""
    decoded = decode(value)
    if not isinstance(decoded, dict):
        refuse("an object", value)
    return decoded


def _array(value: object) -> object:
    decoded = decode(value)
    if not isinstance(decoded, list):
        refuse("an array", value)
    return decoded


def _scalar(value: object) -> object:
    if not isinstance(value, (str, int, float)):
        refuse("a number, a string or a boolean", value)
    return plain(value)


def untold(default: object, description: str) -> Any:
    """A field whose default only its description tells: the advertised schema has none."""
    return Field(default, description=description, json_schema_extra=_drop_default)


def _drop_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


Item = TypeVar("Item")

Text = Annotated[str, BeforeValidator(_text)]
Id = Annotated[int, BeforeValidator(_id), WithJsonSchema({"type": "string"})]
DecimalId = Annotated[str, BeforeValidator(_decimal_id)]  # an id that is kept as its digits
Natural = Annotated[int, Field(ge=0), BeforeValidator(_integer)]
Byte = Annotated[int, Field(ge=0, le=255), BeforeValidator(_integer)]
Number = Annotated[float, BeforeValidator(_number)]
Boolean = Annotated[bool, BeforeValidator(_boolean)]
JsonObject = Annotated[dict[str, Any], BeforeValidator(plain), BeforeValidator(json_object)]
Items = Annotated[tuple[Item, ...], BeforeValidator(_array)]
Named = Annotated[dict[str, Item], BeforeValidator(plain), BeforeValidator(json_object)]
Scalar = Annotated[
    Any, BeforeValidator(_scalar), WithJsonSchema({"type": ["number", "string", "boolean"]})
]
