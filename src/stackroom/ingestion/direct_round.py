"""
Direct calls at a shared data source: sent, looked at and settled, as many at a time as granted.

Bedrock takes ten documents a call and works on after it has answered; until they are settled the
call counts among the account's ten. The function waits for that itself: a wait of some seconds
costs less in a running function than the state transitions that would replace it
(docs/scaling.md). What is at work when its time is over is left to the run's next task.
"""

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

from stackroom.admission.admission import Admission
from stackroom.admission.demand import BATCH, is_large, text_size
from stackroom.clock import Pace, RealTime, utc_now
from stackroom.errors import DocumentsRefused, KnowledgeBaseThrottled
from stackroom.ingestion.direct_calls import Call, DirectCalls
from stackroom.ingestion.direct_refusals import DirectRefusals
from stackroom.ingestion.rounds import DirectWork
from stackroom.ingestion.shared_work import SharedWork
from stackroom.isolation import is_everybodys
from stackroom.model import DataSource, Document
from stackroom.ports.admission import Grant
from stackroom.ports.ingestion import Busy, DocumentDetail
from stackroom.settlement.shared_source import SharedSource
from stackroom.settlement.statuses import UNDER_WAY
from stackroom.settlement.verdict_writer import VerdictWriter
from stackroom.settlement.verdicts import Decided, DocumentOutcome

