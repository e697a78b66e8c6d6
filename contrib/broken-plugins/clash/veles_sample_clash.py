"""A backend under a name that another plugin has already."""

from veles_core import Backend, hookimpl


def _open(_settings, _host):  # type: ignore[no-untyped-def]
    return None


@hookimpl
def veles_embedders():  # type: ignore[no-untyped-def]
    return [Backend("example", "the same name as another's", _open)]
