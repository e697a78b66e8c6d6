"""Weights and tokenizers that installed packages carry, read without running their code."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.numpy import load_file
from tokenizers import Tokenizer

from veles_core.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Tensors = dict[str, npt.NDArray[np.floating[Any]]]


def folder(package: str, install: str) -> Path:
    """Where a package keeps its files.

    It is not imported: wordllama would reconfigure the log and bring an HTTP client along.
    Raises ConfigurationError with the command ``install`` if it isn't there.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            f"the package {package} is missing, which carries the model; install it with: {install}"
        )
    return Path(spec.submodule_search_locations[0])


def tensors(path: Path) -> "Tensors":
    """The arrays of a safetensors file, by name."""
    loaded: Tensors = load_file(path)
    return loaded


def tokenizer(path: Path) -> Tokenizer:
    """A tokenizer that neither pads nor cuts."""
    loaded: Tokenizer = Tokenizer.from_file(str(path))
    loaded.no_padding()
    loaded.no_truncation()
    return loaded