# Seconds. The function ends after 120 (infra/pipeline_functions.py), and a look at calls may take
# some of them.
STAYS = 95.0
# A call is settled after four to six seconds [users' measurements], or much later if its files are
# large; so the first look is worth its request only then, or when calls like it have been over.
# Reads are five a second for the whole account.
FIRST_LOOK = 4.0
_NEARLY = 0.6
_NEXT_LOOK = 0.5
_READS = 3.0  # seconds between two looks of a run with one call at work
_WHOLE = 10.0  # so often all of a call's documents are asked for, at least
_NEXT_SEARCH = 3.0  # searches are twenty a second, for everybody
_AFTER_REFUSAL = 2.0
_NEWS = 1.0  # how often somebody may have asked
_EVENLY = 0.5  # the part of what waits that its calls, all together, take at a time is one half
_COMPANY = 1.0  # for so long a document waits for others to share its call, while calls are at work
_GROWING = 1.0  # between two looks whether the run may have more calls
_EXTENDING = 5.0  # and whether it is to have fewer, for others
SPARE = 2  # calls that it asks for beyond what it needs now


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
    """
    `grant` is None once others have it, `served` the counter of requests as it was before the
    worklist was looked at, and `requested` reads it anew. `calls` are those at work, of an earlier
    task's too.
    """

    ports: DirectPorts
    source: DataSource
    grant: Grant | None
    round_id: str
    work: SharedWork
    began: datetime
    served: int
    requested: Callable[[], int]
    calls: list[Call] = field(default_factory=list)
    came_to: DirectWork = field(default_factory=DirectWork)
    refusals: DirectRefusals = field(default_factory=DirectRefusals)
    refused_until: datetime | None = None
    seconds_a_document: float = 0.0  # of the last call, beyond what every call takes
    listened_at: datetime | None = None
    extended_at: datetime | None = None
    large_from: datetime | None = None  # not before then may a large document be begun

    def go_on(self) -> DirectWork:
        """
        Until nothing is left to do, or time is up. Safe to repeat: what was taken up and is not
        settled is taken up again and sent anew.
        """
        while not self._passed(STAYS):
            self._listen()
            self._take_up()
            if not self.calls and not self._may_take_up():
                break
            self._look()
            if self._has_calls_to_spare() and self._is_time_to_extend(_EXTENDING):
                self._extend()
        self._settle_refused()
        work = self.came_to
        work.left = self.work.fill(BATCH)  # where others have the grant, nobody has looked yet
        work.at_work = sum(len(each.documents) for each in self.calls)
        work.calls_at_work = self._at_work()
        work.refused = self.refused_until is not None and not self.calls
        return work

    def _listen(self) -> None:
        """Has somebody asked for a catalog since the worklist was looked at?"""
        now = self.ports.now()
        if self.listened_at is not None and now - self.listened_at < self._time(_NEWS):
            return
        self.listened_at = now
        requested = self.requested()
        if requested != self.served:
            self.served = requested
            self.work.look_again()

    def _may_take_up(self) -> bool:
        if self.grant is None:
            return False
        return self.work.fill(BATCH * self.grant.slots) > 0

    def _take_up(self) -> None:
        if self.refused_until is not None and self.ports.now() < self.refused_until:
            return
        while self._may_take_up() and not self._passed(STAYS):
            if self._wants_more_calls():
                self._extend()
            if self.grant is None or self._at_work() >= self.grant.slots:
                return
            batch = self._next_batch()
            if not batch:
                return
            if not self._send(batch):
                self.refused_until = self._in(_AFTER_REFUSAL)
                return
            self.refused_until = None

    def _next_batch(self) -> list[Document]:
        """Empty if what waits had better wait for company: a call of one takes a lane like ten."""
        if self._takes_large():
            return self.work.take_large()
        assert self.grant is not None, "asked of those alone that may send"
        # Documents of a call are taken one after another. So all calls share what waits, and the
        # last are small, so that they end together.
        size = min(BATCH, math.ceil(self.work.small / (self.grant.slots * _EVENLY)))
        oldest = self.work.oldest()
        if not size and not self.work.alone:
            return []
        is_worth = self.work.alone or size >= BATCH or size > self._at_work()
        if not is_worth and oldest is not None:
            is_worth = self.ports.now() - oldest.updated_at >= self._time(_COMPANY)
        return self.work.take(size) if is_worth else []

    def _takes_large(self) -> bool:
        """It can't be stopped: no job of the knowledge base begins before it ends."""
        assert self.grant is not None, "asked of those alone that may send"
        now = self.ports.now()
        if self.large_from is not None and now < self.large_from:
            return False
        document = self.work.large
        if document is None or 2 * sum(each.is_large for each in self.calls) >= self.grant.slots:
            return False
        granted = self.ports.admission.begin_large(self.grant, since=document.updated_at)
        if granted is None:
            self.large_from = self._in(_EXTENDING)
            return False
        self.grant = granted
        return True

    def _send(self, batch: list[Document]) -> bool:
        """False if Bedrock is busy: then the batch comes first again."""
        try:
            bound = self.ports.calls.bind(batch, self.round_id)
            left_out = [each for each in batch if each.document_id not in bound.documents]
            self.work.pass_over(left_out)
            if not bound.documents:
                return True
            documents = list(bound.documents.values())
            try:
                accepted_at = self.ports.calls.send(self.source, bound, self.round_id)
            except DocumentsRefused as refusal:
                self.work.put_apart(self.refusals.apart(documents, refusal))
                return True
        except Exception as error:
            if is_everybodys(error):
                raise
            self._set_aside(batch, error)
            return True
        if isinstance(accepted_at, Busy):
            self.work.put_back(documents)
            return False
        self.came_to.calls += 1
        self.came_to.size += sum(map(text_size, documents))
        first_look = FIRST_LOOK + len(documents) * self.seconds_a_document * _NEARLY
        self.calls.append(
            Call(
                documents=bound.documents,
                accepted_at=accepted_at,
                began=self.ports.now(),
                look_at=self._in(first_look),
                looked_at=self.ports.now(),
                size=len(documents),
                is_large=any(map(is_large, documents)),
            )
        )
        return True

    def _look(self) -> None:
        """Wait for news, or for what is due, and write down what is settled."""
        listen_at = self._in(_NEWS)
        if not self.calls:
            # Bedrock was busy, or only large documents wait, for a job before them.
            self._pause_until(self.refused_until or listen_at)
            if self.refused_until is None and self.grant is not None:
                self._extend()
            return
        due_at = min(each.look_at for each in self.calls)
        if due_at > listen_at:
            self._pause_until(listen_at)
            return
        self._pause_until(due_at)
        now = self.ports.now()
        due = [each for each in self.calls if each.look_at <= now]
        try:
            for call in self._ended(due):
                self._look_at(call)
        except KnowledgeBaseThrottled:
            for call in due:
                call.look_at = self._in(_AFTER_REFUSAL)

    def _ended(self, due: list[Call]) -> list[Call]:
        """
        Those whose last document is decided on; one request asks for ten calls. Whatever the order
        in which Bedrock takes a call's documents, it is looked at as a whole in the end.
        """
        probed = [each for each in due if not each.is_over]
        if len(probed) < 2:
            return due
        last = {each: list(each.documents)[-1] for each in probed}
        found = self.ports.calls.direct.details(self.source, last.values())
        ended = [each for each in due if each.is_over]
        for call, document_id in last.items():
            if found[document_id].status not in UNDER_WAY or self._is_long(call):
                ended.append(call)
            else:
                call.look_at = self._in(self._interval())
        return ended

    def _is_long(self, call: Call) -> bool:
        return self.ports.now() - call.looked_at >= self._time(_WHOLE)

    def _interval(self) -> float:
        """Seconds between two looks: runs share the account's reads as they share its calls."""
        return max(_NEXT_LOOK, _READS / max(1, self._at_work()))

    def _look_at(self, call: Call) -> None:
        call.looked_at = self.ports.now()
        try:
            details = self.ports.calls.direct.details(self.source, call.documents)
            if not call.is_over and call.is_done(details):
                self._call_is_over(call)
            self._settle(call, details)
        except KnowledgeBaseThrottled:
            raise
        except Exception as error:
            if is_everybodys(error):
                raise
            self._set_aside(call.documents.values(), error)
            self.calls.remove(call)
            return
        if not call.is_over and not call.is_at_work(details):
            self._call_is_over(call)
        call.look_at = self._in(_NEXT_SEARCH if call.is_over else self._interval())
        if not call.documents:
            self.calls.remove(call)

    def _settle(self, call: Call, details: Mapping[str, DocumentDetail]) -> None:
        over = sorted(call.done_by(details), key=_catalog_of)
        for catalog_id, documents in groupby(over, key=_catalog_of):
            catalog = self.work.known[catalog_id]
            decided = self.ports.settlement.decide_on(
                catalog, list(documents), details, accepted_at=call.accepted_at
            )
            self.came_to.settled += self.ports.verdict_writer.write(catalog, decided)
            self._let_go(call, decided)

    def _let_go(self, call: Call, decided: Decided) -> None:
        for document, verdict in decided:
            if verdict.outcome is DocumentOutcome.WAIT:
                continue
            del call.documents[document.document_id]
            if verdict.outcome is DocumentOutcome.LEFT:
                self.work.pass_over([document])
            else:
                self.work.let_go(document.catalog_id, document.document_id)

    def _settle_refused(self) -> None:
        decided, undecided = self.refusals.decided(others_were_taken=self.came_to.calls > 0)
        self.work.pass_over(undecided)
        for document, verdict in decided:
            catalog = self.work.known[document.catalog_id]
            written = self.ports.verdict_writer.write(catalog, [(document, verdict)])
            self.came_to.settled += written
            self.work.let_go(document.catalog_id, document.document_id)

    def _set_aside(self, documents: Iterable[Document], error: Exception) -> None:
        """For a later run: what goes wrong with these must keep nobody else waiting."""
        listed = list(documents)
        self.work.failures |= {each.catalog_id: error for each in listed}
        self.work.set_aside(listed)

    def _call_is_over(self, call: Call) -> None:
        call.is_over = True
        took = self.ports.pace.on_aws((self.ports.now() - call.began).total_seconds())
        if not call.is_large:
            self.seconds_a_document = max(0.0, took - FIRST_LOOK) / max(1, call.size)
            self.came_to.took = took
        elif self.grant is not None and not self._has_large():
            self.grant = self.ports.admission.end_large(self.grant)
        if self.grant is not None and self._is_time_to_extend(_EXTENDING):
            self._extend()

    def _wants_more_calls(self) -> bool:
        full = self.grant is not None and self._at_work() >= self.grant.slots
        return full and self._is_time_to_extend(_GROWING)

    def _has_calls_to_spare(self) -> bool:
        wanted = self._at_work() + self.work.waiting + SPARE
        return self.grant is not None and self.grant.slots > wanted

    def _is_time_to_extend(self, seconds: float) -> bool:
        since = self.extended_at
        return since is None or self.ports.now() - since >= self._time(seconds)

    def _extend(self) -> None:
        """May there be another call? More, if nobody else wants them; none if others are due."""
        assert self.grant is not None, "asked of those alone that have one"
        self.extended_at = self.ports.now()
        calls = self._at_work() + self.work.waiting + SPARE
        self.grant = self.ports.admission.extend(self.grant, calls=calls)

    def _has_large(self) -> bool:
        return any(each.is_large and not each.is_over for each in self.calls)

    def _at_work(self) -> int:
        """Calls that count among the account's: Bedrock is still at them."""
        return sum(not each.is_over for each in self.calls)

    def _pause_until(self, moment: datetime) -> None:
        """Or until this function has to leave the rest to the run's next task."""
        now = self.ports.now()
        stays = STAYS - (now - self.began).total_seconds()
        self.ports.pause(max(0.0, min((moment - now).total_seconds(), stays)))

    def _in(self, seconds: float) -> datetime:
        return self.ports.now() + self._time(seconds)

    def _time(self, seconds: float) -> timedelta:
        """By our clock, of seconds on AWS."""
        return timedelta(seconds=self.ports.pace.here(seconds))

    def _passed(self, seconds: float) -> bool:
        return (self.ports.now() - self.began).total_seconds() >= seconds


def _catalog_of(document: Document) -> str:
    return document.catalog_id
