"""Runs that ended without a word, and the turns and places in the queue that they still have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from stackroom.audits.discrepancies import Discrepancy, Kind, Step
from stackroom.audits.mending import Mending
from stackroom.errors import RecordChanged
from stackroom.ports.admission import AdmissionBook, Grant, Mode, Waiter
from stackroom.ports.runs import Executions, Leases

# Of each queue, the oldest: those behind them are looked at when these have had their turn.
_OLDEST = 100


@dataclass(frozen=True, kw_only=True)
class ControlAudit:
    """All of it is one step: what is expired, the ledger, and the heads of the queues."""

    leases: Leases
    executions: Executions
    book: AdmissionBook
    mending: Mending
    pool: Sequence[str]

    def step(self, place: str | None) -> Step:
        assert place is None, "it is one step"
        for lease in self.leases.expired(self.mending.now()):
            if not self.executions.is_running(lease.execution_name):
                self.mending.ask([lease.catalog_id])
                yield self.mending.discrepancy(Kind.DEAD_RUN, lease.execution_name)
        yield from self._turns()
        for knowledge_base_id in self.pool:
            for mode in Mode:
                for waiter in self.book.waiting(knowledge_base_id, mode, limit=_OLDEST):
                    yield from self._of_waiter(waiter)
        return None

    def _turns(self) -> Iterator[Discrepancy]:
        ledger = self.book.read()
        dead = [
            grant
            for grant in ledger.grants
            if self.mending.is_settled(grant.granted_at) and not self._is_live(grant)
        ]
        if not dead:
            return
        if not self.mending.dry_run:
            live = tuple(each for each in ledger.grants if each not in dead)
            try:
                # What is free now, the next dispatch hands out: the sweep's, if no other.
                self.book.write(replace(ledger, grants=live))
            except RecordChanged:
                return  # others are at it, and drop what is void
        for grant in dead:
            what = f"{grant.knowledge_base_id} {grant.mode}: {_name(grant)}"
            yield self.mending.discrepancy(Kind.DEAD_GRANT, what)

    def _of_waiter(self, waiter: Waiter) -> Iterator[Discrepancy]:
        if not self.mending.is_settled(waiter.since) or self._is_live(waiter):
            return
        if not self.mending.dry_run and not self.book.dequeue(waiter):
            return  # another token stands there by now: somebody waits
        what = f"{waiter.knowledge_base_id} {waiter.mode}: {_name(waiter)}"
        yield self.mending.discrepancy(Kind.DEAD_WAITER, what)

    def _is_live(self, holder: Grant | Waiter) -> bool:
        lease = self.leases.get(holder.catalog_id)
        if lease is None or not lease.held or lease.epoch != holder.epoch:
            return False
        return not lease.started or self.executions.is_running(lease.execution_name)


def _name(holder: Grant | Waiter) -> str:
    return f"{holder.catalog_id}-{holder.epoch}"
