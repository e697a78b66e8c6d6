"""JSONL transcripts: one object with ``role`` and ``content`` a line."""

import json
from typing import Any, Final, NamedTuple

from veles_core.context.model import Format
from veles_core.errors import ContextOverLimit, InvalidInput
from veles_core.limits import MAX_FACT_BYTES

_PART_JOINER: Final = "\n"  # between the text parts of one message


class Message(NamedTuple):
    """One message; ``size`` is the bytes of its line, with the blank lines after it."""

    role: str
    content: str
    size: int


class _NotMessage(ValueError):
    """A line is not a message, with the reason."""


def parse_messages(transcript: str, form: Format) -> list[Message] | None:
    """The messages of a JSONL transcript, None for a plain one.

    ``auto`` takes a transcript for JSONL if each of its non-blank lines is a message. A
    line that is none of a transcript said to be ``jsonl`` is InvalidInput.
    """
    if form == "plain" or (form == "auto" and not transcript.lstrip().startswith("{")):
        return None
    messages: list[Message] = []
    leading = 0
    lines = transcript.split("\n")
    for number, line in enumerate(lines, 1):
        size = len(line.encode()) + (number < len(lines))
        if not line.strip():
            if messages:
                messages[-1] = messages[-1]._replace(size=messages[-1].size + size)
            else:
                leading += size
            continue
        try:
            role, content = _message(line)
        except _NotMessage as error:
            if form == "auto":
                return None
            raise InvalidInput(
                f"line {number} of the transcript is not a JSONL message: {error}",
                field="transcript",
                actual=number,
            ) from None
        _check_size(content, number)
        messages.append(Message(role, content, leading + size))
        leading = 0
    if messages or form == "auto":
        return messages or None
    raise InvalidInput("the transcript holds no JSONL message", field="transcript")


def _message(line: str) -> tuple[str, str]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise _NotMessage("it is not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise _NotMessage("it is not an object with a role")
    content = _content(message.get("content"))
    try:
        (message["role"] + content).encode()
    except UnicodeEncodeError:
        raise _NotMessage("it holds half of a surrogate pair") from None
    return message["role"], content


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _NotMessage("its content is neither a string nor a list of parts")
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, dict):
            raise _NotMessage("a part of its content is neither a string nor an object")
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
    return _PART_JOINER.join(texts)


def _check_size(content: str, line: int) -> None:
    size = len(content.encode())
    if size > MAX_FACT_BYTES:
        raise ContextOverLimit(
            f"the message on line {line} of the transcript is {size} bytes, over the limit of "
            f"{MAX_FACT_BYTES} for one source: shorten it",
            field="transcript",
            limit=MAX_FACT_BYTES,
            actual=size,
        )
