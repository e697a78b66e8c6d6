"""How a remote embedder is configured, and which prefixes its model wants. Light to import."""

import re
from dataclasses import dataclass
from typing import Final

from pydantic import SecretStr

from veles_core.settings import BackendSettings, variable

NO_PREFIX: Final = "none"  # an empty variable counts as absent, so this says "empty"


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What is written before a text, by what it is embedded as."""

    query: str = ""
    document: str = ""


_SEARCH: Final = "Represent this sentence for searching relevant passages: "
_TASK: Final = "Given a web search query, retrieve relevant passages that answer the query"

# The first pattern found in a model's name (any case, any publisher, any tag) decides. Each
# entry is the model card's, on huggingface.co. Stores are filled with the document prefix:
# changing one here makes their vectors differ from new ones, so don't.
_TABLE: Final[list[tuple[str, Prefixes]]] = [
    # nomic-ai/nomic-embed-text-v1.5; -v2-moe
    (r"nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    # intfloat/multilingual-e5-large-instruct
    (r"\be5-\w+-instruct", Prefixes(f"Instruct: {_TASK}\nQuery: ")),
    # intfloat/e5-base-v2; multilingual-e5-small
    (r"\be5-", Prefixes("query: ", "passage: ")),
    # BAAI/bge-small-zh-v1.5
    (r"\bbge-\w+-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    # BAAI/bge-base-en-v1.5; Ollama's bge-large (bge-m3 wants none)
    (r"\bbge-(small|base|large)", Prefixes(_SEARCH)),
    # mixedbread-ai/mxbai-embed-large-v1
    (r"mxbai-embed", Prefixes(_SEARCH)),
    # Snowflake/snowflake-arctic-embed-l-v2.0; Ollama's snowflake-arctic-embed2
    (r"arctic-embed(2|.*v2)", Prefixes("query: ")),
    # Snowflake/snowflake-arctic-embed-m-v1.5
    (r"arctic-embed", Prefixes(_SEARCH)),
    # Qwen/Qwen3-Embedding-0.6B
    (r"qwen3-embedding", Prefixes(f"Instruct: {_TASK}\nQuery:")),
    # google/embeddinggemma-300m
    (r"embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
]


def usual_prefixes(model: str) -> Prefixes:
    """The prefixes that a model was trained with, by its name; none for an unknown one."""
    name = model.lower()
    return next((p for pattern, p in _TABLE if re.search(pattern, name)), Prefixes())


class RemoteEmbedderSettings(BackendSettings):
    """What every embedder that asks a service is configured by, besides its address."""

    token: SecretStr | None = variable(
        "EMBEDDER_API_TOKEN", default=None, description="Bearer token of the embedding service"
    )
    timeout: float = variable(
        "EMBEDDER_TIMEOUT", default=20.0, gt=0, description="Seconds that one answer may take"
    )
    query_prefix: str | None = variable(
        "EMBEDDER_QUERY_PREFIX",
        default=None,
        description="Written before each query; none for nothing; by default what the model wants",
    )
    document_prefix: str | None = variable(
        "EMBEDDER_DOCUMENT_PREFIX",
        default=None,
        description="Written before each fact; none for nothing; by default what the model wants",
    )

    def prefixes(self, model: str) -> Prefixes:
        """The configured prefixes, and the model's usual ones where none is configured."""
        usual = usual_prefixes(model)
        return Prefixes(
            _chosen(self.query_prefix, usual.query), _chosen(self.document_prefix, usual.document)
        )


def _chosen(configured: str | None, usual: str) -> str:
    if configured is None:
        return usual
    return "" if configured == NO_PREFIX else configured
