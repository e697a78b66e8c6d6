"""The plugin's door: its hook, its settings, and nothing heavy."""

from collections.abc import Iterable

from veles_core import Backend, BackendSettings, Host, hookimpl, variable
from veles_core.protocols import Embedder


class ExampleSettings(BackendSettings):
    """Read from the environment, then the configuration file, then these defaults."""

    dimension: int = variable(
        "EXAMPLE_DIMENSION", default=128, ge=8, le=4096, description="Length of the vectors"
    )


@hookimpl
def veles_embedders() -> Iterable[Backend[Embedder]]:
    """One embedder, called ``example``."""
    return [
        Backend(
            name="example",
            summary="pairs of letters, as an example",
            open=_open,
            settings=ExampleSettings,
            install="pip install veles-embed-example",
        )
    ]


def _open(settings: ExampleSettings, _host: Host) -> Embedder:
    from veles_embed_example.letters import LetterPairs  # imports what the door must not

    return LetterPairs(settings.dimension)
