"""``python -m veles_core.cli`` is ``veles-memory``."""

from veles_core.cli import main

main()
