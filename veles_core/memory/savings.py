"""Savings: what compilations saved, added up as they happen.

Each project has one document of totals, so that asking costs the same after a million
compilations. Events with a lifetime are documents of their own and drop out when it ends.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from veles_core.context.model import Insights
from veles_core.ids import source_id
from veles_core.memory.answers import Savings
from veles_core.protocols import Store
from veles_core.records import Document

TOTALS: Final = "savings"
EVENTS: Final = "savings-event"
PAGE: Final = 500

Numbers = dict[str, Any]


def record(store: Store, project: str | None, insights: Insights, expires_at: float | None) -> None:
    """Inside a transaction: add one compilation to what its project has saved."""
    key = _key(project)
    found = store.get_documents(TOTALS, [key]).get(key)
    totals: Numbers = {"number": 0, "sum": _numbers(None)}
    if found:
        totals = json.loads(found.value)
    totals["number"] += 1
    event = _numbers(insights)
    if expires_at is None:
        totals["sum"] = _added(totals["sum"], event)
    else:
        name = f"{key}/{totals['number']}"
        store.put_documents(EVENTS, [Document(name, json.dumps(event).encode(), expires_at)])
    store.put_documents(TOTALS, [Document(key, json.dumps(totals).encode())])


def total(store: Store, project: str | None = None) -> Savings:
    """All savings, or those of one project."""
    only = None if project is None else _key(project)
    sum = _numbers(None)
    for document in _documents(store, TOTALS, only):
        sum = _added(sum, json.loads(document.value)["sum"])
    for document in _documents(store, EVENTS, None if only is None else f"{only}/"):
        sum = _added(sum, json.loads(document.value))
    return Savings(
        events=sum["events"],
        tokens_in=sum["tokens_in"],
        tokens_out=sum["tokens_out"],
        tokens_saved=sum["tokens_saved"],
        cost_saved_micros_by_currency=dict(sorted(sum["cost"].items())),
    )


def _numbers(insights: Insights | None) -> Numbers:
    if insights is None:
        return {"events": 0, "tokens_in": 0, "tokens_out": 0, "tokens_saved": 0, "cost": {}}
    saved, currency = insights.estimated_cost_saved_micros, insights.currency
    return {
        "events": 1,
        "tokens_in": insights.tokens_in,
        "tokens_out": insights.tokens_out,
        "tokens_saved": insights.tokens_saved,
        "cost": {currency: saved} if currency and saved is not None else {},
    }


def _added(left: Numbers, right: Numbers) -> Numbers:
    cost: Counter[str] = Counter(left["cost"])
    cost.update(right["cost"])
    return {key: left[key] + right[key] for key in left if key != "cost"} | {"cost": dict(cost)}


def _documents(store: Store, namespace: str, prefix: str | None) -> Iterator[Document]:
    """The documents of a namespace, or those whose key is or begins with ``prefix``."""
    if prefix is not None and not prefix.endswith("/"):
        yield from store.get_documents(namespace, [prefix]).values()
        return
    after = prefix
    while page := store.scan_documents(namespace, after, PAGE):
        for document in page:
            if prefix is not None and not document.key.startswith(prefix):
                return
            yield document
        after = page[-1].key


def _key(project: str | None) -> str:
    return "none" if project is None else str(source_id(project.encode()))
