"""A backend whose library is missing when it is opened."""

from veles_core import Backend, hookimpl


def _open(settings, host):  # type: ignore[no-untyped-def]
    import a_library_that_nobody_has_installed

    return a_library_that_nobody_has_installed.Embedder(settings, host)


@hookimpl
def veles_embedders():  # type: ignore[no-untyped-def]
    return [Backend("needy", "needs more", _open, install="pip install 'veles-sample[needy]'")]
