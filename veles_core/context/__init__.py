"""The context compiler: fragments in, a token-budgeted and audited prompt context out.

Pure: no clock, no I/O, no randomness. The same request, memories and tokenizer give the
same bytes on every machine.
"""
