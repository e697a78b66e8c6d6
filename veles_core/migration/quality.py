"""Know before the switch: the same questions asked of the source and of the target."""

from typing import TYPE_CHECKING, Final

from veles_core.migration.job import Quality
from veles_core.protocols import Embedder, QueryEmbedder, Store

if TYPE_CHECKING:
    from veles_core.records import Vector

QUERIES: Final = 200
BEST: Final = 10


def compare(source: Store, old: Embedder, target: Store, new: Embedder) -> Quality | None:
    """Ask both for the halves of stored facts; None while nothing is stored.

    A place that the target doesn't find among its ten counts as moved to the eleventh.
    """
    questions = [_first_half(fact.content) for fact in source.scan_facts(None, QUERIES)]
    if not questions:
        return None
    shared, shifts = 0.0, 0.0
    for question in questions:
        before = [hit.id for hit in source.search(_embedded(old, question), BEST)]
        after = [hit.id for hit in target.search(_embedded(new, question), BEST)]
        shared += len(set(before) & set(after)) / max(1, len(before))
        moved = [abs((after.index(id) if id in after else BEST) - i) for i, id in enumerate(before)]
        shifts += sum(moved) / max(1, len(before))
    count = len(questions)
    return Quality(count, round(shared / count, 4), round(shifts / count, 2))


def _first_half(content: str) -> str:
    return content[: max(1, len(content) // 2)].strip() or content


def _embedded(embedder: Embedder, question: str) -> "Vector":
    if isinstance(embedder, QueryEmbedder):
        return embedder.embed_query(question)
    vector: Vector = embedder.embed([question])[0]
    return vector
