"""Make, or check, the data of the heuristic tokenizer from the encodings' own ranks.

    python benchmarks/tokenizer_data.py [--check]

Needs the extra ``tiktoken``. The file holds the first merges of cl100k_base and of
o200k_base, as far as they can occur in what is merged, and for each code point the most
tokens that either encoding can charge to it; ``docs/tokenizers.md`` says what that means
and why it is enough.
"""

import lzma
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from veles_core.builtin import heuristic_tokenizer as heuristic
from veles_plugins.tokenize_tiktoken.ranks import ENCODINGS, load_ranks

FIRST = 32000  # ranks of each encoding that are looked at
TABLED = (*range(0x80, 0x10000), *range(0x1F000, 0x1FC00))  # others take and cost four bytes
DATA = Path(heuristic.__file__).with_name(heuristic.DATA)

# Lead bytes of UTF-8 that no character has whose class is certain; U+3000 is E3 80 80.
UNKNOWN = re.compile(rb"[\xd5-\xe0\xe4-\xef\xf1-\xff]|\xe3[^\x80]")

Ranks = Mapping[bytes, int]


def first_merges(ranks: Ranks) -> list[str]:
    """Tokens of more than one byte among the first ranks that can occur in known text, in order."""
    first = sorted((rank, token) for token, rank in ranks.items() if rank < FIRST)
    return [t.decode("latin-1") for _, t in first if len(t) > 1 and not UNKNOWN.search(t)]


def charges(ranks: Ranks) -> dict[int, int]:
    """For each tabled code point, the most tokens that are ever charged to it.

    Each token of an encoded chunk is charged to one character: to the first one that it
    holds whole; a token inside one character to that; a token of parts of two characters
    to the former. So a character is charged 1 if one token holds it whole, and otherwise
    for the tokens strictly inside it, plus one if the token it ends in goes on into the
    next character without holding any whole. Each run of tokens inside it is tried that
    could be part of an encoding: neighbours must be what their concatenation encodes to.
    """
    entering: dict[bytes, list[bytes]] = defaultdict(list)  # first bytes of a character → tokens
    leaving: dict[bytes, list[tuple[bytes, int]]] = defaultdict(list)  # last bytes → (token, own)
    for token in ranks:
        head, whole, tail = _parts(token)
        if tail and (head or whole):
            entering[tail].append(token)
        if head and (tail or whole):
            leaving[head].append((token, 0 if whole else 1))

    @cache
    def neighbours(left: bytes, right: bytes) -> bool:
        return encode(left + right, ranks) == [left, right]

    def most(char: bytes, at: int, before: bytes | None) -> int:
        """The most tokens charged to ``char`` from byte ``at`` on, after the token ``before``."""
        best = 0
        for end in range(at + 1, len(char) + 1):
            inner = char[at:end]
            if inner in ranks and (before is None or neighbours(before, inner)):
                best = max(best, 1 + (most(char, end, inner) if end < len(char) else 0))
        for token, own in leaving.get(char[at:], ()) if at else ():
            if own > best and (before is None or neighbours(before, token)):
                best = own
        return best

    table = {}
    for code in TABLED:
        # tiktoken takes two surrogates for the character they stand for, of four bytes, and
        # replaces one alone.
        surrogate = 0xD800 <= code < 0xE000
        char = ("\ufffd" if surrogate else chr(code)).encode()
        ways = [2 if surrogate else 1, most(char, 0, None)]
        ways += [
            most(char, at, token)
            for at in range(1, len(char))
            for token in entering.get(char[:at], ())
        ]
        table[code] = max(ways)
    return table


def _parts(token: bytes) -> tuple[bytes, bytes, bytes]:
    """The last bytes of a character, whole characters, the first bytes of one."""
    start = next((i for i, byte in enumerate(token) if not 0x80 <= byte < 0xC0), len(token))
    rest = token[start:]
    try:
        rest.decode()
    except UnicodeDecodeError as error:
        return token[:start], rest[: error.start], rest[error.start :]
    return token[:start], rest, b""


def encode(text: bytes, ranks: Ranks) -> list[bytes]:
    """The tokens of one chunk, as tiktoken merges them."""
    parts = [text[i : i + 1] for i in range(len(text))]
    while len(parts) > 1:
        pairs = [ranks.get(a + b, len(ranks)) for a, b in pairwise(parts)]
        lowest = min(pairs)
        if lowest == len(ranks):
            break
        at = pairs.index(lowest)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def build() -> bytes:
    """The uncompressed content of the data file."""
    encodings = [load_ranks(name) for name in ENCODINGS]
    separator = heuristic.SEPARATOR
    merges = (2 * separator).join(separator.join(first_merges(ranks)) for ranks in encodings)
    table = bytearray(b"\x01" * 0x80 + b"\x04" * (max(TABLED) - 0x7F))
    for code in TABLED:
        table[code] = 1
    for per_encoding in map(charges, encodings):
        for code, charge in per_encoding.items():
            table[code] = max(table[code], charge)
    packed = merges.encode("latin-1")
    return len(packed).to_bytes(4, "big") + packed + table


def main(arguments: Sequence[str]) -> int:
    """Write the data file, or with ``--check`` say whether it is what it should be."""
    content = build()
    if "--check" in arguments:
        same = lzma.decompress(DATA.read_bytes()) == content
        print(f"{DATA.name} {'is' if same else 'IS NOT'} what the ranks give")
        return 0 if same else 1
    DATA.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    print(f"{DATA.name}: {DATA.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
