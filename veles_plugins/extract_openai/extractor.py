"""Chat completions of the OpenAI protocol as an extractor.

Servers differ in how they force JSON: the strictest way that this one takes is found at
the first request and kept.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import SecretStr

from veles_core.errors import BackendRefused
from veles_core.extraction import SCHEMA, Message, extract_with
from veles_core.limits import MAX_EXTRACTION_BYTES
from veles_core.records import Extraction
from veles_core.remote import Patience, Remote, openai_root

FORMATS: Final[tuple[Mapping[str, Any], ...]] = (  # from the strictest to none
    {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "extraction", "strict": True, "schema": SCHEMA},
        }
    },
    {"response_format": {"type": "json_object"}},
    {},
)
_REFUSED_FORMAT: Final = (400, 422)


class OpenAIExtractor:
    """Asks one model of one service. Thread-safe."""

    def __init__(self, url: str, model: str, token: SecretStr | None, timeout: float) -> None:
        self._model = model
        self._format = 0
        self._remote = Remote(
            openai_root(url),
            "extraction service",
            token=token,
            patience=Patience(total=timeout),
            max_bytes=MAX_EXTRACTION_BYTES,
        )

    def extract(self, text: str) -> Extraction:
        """Everything the model finds; long texts are read piece by piece."""
        return extract_with(self._ask, text)

    def close(self) -> None:
        """Close the connections."""
        self._remote.close()

    def _ask(self, messages: Sequence[Message]) -> str:
        """Ask in the strictest format taken so far; a refused one is given up for the next."""
        for step in range(self._format, len(FORMATS)):
            try:
                content = self._content(messages, FORMATS[step])
            except BackendRefused as error:
                if error.actual not in _REFUSED_FORMAT or step == len(FORMATS) - 1:
                    raise
            else:
                self._format = step
                return content
        raise AssertionError("the last format returns or raises")

    def _content(self, messages: Sequence[Message], form: Mapping[str, Any]) -> str:
        body = {"model": self._model, "messages": list(messages), **form}
        answer = self._remote.post("/chat/completions", body)
        choices = answer.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise self._remote.refusal("answered without choices[0].message")
        content = message.get("content") or message.get("refusal") or ""
        if not isinstance(content, str):
            raise self._remote.refusal("answered a message whose content is not text")
        return content
