"""Autograph: the graph of each remembered fact, built behind the caller's back."""

import logging
import threading
from collections import deque
from functools import partial
from typing import Final

from veles_core.errors import VelesError
from veles_core.findings import checked
from veles_core.limits import MAX_AUTOGRAPH_QUEUE
from veles_core.memory import entities
from veles_core.memory.entities import Mention
from veles_core.memory.extractors import Extractors
from veles_core.memory.live import Live, Memory
from veles_core.records import Extraction

_STOP_SECONDS: Final = 0.5

log = logging.getLogger(__name__)


class Autograph:
    """A thread that extracts from facts as they are remembered and links them to entities.

    The queue is bounded and lives in this process: what doesn't fit is counted in
    ``dropped``, what couldn't be extracted in ``failed``. The facts themselves are stored
    before they are offered.
    """

    def __init__(self, memory: Memory, extractors: Extractors, extractor: str) -> None:
        self.dropped = 0
        self.failed = 0
        self._memory = memory
        self._extractors = extractors
        self._extractor = extractor
        self._queue: deque[tuple[int, str]] = deque()
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="veles-autograph", daemon=True)
        self._thread.start()

    def offer(self, fact_id: int, content: str) -> None:
        """Build this fact's graph soon; never waits."""
        with self._changed:
            if len(self._queue) >= MAX_AUTOGRAPH_QUEUE:
                self.dropped += 1
                return
            self._queue.append((fact_id, content))
            self._changed.notify()

    def stop(self) -> None:
        """Stop after the current fact. A model that is being waited for is left alone."""
        with self._changed:
            self._stopped.set()
            self._changed.notify()
        self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._stopped.is_set())
                if self._stopped.is_set():
                    return
                fact_id, content = self._queue.popleft()
            try:
                found = checked(self._extractors.get(self._extractor).extract(content))
                self._memory.write(partial(_connect, fact_id=fact_id, found=found))
            except Exception as error:  # one fact's failure must not end the thread
                if self._stopped.is_set():
                    return
                self.failed += 1
                reason = error.message if isinstance(error, VelesError) else type(error).__name__
                log.warning("no graph was built for the memory %d: %s", fact_id, reason)


def _connect(live: Live, fact_id: int, found: Extraction) -> None:
    """Link a fact to every entity that was found in it, unless it has gone meanwhile."""
    topics = [topic for fact in found.facts for topic in fact.topics]
    topics += [end for relation in found.relations for end in (relation.subject, relation.object)]
    topics += [attribute.entity for attribute in found.attributes]
    with live.store.transaction():
        for fact in live.store.get_facts([fact_id]):
            mention = Mention(fact_id, topics, fact.expires_at)
            entities.connect(
                live.store, [mention], found.relations, found.attributes, fact.expires_at
            )
