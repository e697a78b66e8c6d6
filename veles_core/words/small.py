"""The small words of English, which say little about what a fact is about."""

from collections.abc import Iterable
from typing import Final

from veles_core.words.text import terms

SMALL: Final = frozenset(
    terms(
        """
        the a an of to in on at for and or be it its this that with as by from
        i you he she we they me him her us them my your his our their do have
        will would can could should not but so if then than
        what which who whom whose when where why how about into
        """
    )
)


def significant(query_terms: Iterable[str]) -> list[str]:
    """The distinct terms of a query without the small words, unless it has no others."""
    distinct = list(dict.fromkeys(query_terms))
    return [term for term in distinct if term not in SMALL] or distinct
