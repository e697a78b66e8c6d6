"""Freeing the store that a migration left behind."""

from dataclasses import replace
from typing import Final

from veles_core.migration import control
from veles_core.migration.epochs import FIRST, Epochs
from veles_core.protocols import Store

BATCH: Final = 500


def retire_predecessor(epochs: Epochs) -> None:
    """Remove the predecessor of the store that serves, keeping the chain whole.

    The first epoch stays as an empty one that names the newest, since every start begins
    there; one in the middle of the chain is removed.
    """
    live = epochs.live()
    state = control.read(live.store.inner)
    if state.job is None or state.job.phase != "committed" or state.job.retired:
        return
    source = epochs.open_store(state.job.source, None)
    if state.job.source == FIRST:
        empty(source)
        source.compact()
        source.close()
    else:
        handed = control.read(source).successor
        first = epochs.open_store(FIRST, None)
        if handed is not None:
            control.write_successor(first, handed)
        first.close()
        source.dispose()
    with live.store.transaction():
        job = control.read(live.store.inner).job
        if job is not None and job.epoch_id == state.job.epoch_id:
            control.write_job(live.store.inner, replace(job, retired=True))


def empty(store: Store) -> None:
    """Delete all facts, edges and documents but the control of the chain, batch by batch."""
    while page := store.scan_facts(None, BATCH, internal=True):
        store.delete_facts([fact.id for fact in page])
    while store.reclaim(BATCH):
        pass
    for namespace in store.namespaces():
        while namespace != control.NAMESPACE and (
            documents := store.scan_documents(namespace, None, BATCH)
        ):
            store.delete_documents(namespace, [document.key for document in documents])
