"""How each figure of the memory service grows with the store, as one plot.

    python -m benchmarks.growth_plot [--facts 1000 …] [--output docs/growth.svg]

One store grows from the first size to the last; at each it is reopened by a fresh process
and every call is measured there.
"""

import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from benchmarks.plot import line_plot
from benchmarks.service import EVERYTHING, Measured, held

SIZES: Final = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)


def measure(open_: Callable[[], Measured], size: int, calls: int) -> dict[str, float]:
    """The median milliseconds of every call, and of opening."""
    figures: dict[str, float] = {}
    with held(open_) as own:
        figures["open and recall"] = 1000 * own.answered
        own.ask("settle")
        for name in EVERYTHING:  # caches are filled
            own.ask("burst", measure=name, size=size, first=calls + 1, count=calls)
        for name in EVERYTHING:
            times = own.ask("burst", measure=name, size=size, first=0, count=calls)["times"]
            figures[name] = 1000 * statistics.median(wall for wall, _ in times)
    return figures


@click.command()
@click.option("--facts", multiple=True, type=int, default=SIZES, show_default=True)
@click.option("--calls", default=60, show_default=True, help="Calls of each kind.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--json", "figures_file", type=click.Path(dir_okay=False, path_type=Path))
def main(
    facts: tuple[int, ...], calls: int, output: Path | None, figures_file: Path | None
) -> None:
    """Measure the growth of every figure, and draw it."""
    lines: dict[str, list[tuple[float, float]]] = {}
    stored = 0
    with tempfile.TemporaryDirectory() as folder:

        def open_() -> Measured:
            return Measured(sys.executable, "benchmarks.own_service", folder)

        for size in sorted(facts):
            with held(open_) as own:
                own.ask("fill", first=stored, until=size)
            stored = size
            for name, figure in measure(open_, size, calls).items():
                lines.setdefault(name, []).append((size, figure))
                click.echo(f"{size:7} {name:24} {figure:10.2f} ms")
    if figures_file:
        figures_file.write_text(json.dumps(lines, indent=1), encoding="utf-8")
    if output:
        title = "What a call takes as the memory grows"
        output.write_text(line_plot(title, "facts", "milliseconds", lines), encoding="utf-8")


if __name__ == "__main__":
    main()
