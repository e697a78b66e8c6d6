"""Finding facts by vector and by words. Both answer exactly what a scan of everything would,
but for the graph index's own approximation above EXACT_UP_TO facts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from veles_core.records import Hit, Predicate
from veles_core.words import terms
from veles_core.words.small import significant
from veles_plugins.store_postgres.database import Connection
from veles_plugins.store_postgres.indexing import NAME, indexed_type
from veles_plugins.store_postgres.predicates import conditions
from veles_plugins.store_postgres.rows import public_id, stored_ids, term_key, visible
from veles_plugins.store_postgres.writes import fetch_one

if TYPE_CHECKING:
    from veles_core.records import Vector

EXACT_UP_TO: Final = 20_000  # comparing so many vectors of 384 takes about 20 ms
EXACT_TIMES_K: Final = 20  # to find a twentieth of all, the index is slower than all
EF_SEARCH: Final = 400  # recall@10 of 0.84 on 20,000 random vectors, near 1 on real ones
SPARE: Final = 64  # more candidates than asked for, ordered again by their exact scores

_LIVE_WORDS: Final = f"""
    WITH live AS MATERIALIZED (
        SELECT w.term, w.fact, w.impact FROM words w
        WHERE w.term = ANY(%(terms)s) AND {visible("w")}
    ), weights AS (
        SELECT term, ln(1 + (%(facts)s - count(*) + 0.5) / (count(*) + 0.5)) AS weight
        FROM live GROUP BY term
    )
    SELECT l.fact, sum(s.weight * l.impact)::real AS score
    FROM live l JOIN weights s USING (term)
"""


def visible_facts(connection: Connection, now: float) -> int:
    """How many facts there are, from the running count less what has expired since."""
    found = fetch_one(
        connection,
        "SELECT s.facts - (SELECT count(*) FROM facts WHERE expires_at <= %s AND NOT hub) "
        "FROM state s",
        [now],
    )
    return int(found)


def by_vector(
    connection: Connection,
    vector: "Vector",
    k: int,
    predicates: Sequence[Predicate],
    now: float,
    exact_up_to: int,
) -> list[Hit]:
    """The ``k`` most similar of the visible facts that match.

    At most ``exact_up_to`` facts are compared one by one; more by the index, if there is one.
    """
    exact_up_to = max(exact_up_to, EXACT_TIMES_K * k)
    filters, parameters = conditions(predicates, "v.fact")
    parameters |= {"now": now, "vector": vector, "k": k}
    condition = visible("v") + filters
    indexed = _indexed_expression(connection)
    if indexed is not None and _are_more(connection, condition, parameters, exact_up_to):
        hits = _by_index(connection, indexed, condition, parameters)
        if len(hits) == k:
            return hits
    found = connection.execute(
        "SELECT v.fact, -(v.vector <#> %(vector)b) FROM vectors v "
        f"WHERE {condition} ORDER BY v.vector <#> %(vector)b, v.fact LIMIT %(k)s",
        parameters,
    )
    return _hits(found)


def _are_more(
    connection: Connection, condition: str, parameters: dict[str, Any], limit: int
) -> bool:
    """Whether more facts than this match, counted no further."""
    count = fetch_one(
        connection,
        f"SELECT count(*) FROM (SELECT FROM vectors v WHERE {condition} LIMIT {limit + 1}) m",
        parameters,
    )
    return bool(count > limit)


def _by_index(
    connection: Connection, indexed: str, condition: str, parameters: dict[str, Any]
) -> list[Hit]:
    """Follow pgvector's graph until enough matching facts have been met."""
    with connection.transaction():
        connection.execute(f"SET LOCAL hnsw.ef_search = {EF_SEARCH}")
        connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
        connection.execute("SET LOCAL hnsw.max_scan_tuples = 2147483647")
        # The planner knows nothing of the filter's cost, so it is told to follow the index.
        connection.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        found = connection.execute(
            "SELECT c.fact, -(c.vector <#> %(vector)b) FROM ("
            f"SELECT v.fact, v.vector FROM vectors v WHERE {condition} "
            f"ORDER BY {indexed} LIMIT %(k)s + {SPARE}) c "
            "ORDER BY c.vector <#> %(vector)b, c.fact LIMIT %(k)s",
            parameters,
        )
        return _hits(found)


def _indexed_expression(connection: Connection) -> str | None:
    """The distance as the index orders it; None as long as there is no index in use."""
    dimension = fetch_one(
        connection,
        "SELECT s.dimension FROM state s JOIN pg_index i "
        "ON i.indexrelid = to_regclass(%s) AND i.indisvalid",
        [NAME],
    )
    kind = indexed_type(dimension) if dimension else None
    return f"(v.vector::{kind}) <#> %(vector)b::vector::{kind}" if kind else None


def similarities(connection: Connection, vector: "Vector", ids: Sequence[int]) -> list[float]:
    """Cosine similarities in the order asked; NaN for a fact without a vector."""
    found = connection.execute(
        "SELECT coalesce(-(v.vector <#> %b), 'NaN') FROM unnest(%s::bigint[]) "
        "WITH ORDINALITY a(fact, place) LEFT JOIN vectors v USING (fact) ORDER BY a.place",
        [vector, stored_ids(ids)],
    )
    return [score for (score,) in found]


def by_words(
    connection: Connection, query: str, k: int, predicates: Sequence[Predicate], now: float
) -> list[Hit]:
    """BM25 over the visible facts, then the predicates, then the best ``k``."""
    filters, parameters = conditions(predicates, "l.fact")
    parameters |= _word_parameters(connection, query, now) | {"k": k}
    found = connection.execute(
        f"{_LIVE_WORDS} WHERE true {filters} "
        "GROUP BY l.fact ORDER BY score DESC, l.fact LIMIT %(k)s",
        parameters,
    )
    return _hits(found)


def word_scores(connection: Connection, query: str, ids: Sequence[int], now: float) -> list[float]:
    """BM25 of these facts in the order asked; 0 without a shared term."""
    parameters = _word_parameters(connection, query, now) | {"ids": stored_ids(ids)}
    found = connection.execute(
        f"{_LIVE_WORDS} WHERE l.fact = ANY(%(ids)s) GROUP BY l.fact", parameters
    )
    scores = {public_id(number): score for number, score in found}
    return [scores.get(id, 0.0) for id in ids]


def _word_parameters(connection: Connection, query: str, now: float) -> dict[str, Any]:
    keys = list({term_key(term) for term in significant(terms(query))})
    return {"terms": keys, "now": now, "facts": visible_facts(connection, now)}


def _hits(found: Any) -> list[Hit]:
    return [Hit(public_id(number), score) for number, score in found]
