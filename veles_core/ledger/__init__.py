"""All SQL of the embedded store: the truth that every index is derived from.

Each module has one table or question. Its functions take the ``Database`` first, speak in
unsigned ids, and know nothing of vectors being searched or words being scored.
"""
