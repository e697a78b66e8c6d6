"""Every benchmark in its quick settings, one after the other.

    python -m benchmarks [--locomo DIR] [NAME ...]

Takes some minutes. The figures in the documentation come from each script's own defaults.
``DIR`` holds conversations of the LoCoMo data set; without it those that need it are left
out, as are those whose optional packages are not installed.
"""

import importlib.util
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click


@dataclass(frozen=True, slots=True)
class Script:
    """A module of this package with arguments that make it quick."""

    name: str
    arguments: Sequence[str] = ()
    package: str | None = None  # an optional one that it needs
    locomo: str | None = None  # its option for the data set


SCRIPTS: Final = (
    Script("service", ["--scale", "0.05", "--rounds", "2", "--calls", "15"]),
    Script("growth_plot", ["--facts", "500", "--facts", "2000", "--calls", "20"]),
    Script("store_growth", ["--sizes", "1000", "--sizes", "5000"]),
    Script("store_stress", ["kill", "--rounds", "5"]),
    Script("backends", ["--facts", "500"], package="chromadb"),
    Script("words_speed", ["--facts", "5000"]),
    Script("locomo", locomo="--data"),
    Script("embedders", ["hash"], locomo="--locomo"),
    Script("graph_retrieval", ["--distractors", "1000"]),
    Script("extraction_speed", ["--directives", "1000", "--mentions", "5000"]),
    Script("compile_context", ["--rounds", "3"]),
    Script("tokenizer_bounds", package="tiktoken"),
    Script("migration", ["--facts", "500", "--runs", "2"], package="wordllama"),
    Script("migration_load", ["--facts", "500"], package="wordllama"),
)

# Started by another script, or made to be run once.
OTHERS: Final = ("own_service", "peer_service", "peer_compiler", "tokenizer_data")


@click.command()
@click.option("--locomo", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("names", nargs=-1, type=click.Choice([script.name for script in SCRIPTS]))
def main(locomo: Path | None, names: Sequence[str]) -> None:
    """Run the benchmarks, all of them by default; exit status 1 if one fails."""
    failed = []
    for script in SCRIPTS:
        if names and script.name not in names:
            continue
        arguments = [*script.arguments]
        if script.locomo:
            arguments += [script.locomo, str(locomo)]
        click.echo(f"\n## {' '.join((script.name, *arguments))}\n")
        if script.locomo and not locomo:
            click.echo("left out: needs --locomo")
        elif script.package and not importlib.util.find_spec(script.package):
            click.echo(f"left out: needs the package {script.package}")
        else:
            began = time.perf_counter()
            command = [sys.executable, "-m", f"benchmarks.{script.name}", *arguments]
            if subprocess.run(command).returncode:
                failed.append(script.name)
            click.echo(f"({time.perf_counter() - began:.0f} s)")
    if failed:
        click.echo(f"\nfailed: {', '.join(failed)}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
