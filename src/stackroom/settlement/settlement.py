"""The tasks that follow a job: asking whether it is over, then settling its documents."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.admission.admission import Admission
from stackroom.clock import utc_now
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model import Catalog, Document
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.runs import Leases
from stackroom.runs.leases import LEASE
from stackroom.runs.progress import Run, RunOutcome, until_next_look, waiting_time
from stackroom.settlement.own_source import OwnSource
from stackroom.settlement.rounds import Round
from stackroom.settlement.verdict_writer import VerdictWriter
from stackroom.settlement.verdicts import DocumentOutcome, Settled


@dataclass(frozen=True, kw_only=True)
class Settling:
    """What a round came to; `unexplained` failures are known from the job's statistics alone."""

    settled: list[Settled] = field(default_factory=list)
    unexplained: int = 0


@dataclass(frozen=True, kw_only=True)
class Settlement:
    catalogs: Catalogs
    documents: Documents
    own_source: OwnSource
    verdict_writer: VerdictWriter
    leases: Leases
    admission: Admission
    now: Callable[[], datetime] = utc_now

    def poll(self, run: Run) -> Run:
        """
        Is what the round began over? Then the grant goes back. Stops a job past its deadline.
        """
        self._renew(run)
        round_ = self._round(run)
        source = round_.source
        try:
            began = self.own_source.at_work_since(round_)
        except KnowledgeBaseThrottled:
            return self._look_again(run, waiting_time(run.progress.polls))
        if began is not None:
            self.admission.keep(run.worklist_id, run.epoch)
            seconds = (self.now() - began).total_seconds()
            wanted = self.admission.is_wanted(source.knowledge_base_id)
            return self._look_again(run, until_next_look(seconds, wanted=wanted))
        self.admission.finish(run.worklist_id, run.epoch)
        # Polls go on counting while documents are unsettled, or the waits would never grow.
        unsettled = run.progress.outcome is RunOutcome.UNSETTLED
        return run.went(RunOutcome.OVER, polls=run.progress.polls if unsettled else 0)

    def settle(self, run: Run) -> tuple[Run, Settling]:
        """
        Write down what became of each document of the round that is still as it was taken up.

        Safe to retry: what is settled is no longer of the round.
        """
        self._renew(run)
        round_ = self._round(run)
        try:
            verdicts = self.own_source.decide(round_, self._of_round(round_.catalog))
        except KnowledgeBaseThrottled:
            return self._later(run), Settling()
        outcomes = {verdict.outcome for _, verdict in verdicts.decided}
        if outcomes & {DocumentOutcome.AGAIN, DocumentOutcome.LINGERS}:
            # Moves the counter, so that the run can't end. Before the documents are written: once
            # they are, a retried task finds them no longer of the round, and would not ask.
            self.leases.ask(run.worklist_id)
        settled = self.verdict_writer.write(round_.catalog, verdicts.decided)
        moved = self._after(run, round_.catalog, waiting=DocumentOutcome.WAIT in outcomes)
        return moved, Settling(settled=settled, unexplained=verdicts.unexplained)

    def _of_round(self, catalog: Catalog) -> list[Document]:
        """What is open, and what failed before: a job tries that again."""
        listed = list(self.documents.open_in(catalog.catalog_id))
        failed = self.documents.failed_in(catalog.catalog_id)
        return listed + [each for each in failed if not each.is_open]

    def _after(self, run: Run, catalog: Catalog, *, waiting: bool) -> Run:
        if waiting:
            return self._later(run)
        self.catalogs.settle_status(catalog.catalog_id, at=self.now())
        # One that is to go has served no request, so that the run looks whether it is empty.
        is_going = catalog.deleting_since is not None
        return run.went(RunOutcome.SETTLED, served=0 if is_going else run.progress.served)

    def _look_again(self, run: Run, seconds: int) -> Run:
        return run.went(RunOutcome.RUNNING, polls=run.progress.polls + 1, wait_seconds=seconds)

    def _later(self, run: Run) -> Run:
        polls = run.progress.polls + 1
        return run.went(RunOutcome.UNSETTLED, polls=polls, wait_seconds=waiting_time(polls))

    def _renew(self, run: Run) -> None:
        self.leases.renew(run.worklist_id, run.epoch, until=self.now() + LEASE)

    def _round(self, run: Run) -> Round:
        catalog = self.catalogs.get(run.worklist_id)
        assert catalog is not None, "a catalog outlives its runs"
        source = catalog.source
        assert source is not None, "a round is begun where its catalog is placed"
        assert run.progress.job_id is not None, "a round that waits has a job"
        return Round(
            catalog=catalog,
            source=source,
            round_id=run.progress.job_id,
        )
