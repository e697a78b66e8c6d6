"""How far the heuristic tokenizer is above cl100k_base and o200k_base, per class of text.

    python benchmarks/tokenizer_bounds.py            the table of docs/tokenizers.md
    python benchmarks/tokenizer_bounds.py --speed    megabytes a second, cold and warm

Needs the extra ``tiktoken``. The texts stand in ``benchmarks/data/tokens``; what no one
needs to read (base64, hex, whitespace) is made here.
"""

import base64
import hashlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from veles_core.builtin.heuristic_tokenizer import HeuristicTokenizer
from veles_plugins.tokenize_tiktoken.tokenizer import TiktokenTokenizer

TEXTS = Path(__file__).parent / "data" / "tokens"
ENCODINGS = ("cl100k_base", "o200k_base")


def samples() -> dict[str, str]:
    """Class of text → a text of it."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(TEXTS.glob("*.txt"))}
    noise = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(64))
    texts["base64, one run"] = base64.b64encode(noise).decode()
    texts["base64, lines of 76"] = base64.encodebytes(noise).decode()
    texts["hex, one run"] = noise.hex()
    texts["hex, lines of 40"] = "\n".join(noise[i : i + 20].hex() for i in range(0, 2000, 20))
    texts["whitespace runs"] = "".join(
        f"{' ' * (i % 90)}x{chr(9) * (i % 9)}y{chr(10) * (i % 5)}" for i in range(300)
    )
    return texts


def rows() -> Iterator[tuple[str, int, list[float]]]:
    """Class, the heuristic's count, and that as a multiple of each encoding's."""
    heuristic = HeuristicTokenizer()
    exact = [TiktokenTokenizer(name) for name in ENCODINGS]
    for name, text in samples().items():
        count = heuristic.count(text)
        yield name, count, [count / each.count(text) for each in exact]


def table() -> str:
    """The rows as Markdown."""
    lines = [f"| text | heuristic | {' | '.join(f'over {name}' for name in ENCODINGS)} |"]
    lines.append("|---|--:|--:|--:|")
    lines += [
        f"| {name} | {count:,} | {' | '.join(f'{factor:.2f} ×' for factor in factors)} |"
        for name, count, factors in rows()
    ]
    return "\n".join(lines)


def speed() -> str:
    """Megabytes a second of about one megabyte of each text; cold: each piece is new."""
    lines = [f"{'text':22} {'cold':>6} {'warm':>6}  MB/s"]
    for name, text in samples().items():
        large = text * (1_000_000 // len(text.encode()) + 1)
        size = len(large.encode()) / 1e6
        tokenizer = HeuristicTokenizer()
        start = time.process_time()
        tokenizer.count(text)
        cold = len(text.encode()) / 1e6 / (time.process_time() - start)
        start = time.process_time()
        tokenizer.count(large)
        lines.append(f"{name:22} {cold:6.1f} {size / (time.process_time() - start):6.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(speed() if "--speed" in sys.argv[1:] else table())
