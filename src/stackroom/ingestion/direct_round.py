"""
A round of direct calls within one task: sent, looked at and settled, as many at a time as granted.

Bedrock takes ten documents a call and works on after it has answered; until they are settled the
call counts among the account's ten. The function waits for that itself: a wait of some seconds
costs less in a running function than the state transitions that would replace it
(docs/scaling.md). What takes longer is left to the poller, as an ingestion job is.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stackroom.admission.admission import Admission
from stackroom.admission.demand import text_size
from stackroom.clock import Pace, RealTime, utc_now
from stackroom.errors import DocumentsRefused, KnowledgeBaseThrottled
from stackroom.ingestion.direct_calls import Call, DirectCalls
from stackroom.ingestion.direct_refusals import DirectRefusals
from stackroom.ingestion.rounds import DirectWork
from stackroom.model import Catalog, DataSource, Document
from stackroom.ports.admission import Grant
from stackroom.ports.ingestion import Busy, DocumentDetail
from stackroom.settlement.shared_source import SharedSource
from stackroom.settlement.verdict_writer import VerdictWriter
from stackroom.settlement.verdicts import DocumentOutcome

# Seconds. The function ends after 120 (infra/pipeline_functions.py): it takes up nothing new after
# the first, and waits for what it has taken up until the second.
_TAKES_UP = 60.0
_STAYS = 80.0
# A call is settled after four to six seconds [users' measurements], or much later if its files are
# large; so the first look is worth its request only then, or when the last call's time is nearly
# over. Reads are five a second for the whole account.
FIRST_LOOK = 4.0
_NEARLY = 0.7
_NEXT_LOOK = 1.0
_NEXT_SEARCH = 3.0  # searches are twenty a second, for everybody
_AFTER_REFUSAL = 2.0


@dataclass(frozen=True, kw_only=True)
class DirectPorts:
    """What a round of direct calls works with."""

    calls: DirectCalls
    admission: Admission
    settlement: SharedSource
    verdict_writer: VerdictWriter
    now: Callable[[], datetime] = utc_now
    pause: Callable[[float], None] = time.sleep
    pace: Pace = field(default_factory=RealTime)


@dataclass(kw_only=True)
class DirectRound:
    """`grant` is None once others have it."""

    ports: DirectPorts
    catalog: Catalog
    source: DataSource
    grant: Grant | None
    epoch: int
    round_id: str
    batches: deque[list[Document]]
    began: datetime
    calls: list[Call] = field(default_factory=list)
    came_to: DirectWork = field(default_factory=DirectWork)
    refusals: DirectRefusals = field(default_factory=DirectRefusals)
    refused_until: datetime | None = None
    first_look: float = FIRST_LOOK

    def work(self) -> DirectWork:
        """Safe to repeat: what was taken up and not settled is taken up again and sent anew."""
        while True:
            self._take_up()
            if not self.calls and not self._may_take_up():
                break
            if self._passed(_STAYS):
                break
            self._look()
        work = self.came_to
        refused = self.refusals.decided(others_were_taken=work.calls > 0)
        work.settled += self.ports.verdict_writer.write(self.catalog, refused)
        work.calls_at_work = self._at_work()
        if work.calls_at_work:
            self._shrink()
        work.left = sum(map(len, self.batches))
        work.at_work = sum(len(each.documents) for each in self.calls)
        work.accepted_at = min((each.accepted_at for each in self.calls), default=None)
        work.refused = bool(self.batches) and self.refused_until is not None
        return work

    def _may_take_up(self) -> bool:
        return bool(self.batches) and self.grant is not None and not self._passed(_TAKES_UP)

    def _take_up(self) -> None:
        while self._may_take_up() and self.grant and self._at_work() < self.grant.slots:
            if self.refused_until is not None and self.ports.now() < self.refused_until:
                return
            if not self._send(self.batches.popleft()):
                self.refused_until = self._in(_AFTER_REFUSAL)
                return
            self.refused_until = None

    def _send(self, batch: list[Document]) -> bool:
        """False if Bedrock is busy: then the batch comes first again."""
        bound = self.ports.calls.bind(batch, self.round_id)
        self.came_to.passed_over |= {each.document_id for each in batch} - bound.documents.keys()
        if not bound.documents:
            return True
        try:
            accepted_at = self.ports.calls.send(self.source, bound, self.round_id)
        except DocumentsRefused as refusal:
            self.batches.extendleft(self.refusals.apart(bound.documents.values(), refusal))
            return True
        if isinstance(accepted_at, Busy):
            self.batches.appendleft(list(bound.documents.values()))
            return False
        self.came_to.calls += 1
        self.came_to.size += sum(map(text_size, bound.documents.values()))
        self.calls.append(
            Call(
                documents=bound.documents,
                accepted_at=accepted_at,
                began=self.ports.now(),
                look_at=self._in(self.first_look),
            )
        )
        return True

    def _look(self) -> None:
        """Wait for the next call that is due, and write down what it has settled."""
        if not self.calls:
            self._pause_until(self._in(_AFTER_REFUSAL))  # Bedrock was busy, and nothing is at work
            return
        call = min(self.calls, key=lambda each: each.look_at)
        self._pause_until(call.look_at)
        try:
            details = self.ports.calls.direct.details(self.source, call.documents)
            self._settle(call, details)
        except KnowledgeBaseThrottled:
            call.look_at = self._in(_AFTER_REFUSAL)
            return
        at_work = call.is_at_work(details)
        call.look_at = self._in(_NEXT_LOOK if at_work else _NEXT_SEARCH)
        if not call.documents:
            self.calls.remove(call)
        if not at_work and not call.is_over:
            self._call_is_over(call)

    def _settle(self, call: Call, details: Mapping[str, DocumentDetail]) -> None:
        if not (over := call.done_by(details)):
            return
        decided = self.ports.settlement.decide_on(
            self.catalog, over, details, accepted_at=call.accepted_at
        )
        self.came_to.settled += self.ports.verdict_writer.write(self.catalog, decided)
        for document, verdict in decided:
            if verdict.outcome is not DocumentOutcome.WAIT:
                del call.documents[document.document_id]
            if verdict.outcome is DocumentOutcome.AGAIN:
                self.came_to.again = True
            if verdict.outcome is DocumentOutcome.LEFT:
                self.came_to.passed_over.add(document.document_id)

    def _call_is_over(self, call: Call) -> None:
        """May there be another? If not, others can have its slot."""
        call.is_over = True
        took = self.ports.pace.on_aws((self.ports.now() - call.began).total_seconds())
        self.first_look = max(FIRST_LOOK, took * _NEARLY)
        if self._may_take_up() and self.grant is not None:
            calls = self._at_work() + len(self.batches)
            self.grant = self.ports.admission.extend(self.grant, calls=calls)
        if self._at_work() and not self._may_take_up():
            self._shrink()

    def _shrink(self) -> None:
        self.ports.admission.shrink(self.catalog.catalog_id, self.epoch, calls=self._at_work())

    def _at_work(self) -> int:
        """Calls that count among the account's: Bedrock is still at them."""
        return sum(not each.is_over for each in self.calls)

    def _pause_until(self, moment: datetime) -> None:
        """Or until this function has to leave the rest to the poller."""
        now = self.ports.now()
        stays = _STAYS - (now - self.began).total_seconds()
        self.ports.pause(max(0.0, min((moment - now).total_seconds(), stays)))

    def _in(self, seconds: float) -> datetime:
        return self.ports.now() + timedelta(seconds=self.ports.pace.here(seconds))

    def _passed(self, seconds: float) -> bool:
        return (self.ports.now() - self.began).total_seconds() >= seconds
