"""Light English stemming: the common inflections, nothing that needs a dictionary."""

import re
from typing import Final

_VOWEL: Final = re.compile("[aeiouy]")
_DOUBLED: Final = re.compile(r"([bdfgmnprt])\1$")


def stem(word: str) -> str:
    """The word without plural, -ed, -ing and -ly; a word of another alphabet as it is."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    word = _singular(word)
    for suffix in ("ing", "edly", "ed", "ly"):
        if word.endswith(suffix):
            root = word[: -len(suffix)]
            if len(root) >= 3 and _VOWEL.search(root):
                word = root[:-1] if _DOUBLED.search(root) else root
            break
    if len(word) > 3 and word.endswith("e"):
        return word[:-1]
    if len(word) > 2 and word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
