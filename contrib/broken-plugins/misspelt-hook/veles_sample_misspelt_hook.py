"""A hook whose name is one letter short."""

from veles_core import hookimpl


@hookimpl
def veles_embeders():  # type: ignore[no-untyped-def]
    return []
