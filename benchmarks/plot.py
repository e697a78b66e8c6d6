"""A line plot as SVG, readable on light and dark backgrounds; both axes are logarithmic."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import cycle
from typing import Final

WIDTH: Final = 860
HEIGHT: Final = 560
LEFT, RIGHT, TOP, BOTTOM = 64, 210, 48, 48
LABEL_GAP: Final = 16

COLOURS: Final = (
    "#4477cc", "#cc6633", "#339966", "#aa4499", "#998833",
    "#3399aa", "#cc3355", "#7766cc", "#778899", "#66aa33",
)  # fmt: skip
STYLE: Final = """
text { font: 13px system-ui, sans-serif; fill: #333 }
.title { font-size: 15px; font-weight: 600 }
.grid { stroke: #8884; stroke-width: 1 }
@media (prefers-color-scheme: dark) { text { fill: #ccc } }
"""

Line = Sequence[tuple[float, float]]  # ascending in x, all above zero


def line_plot(title: str, x_name: str, y_name: str, lines: Mapping[str, Line]) -> str:
    """The plot with one line a name, labelled at its end."""
    xs = [x for line in lines.values() for x, _ in line]
    ys = [y for line in lines.values() for _, y in line]
    x_low, x_high = math.log10(min(xs)), math.log10(max(xs))
    y_low, y_high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def across(x: float) -> float:
        share = (math.log10(x) - x_low) / (x_high - x_low or 1)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def down(y: float) -> float:
        share = (math.log10(y) - y_low) / (y_high - y_low or 1)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def drawn() -> Iterator[str]:
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'role="img" aria-label="{escape(title)}">'
        )
        yield f"<style>{STYLE}</style>"
        yield f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>'
        bottom, end = HEIGHT - BOTTOM, WIDTH - RIGHT
        for x in sorted(set(xs)):
            yield _segment(across(x), TOP, across(x), bottom)
            yield _text(across(x), bottom + 18, f"{x / 1000:g}k" if x >= 1000 else f"{x:g}")
        for power in range(y_low, y_high + 1):
            y = 10.0**power
            yield _segment(LEFT, down(y), end, down(y))
            yield _text(LEFT - 8, down(y) + 4, f"{y:g}", "end")
        yield _text((LEFT + end) / 2, HEIGHT - 10, x_name)
        yield _text(LEFT, TOP - 8, y_name, "start")
        heights = _apart({name: down(line[-1][1]) for name, line in lines.items()})
        for (name, line), colour in zip(lines.items(), cycle(COLOURS), strict=False):
            points = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in line)
            yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
            for x, y in line:
                yield f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="3" fill="{colour}"/>'
            yield (
                f'<text x="{end + 10}" y="{heights[name] + 4:.1f}" style="fill: {colour}">'
                f"{escape(name)}</text>"
            )
        yield "</svg>\n"

    return "\n".join(drawn())


def _apart(wanted: Mapping[str, float]) -> dict[str, float]:
    """Heights for labels, in order and none too close to the next."""
    placed: dict[str, float] = {}
    lowest = -math.inf
    for name, height in sorted(wanted.items(), key=lambda item: item[1]):
        lowest = placed[name] = max(height, lowest + LABEL_GAP)
    over = max(0.0, lowest - (HEIGHT - BOTTOM + LABEL_GAP))
    return {name: height - over for name, height in placed.items()}


def _segment(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
