"""Ollama's ``/api/chat`` as an extractor; the answer's grammar is forced by its schema."""

from collections.abc import Sequence
from typing import Final

from pydantic import SecretStr

from veles_core.extraction import SCHEMA, Message, extract_with
from veles_core.limits import MAX_EXTRACTION_BYTES
from veles_core.records import Extraction
from veles_core.remote import Patience, Remote

# Ollama cuts what doesn't fit its window without a word, and its default window is small.
# This one holds the prompt, a piece of MAX_PASSAGE_BYTES and an answer to it twice over.
# It is the same for every request: another size makes Ollama load the model again.
WINDOW: Final = 16384  # tokens


class OllamaExtractor:
    """Asks one model of one Ollama. Thread-safe."""

    def __init__(self, url: str, model: str, token: SecretStr | None, timeout: float) -> None:
        self._model = model
        self._remote = Remote(
            url,
            "Ollama extraction service",
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
        answer = self._remote.post(
            "/api/chat",
            {
                "model": self._model,
                "messages": list(messages),
                "stream": False,
                "format": SCHEMA,
                "options": {"temperature": 0, "seed": 0, "num_ctx": WINDOW},
            },
        )
        message = answer.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, str):
            raise self._remote.refusal("answered without message.content")
        return content
