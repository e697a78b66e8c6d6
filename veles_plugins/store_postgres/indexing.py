"""pgvector's graph index, built beside the work once comparing every vector would be slow."""

import logging
import threading
from typing import Final

from veles_core.errors import VelesError
from veles_plugins.store_postgres.database import Database

NAME: Final = "vectors_by_distance"
MAX_FULL: Final = 2_000  # dimensions that pgvector indexes at full precision,
MAX_HALF: Final = 4_000  # and at half

log = logging.getLogger(__name__)


def indexed_type(dimension: int) -> str | None:
    """What vectors of this length are indexed as; None if pgvector can't."""
    if dimension <= MAX_FULL:
        return f"vector({dimension})"
    return f"halfvec({dimension})" if dimension <= MAX_HALF else None


class DistanceIndex:
    """Builds the index in a thread, in one process at a time, without stopping writers."""

    def __init__(self, database: Database, exact_up_to: int) -> None:
        self._database = database
        self._exact_up_to = exact_up_to
        self._thread: threading.Thread | None = None

    def ensure(self, facts: int) -> None:
        """Start to build if there are so many facts that it is worth it; at most once."""
        if facts > self._exact_up_to and self._thread is None:
            self._thread = threading.Thread(target=self._build, name="veles-index", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Until a build that has been started is over."""
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """Break a build off; what is left of it is replaced by the next."""
        self._database.cancel()
        self.wait()

    def _build(self) -> None:
        try:
            claim = self._database.claim("vector index")
            if claim is None:
                return
            with claim:
                self._build_alone()
        except VelesError as error:  # searches stay exact and slow; the next start tries again
            log.warning("the vector index was not built: %s", error)

    def _build_alone(self) -> None:
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT s.dimension, coalesce((SELECT indisvalid FROM pg_index "
                "WHERE indexrelid = to_regclass(%s)), false) FROM state s",
                [NAME],
            ).fetchone()
        dimension, is_built = row or (None, False)
        kind = indexed_type(dimension) if dimension else None
        if is_built or kind is None:
            return
        key = f"(vector::{kind}) {kind.split('(')[0]}_ip_ops"
        self._database.run_alone(
            f"DROP INDEX IF EXISTS {NAME}",
            f"CREATE INDEX CONCURRENTLY {NAME} ON vectors USING hnsw ({key})",
        )
