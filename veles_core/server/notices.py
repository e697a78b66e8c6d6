"""The log on standard error, and what is said there before anything is opened."""

import logging
import sys

from veles_core.plugins import Registry
from veles_core.settings import Settings, misspelt, variables

log = logging.getLogger(__name__)


def configure_log(settings: Settings, registry: Registry) -> None:
    """Send the log to standard error, and report settings that nothing reads."""
    logging.basicConfig(
        stream=sys.stderr,
        level=settings.log.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    if settings.quiet:
        return
    if settings.autograph and settings.extractor is None:
        log.warning(
            "VELESDB_MEMORY_AUTOGRAPH is set but no extractor is: no graph is built until "
            "VELESDB_MEMORY_EXTRACTOR names one"
        )
    for sentence in misspelt(variables(Settings).keys() | registry.variables()):
        log.warning("%s", sentence)
    for clash in registry.clashes:
        log.warning("%s", clash)
