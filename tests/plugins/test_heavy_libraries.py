"""What nobody selected is not imported."""

import subprocess
import sys

HEAVY = {
    "chromadb",
    "hnswlib",
    "onnxruntime",
    "pgvector",
    "psycopg",
    "psycopg_pool",
    "safetensors",
    "tiktoken",
    "tokenizers",
    "torch",
    "wordllama",
}
USE = """
import sys
from veles_core.plugins import discover
from veles_core.server.app import open_memory

found = {name for kind in ("store", "embedder", "tokenizer") for name in discover().names(kind)}
assert {"chroma", "postgres", "local", "tiktoken"} <= found, found
with open_memory() as memory:
    memory.remember("The staging cluster has six nodes", metadata={"n": 1})
    memory.recall("staging")
    memory.suggest_budget("claude-sonnet-4-5")
print(*{name.partition(".")[0] for name in sys.modules})
"""


def test_a_memory_with_the_defaults_imports_no_library_of_another_backend() -> None:
    used = subprocess.run(
        [sys.executable, "-c", USE], capture_output=True, text=True, check=True, timeout=120
    )
    assert HEAVY & {*used.stdout.split()} == set()
