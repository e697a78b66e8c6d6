"""Configuration: the environment first, then a TOML file, then defaults.

The only module that reads either. A backend's settings class derives from
``BackendSettings`` and names each field's variable by ``variable(...)``. The TOML file
uses the same names in lower case without the prefix (``embedder_url = "…"``); secrets
are refused there.
"""

import difflib
import logging
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar
from urllib.parse import urlsplit, urlunsplit

import platformdirs
from pydantic import AliasChoices, BeforeValidator, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from veles_core.errors import ConfigurationError

PREFIX: Final = "VELESDB_MEMORY_"
CONFIG_VARIABLE: Final = PREFIX + "CONFIG"
PLUGINS_VARIABLE: Final = PREFIX + "PLUGINS"

log = logging.getLogger(__name__)


def variable(*names: str, default: Any = ..., **constraints: Any) -> Any:
    """A settings field read from ``VELESDB_MEMORY_<name>``; further names are older aliases."""
    return Field(
        default, validation_alias=AliasChoices(*(PREFIX + name for name in names)), **constraints
    )


class BackendSettings(BaseSettings):
    """Base of every settings class: frozen, and silent about values in its errors."""

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True
    )


def _split_paths(value: object) -> object:
    """Directories separated as in PATH, or a TOML list."""
    return [p for p in value.split(os.pathsep) if p] if isinstance(value, str) else value


class Settings(BackendSettings):
    """What the server itself is configured by; backends add their own variables."""

    path: Path = variable(
        "PATH",
        default_factory=lambda: platformdirs.user_data_path("veles-memory", appauthor=False),
        description="Directory of the memory",
    )
    store: str = variable("STORE", default="hnsw", description="Store backend")
    embedder: str = variable("EMBEDDER", default="hash", description="Embedder backend")
    extractor: str | None = variable(
        "EXTRACTOR", default=None, description="Extractor that remember_extracted uses by default"
    )
    tokenizer: str = variable("TOKENIZER", default="heuristic", description="Tokenizer backend")
    ranking: Literal["hybrid", "vector"] = variable(
        "RANKING", default="hybrid", description="hybrid: similarity and words; vector: similarity"
    )
    default_ttl: int | None = variable(
        "DEFAULT_TTL",
        default=None,
        ge=1,
        description="Expiry in seconds of facts without their own",
    )
    ingest_roots: Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_split_paths)] = variable(
        "INGEST_ROOTS", default=(), description="Directories that a path argument may read from"
    )
    autograph: bool = variable(
        "AUTOGRAPH", default=False, description="Build the graph from each remembered fact"
    )
    log: Literal["debug", "info", "warning", "error"] = variable(
        "LOG", default="warning", description="Level of the log on standard error"
    )
    quiet: bool = variable("QUIET", default=False, description="No notices on standard error")


S = TypeVar("S", bound=BackendSettings)


def load(settings: type[S], target: bool = False) -> S:
    """Read one settings class from the environment, the file and its defaults.

    With ``target`` a ``VELESDB_MEMORY_TARGET_…`` variable stands in for the
    ``VELESDB_MEMORY_EMBEDDER_…`` one: a migration's two embedders may be of one backend.
    Raises ConfigurationError naming each variable at fault, never a secret's value. The
    log notes an older alias that is set in vain.
    """
    names = variables(settings)
    from_file = {name: value for name, value in _file_values().items() if name in names}
    for name in from_file:
        if _is_secret(names[name]):
            raise ConfigurationError(
                f"the configuration file holds {_file_key(name)}; secrets are read from the "
                f"environment only: remove it there and set {name}",
                field=name,
            )
    # An older alias in the environment still wins over the file's newer name.
    winners: dict[int, str] = {}
    for name in (name for name in names if os.environ.get(name)):
        winner = winners.setdefault(id(names[name]), name)
        if winner != name:
            log.warning("%s is used; the older %s is set too and ignored", winner, name)
    defaults = {n: v for n, v in from_file.items() if id(names[n]) not in winners}
    if target:
        defaults |= _target_values(names)
    try:
        return settings(**defaults)
    except ValidationError as error:
        raise ConfigurationError(_describe(error)) from None


def selected_plugins() -> tuple[str, ...] | None:
    """The entry points that may be loaded; None means all, empty means only the built-ins."""
    value = os.environ.get(PLUGINS_VARIABLE)
    return (
        None if value is None else tuple(name.strip() for name in value.split(",") if name.strip())
    )


def variables(settings: type[BaseSettings]) -> dict[str, FieldInfo]:
    """Every variable that a settings class reads, aliases included, with its field."""
    names: dict[str, FieldInfo] = {}
    for field in settings.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices):
            names |= {
                name: field for name in field.validation_alias.choices if isinstance(name, str)
            }
    return names


def target_variable(name: str) -> str | None:
    """The variable that stands in for an embedder's one while it is a migration's target."""
    role, target = PREFIX + "EMBEDDER_", PREFIX + "TARGET_"
    return target + name.removeprefix(role) if name.startswith(role) else None


def calm_threads() -> None:
    """Let numpy's linear algebra use one thread, unless the environment says otherwise.

    Comparing a query with every vector waits for memory, not for arithmetic: a second
    thread gains little on an idle machine and costs ten times as much on a busy one. To be
    called before numpy is imported.
    """
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ.setdefault(name, "1")


def _target_values(names: Iterable[str]) -> dict[str, str]:
    pairs = ((name, target_variable(name)) for name in names)
    return {name: os.environ[var] for name, var in pairs if var and os.environ.get(var)}


def misspelt(known: Iterable[str]) -> list[str]:
    """One sentence for each variable or file key with the prefix that nothing reads."""
    names = {*known, CONFIG_VARIABLE, PLUGINS_VARIABLE}
    found = {name: name for name in os.environ if name.startswith(PREFIX)}
    found |= {name: f"{_file_key(name)} in the configuration file" for name in _file_values()}
    return [
        f"{shown} is not a setting of anything installed" + _nearest(name, names)
        for name, shown in sorted(found.items())
        if name not in names
    ]


def mask_url(url: str) -> str:
    """The URL as it may be shown: user and password replaced by ***."""
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc="***@" + parts.netloc.rpartition("@")[2]))


def _nearest(name: str, names: Iterable[str]) -> str:
    """A suggestion by what follows the prefix, which all names share."""
    endings = sorted(known.removeprefix(PREFIX) for known in names)
    close = difflib.get_close_matches(name.removeprefix(PREFIX), endings, n=1)
    return f"; did you mean {PREFIX}{close[0]}?" if close else ""


def _file_values() -> Mapping[str, Any]:
    """The configuration file's values by variable name; empty without a file."""
    path = os.environ.get(CONFIG_VARIABLE)
    if not path:
        return {}
    try:
        with Path(path).open("rb") as file:
            values = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(
            f"{CONFIG_VARIABLE}: the configuration file {path} can't be read: {error}"
        ) from None
    return {PREFIX + key.upper(): value for key, value in values.items()}


def _file_key(name: str) -> str:
    return name.removeprefix(PREFIX).lower()


def _is_secret(field: FieldInfo) -> bool:
    return "SecretStr" in str(field.annotation)


def _describe(error: ValidationError) -> str:
    """The variables at fault with what is wrong; values are not repeated."""
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
