"""Configuration: environment before file before default, and nothing secret in an error."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from veles_core.errors import ConfigurationError
from veles_core.settings import (
    BackendSettings,
    Settings,
    load,
    mask_url,
    misspelt,
    selected_plugins,
    variable,
    variables,
)


class Remote(BackendSettings):
    url: str = variable("EMBEDDER_URL", "OLLAMA_URL", default="http://localhost:11434")
    token: SecretStr | None = variable("EMBEDDER_API_TOKEN", default=None)
    timeout: float = variable("EMBEDDER_TIMEOUT", default=10.0, gt=0)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "veles.toml"
    monkeypatch.setenv("VELESDB_MEMORY_CONFIG", str(path))
    return path


def test_defaults_need_no_configuration() -> None:
    settings = load(Settings)
    assert (settings.store, settings.embedder, settings.tokenizer) == ("hnsw", "hash", "heuristic")
    assert settings.ranking == "hybrid"
    assert settings.extractor is None


def test_the_environment_wins_over_the_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config.write_text('store = "exact"\nembedder = "local"\n')
    monkeypatch.setenv("VELESDB_MEMORY_STORE", "chroma")
    settings = load(Settings)
    assert (settings.store, settings.embedder) == ("chroma", "local")


def test_an_older_alias_in_the_environment_wins_over_the_file(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text('embedder_url = "http://file"\n')
    monkeypatch.setenv("VELESDB_MEMORY_OLLAMA_URL", "http://alias")
    assert load(Remote).url == "http://alias"


def test_the_role_named_variable_wins_over_its_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VELESDB_MEMORY_OLLAMA_URL", "http://alias")
    monkeypatch.setenv("VELESDB_MEMORY_EMBEDDER_URL", "http://role")
    assert load(Remote).url == "http://role"


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VELESDB_MEMORY_EXTRACTOR", "")
    assert load(Settings).extractor is None


def test_a_secret_in_the_file_is_refused_without_printing_it(config: Path) -> None:
    config.write_text('embedder_api_token = "hunter2"\n')
    with pytest.raises(ConfigurationError) as caught:
        load(Remote)
    assert "VELESDB_MEMORY_EMBEDDER_API_TOKEN" in caught.value.message
    assert "hunter2" not in repr(caught.value)


def test_a_bad_value_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VELESDB_MEMORY_RANKING", "best")
    with pytest.raises(ConfigurationError, match=r"VELESDB_MEMORY_RANKING.*'hybrid' or 'vector'"):
        load(Settings)


def test_a_file_that_is_no_toml_is_refused(config: Path) -> None:
    config.write_text("store = \n")
    with pytest.raises(ConfigurationError, match=r"VELESDB_MEMORY_CONFIG.*can't be read"):
        load(Settings)


def test_a_missing_file_is_refused(config: Path) -> None:
    with pytest.raises(ConfigurationError, match=str(config)):
        load(Settings)


def test_misspelt_names_are_reported_with_the_nearest(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text('embeder_url = "x"\n')
    monkeypatch.setenv("VELESDB_MEMORY_EMBEDER", "hash")
    monkeypatch.setenv("VELESDB_MEMORY_ZZZ", "1")
    assert misspelt(variables(Settings).keys() | variables(Remote).keys()) == [
        "VELESDB_MEMORY_EMBEDER is not a setting of anything installed; "
        "did you mean VELESDB_MEMORY_EMBEDDER?",
        "embeder_url in the configuration file is not a setting of anything installed; "
        "did you mean VELESDB_MEMORY_EMBEDDER_URL?",
        "VELESDB_MEMORY_ZZZ is not a setting of anything installed",
    ]


def test_ingest_roots_are_separated_as_in_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VELESDB_MEMORY_INGEST_ROOTS", "/a:/b c")
    assert load(Settings).ingest_roots == (Path("/a"), Path("/b c"))


@pytest.mark.parametrize(("value", "expected"), [(None, None), ("", ()), (" a, b ,", ("a", "b"))])
def test_plugins_can_be_limited(
    value: str | None, expected: tuple[str, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if value is not None:
        monkeypatch.setenv("VELESDB_MEMORY_PLUGINS", value)
    assert selected_plugins() == expected


def test_credentials_in_a_url_are_masked() -> None:
    assert mask_url("https://me:secret@host:1/v1?q=1") == "https://***@host:1/v1?q=1"
    assert mask_url("https://host/v1") == "https://host/v1"
