"""
Rounds at a shared data source: direct calls stand in for an ingestion job.

Most rounds come to their end within the task that begins them (direct_round); what doesn't is
polled and settled as a job's is, under an id that stands for it.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from stackroom.admission.admission import Admission
from stackroom.clock import utc_now
from stackroom.ingestion.direct_calls import batches
from stackroom.ingestion.direct_round import DirectPorts, DirectRound
from stackroom.ingestion.endings import Endings
from stackroom.ingestion.rounds import DirectWork, busy, started
from stackroom.model import Catalog, DataSource, Document
from stackroom.ports.admission import Grant
from stackroom.ports.documents import Documents
from stackroom.runs.progress import Run, RunOutcome


@dataclass(frozen=True, kw_only=True)
class DirectRounds:
    documents: Documents
    admission: Admission
    endings: Endings
    ports: DirectPorts
    now: Callable[[], datetime] = utc_now

    def begin(
        self,
        run: Run,
        catalog: Catalog,
        source: DataSource,
        grant: Grant,
        documents: Sequence[Document],
        *,
        served: int,
    ) -> tuple[Run, DirectWork]:
        round_id = f"direct-{run.epoch}-{run.progress.round}"
        small, large = batches(documents)
        # A large one has a grant of its own, so that nobody is held up by more than one.
        taken = small + large[: grant.is_large]
        work = DirectRound(
            ports=self.ports,
            catalog=catalog,
            source=source,
            grant=grant,
            epoch=run.epoch,
            round_id=round_id,
            batches=deque(taken),
            began=self.now(),
        ).work()
        work.left += len(small + large) - len(taken)
        if work.at_work:
            return self._left_to_the_poller(run, round_id, work, served), work
        if work.refused:
            # It queues up again in its old position after a while: others may get through.
            self.admission.leave(run.catalog_id, run.epoch)
            return busy(run), work
        if work.calls <= grant.slots:  # all of them at once: it is known how long they take
            self.admission.finish(run.catalog_id, run.epoch, did=work.size)
        else:
            self.admission.leave(run.catalog_id, run.epoch)
        return self._after(run, work, served), work

    def _left_to_the_poller(self, run: Run, round_id: str, work: DirectWork, served: int) -> Run:
        # The grant is kept while calls are at work, and what else there is waits for them.
        if not work.calls_at_work:
            self.admission.leave(run.catalog_id, run.epoch)
        all_taken_up = not work.left and not work.again
        return started(
            run, round_id, served=served if all_taken_up else 0, accepted_at=work.accepted_at
        )

    def _after(self, run: Run, work: DirectWork, served: int) -> Run:
        left = self.documents.open_in(run.catalog_id)
        if all(each.document_id in work.passed_over for each in left):
            return self.endings.done(run, served)
        # To the end of the queue: whoever waited meanwhile comes first.
        return run.went(
            RunOutcome.GRANT_OVER,
            waiting_since=self.now(),
            round=run.progress.round + 1,
            polls=0,
        )
