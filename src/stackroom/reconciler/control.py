"""Runs that ended without a word, and the grants and queue positions that they still have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from stackroom.errors import RecordChanged
from stackroom.ingestion.broken_runs import Restart
from stackroom.ports.admission import AdmissionBook, Grant, Mode, Waiter
from stackroom.ports.runs import Executions, Lease, Leases
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Step
from stackroom.reconciler.mending import Mending

# Of each queue, the oldest: those behind them are looked at when these have gone.
_OLDEST = 100


@dataclass(frozen=True, kw_only=True)
class ControlAudit:
    """All of it is one step: what is expired, the ledger, and the heads of the queues."""

    leases: Leases
    executions: Executions
    restart: Restart
    book: AdmissionBook
    mending: Mending
    pool: Sequence[str]

    def step(self, cursor: str | None) -> Step:
        assert cursor is None, "it is one step"
        for lease in self.leases.expired(self.mending.now()):
            yield from self.mending.apart(lease.execution_name, self._of_lease(lease))
        yield from self.mending.apart("the ledger", self._grants())
        for knowledge_base_id in self.pool:
            for mode in Mode:
                for waiter in self._oldest(knowledge_base_id, mode):
                    yield from self.mending.apart(_what(waiter), self._of_waiter(waiter))
        return None

    def _of_lease(self, lease: Lease) -> Iterator[Discrepancy]:
        if not self.executions.is_running(lease.execution_name):
            follow = partial(self.restart.follow_if_silent, lease)
            yield from self.mending.mended(Kind.DEAD_RUN, lease.execution_name, by=follow)

    def _grants(self) -> Iterator[Discrepancy]:
        for grant in self.book.read().grants:
            yield from self.mending.apart(_what(grant), self._of_grant(grant))

    def _of_grant(self, grant: Grant) -> Iterator[Discrepancy]:
        if not self.mending.is_settled(grant.granted_at) or self._is_live(grant):
            return

        def drop() -> None:
            # What is free then, the next dispatch hands out: the sweep's, if no other. If others
            # write the ledger at this moment, they drop what is void.
            ledger = self.book.read()
            left = tuple(each for each in ledger.grants if each != grant)
            self.book.write(replace(ledger, grants=left))

        yield from self.mending.mended(
            Kind.DEAD_GRANT,
            _what(grant),
            by=drop,
            until=lambda: grant not in self.book.read().grants,
        )

    def _oldest(self, knowledge_base_id: str, mode: Mode) -> list[Waiter]:
        return self.book.waiting(knowledge_base_id, mode, limit=_OLDEST)

    def _of_waiter(self, waiter: Waiter) -> Iterator[Discrepancy]:
        if not self.mending.is_settled(waiter.since) or self._is_live(waiter):
            return

        def dequeue() -> None:
            if not self.book.dequeue(waiter):  # another token stands there by now: somebody waits
                raise RecordChanged(waiter.worklist_id)

        yield from self.mending.mended(
            Kind.DEAD_WAITER,
            _what(waiter),
            by=dequeue,
            until=lambda: waiter not in self._oldest(waiter.knowledge_base_id, waiter.mode),
        )

    def _is_live(self, holder: Grant | Waiter) -> bool:
        lease = self.leases.get(holder.worklist_id)
        if lease is None or not lease.held or lease.epoch != holder.epoch:
            return False
        return not lease.started or self.executions.is_running(lease.execution_name)


def _what(holder: Grant | Waiter) -> str:
    return f"{holder.knowledge_base_id} {holder.mode}: {holder.worklist_id}-{holder.epoch}"
