"""Exact token counts of OpenAI's encodings, by tiktoken, without a network."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field

from veles_core.hookspecs import Backend, Host, hookimpl
from veles_core.protocols import Tokenizer
from veles_core.settings import PREFIX, BackendSettings, variable


class TiktokenSettings(BackendSettings):
    """Which encoding, and where tiktoken keeps its files."""

    encoding: Literal["cl100k_base", "o200k_base"] = variable(
        "TOKENIZER_ENCODING",
        default="cl100k_base",
        description="Encoding that tiktoken counts in: cl100k_base or o200k_base",
    )
    # The aliases are tiktoken's own variables, so that a cache filled for it is found.
    cache_dir: Path | None = Field(
        None,
        validation_alias=AliasChoices(
            PREFIX + "TIKTOKEN_CACHE_DIR", "TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"
        ),
        description="Directory in which tiktoken has cached its encodings",
    )


@hookimpl
def veles_tokenizers() -> Iterable[Backend[Tokenizer]]:
    """The tokenizer ``tiktoken``."""
    summary = "exact counts for cl100k_base and o200k_base"
    install = "pip install 'veles-memory[tiktoken]'"
    return [Backend("tiktoken", summary, _open, TiktokenSettings, install)]


def _open(settings: TiktokenSettings, _host: Host) -> Tokenizer:
    from veles_plugins.tokenize_tiktoken.tokenizer import TiktokenTokenizer

    return TiktokenTokenizer(settings.encoding, settings.cache_dir)
