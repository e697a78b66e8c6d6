"""The lexical half of recall: text to terms in any script, and BM25 over postings."""

from veles_core.words.postings import Postings
from veles_core.words.small import significant
from veles_core.words.text import terms

__all__ = ["Postings", "significant", "terms"]
