"""
Direct calls of one run: sent, looked at and settled, as many at a time as granted.

Bedrock takes ten documents a call and works on after it has answered; until they are settled the
call counts among the account's ten. The function waits for that itself: a wait of some seconds
costs less in a running function than the state transitions that would replace it
(docs/scaling.md). While all calls are at work the next one is prepared, so that it can be sent as
soon as one is over. What is at work when time is over is left to the run's next task.

Over 200 lines: one loop, whose steps share what is ready, at work and refused.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stackroom.admission.admission import Admission
from stackroom.admission.demand import BATCH, is_large, text_size
from stackroom.beside import Beside, in_threads
from stackroom.clock import Pace, RealTime, utc_now
from stackroom.errors import DocumentsRefused, KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.ingestion.direct_calls import Bound, Call, DirectCalls
from stackroom.ingestion.direct_refusals import DirectRefusals
from stackroom.ingestion.lanes import Lanes
from stackroom.ingestion.rounds import DirectWork
from stackroom.ingestion.shared_work import SharedWork
from stackroom.ingestion.watching import Watch
from stackroom.isolation import is_everybodys
from stackroom.model import DataSource, Document
from stackroom.ports.admission import Grant
from stackroom.ports.ingestion import Busy
from stackroom.settlement.shared_source import SharedSource
from stackroom.settlement.verdict_writer import VerdictWriter

# Seconds. The function ends after 120 (infra/pipeline_functions.py), and what is under way then may
# take some of them.
STAYS = 95.0
# Seconds on AWS.
_AFTER_REFUSAL = 2.0
_TRIES = 5  # of a call that Bedrock answers with a failure
_NEWS = 1.0  # how often somebody may have asked
_COMPANY = 1.0  # for so long a document waits for others to share its call, while calls are at work
# Of what waits, all calls together take so much at a time. So the last are small, and end together.
_AT_A_TIME = 4.0


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
    beside: Beside = in_threads


class DirectRound:
    """
    `served` is the counter of requests as it was before the worklist was looked at, and `requested`
    reads it anew. `calls` are those at work, of an earlier task's too.
    """

    def __init__(
        self,
        *,
        ports: DirectPorts,
        source: DataSource,
        grant: Grant | None,
        round_id: str,
        work: SharedWork,
        began: datetime,
        served: int,
        requested: Callable[[], int],
        calls: list[Call],
    ) -> None:
        self.ports = ports
        self.source = source
        self.round_id = round_id
        self.work = work
        self.began = began
        self.served = served
        self.requested = requested
        self.lanes = Lanes(grant=grant, admission=ports.admission, pace=ports.pace, now=ports.now)
        self.watch = Watch(
            source=source,
            direct=ports.calls.direct,
            settlement=ports.settlement,
            verdict_writer=ports.verdict_writer,
            work=work,
            pace=ports.pace,
            now=ports.now,
            is_over=self._call_is_over,
            beside=ports.beside,
            calls=calls,
        )
        self.came_to = DirectWork()
        self._refusals = DirectRefusals()
        self._refused_until: datetime | None = None
        self._listened_at: datetime | None = None
        self._ready: Bound | None = None
        self._failures = 0  # in a row, of what is ready

    @property
    def calls(self) -> list[Call]:
        return self.watch.calls

    def go_on(self) -> DirectWork:
        """
        Until nothing is left to do, or time is up. Safe to repeat: what was taken up and is not
        settled is taken up again and sent anew.
        """
        while not self._is_time_up():
            self._listen()
            self._take_up()
            if not self.calls and not self._may_take_up():
                break
            self._wait()
            self.lanes.spare(self._needed())
        if self._ready is not None:
            self.work.put_back(self.ports.calls.unbind(self._ready))
        self._settle_refused()
        work = self.came_to
        work.settled += self.watch.settled
        work.took = self.watch.took
        work.left = self.work.fill(BATCH)  # where others have the grant, nobody has looked yet
        work.at_work = sum(len(each.documents) for each in self.calls)
        work.calls_at_work = self.watch.at_work
        work.refused = self._refused_until is not None and not self.calls
        return work

    def _listen(self) -> None:
        """Has somebody asked for a catalog since the worklist was looked at?"""
        now = self.ports.now()
        if self._listened_at is not None and now - self._listened_at < self._time(_NEWS):
            return
        self._listened_at = now
        requested = self.requested()
        if requested != self.served:
            self.served = requested
            self.work.look_again()
            self._leave_out_changed()

    def _leave_out_changed(self) -> None:
        """What is ready may wait for long: what was deleted since must not be brought any more."""
        if self._ready is None:
            return
        changed = self.ports.calls.changed(self._ready)
        for each in changed:
            del self._ready.documents[each.document_id]
            self.work.let_go(each.catalog_id, each.document_id)
        if not self._ready.documents:
            self._ready = None

    def _may_take_up(self) -> bool:
        if self.lanes.grant is None:
            return False
        return self._ready is not None or self.work.fill(BATCH * self.lanes.slots) > 0

    def _take_up(self) -> None:
        while self._may_take_up() and not self._is_time_up():
            is_full = self.watch.at_work >= self.lanes.slots
            if is_full:
                self.lanes.grow(self._needed())
            elif not self.lanes.go_on(self._needed()):
                return
            if self._ready is None and not self._prepare():
                return
            if not self._send_ready():
                return

    def _prepare(self) -> bool:
        """The next call, ready to be sent; False if there is none, or it had better wait."""
        if not (batch := self._next_batch()):
            return False
        try:
            bound = self.ports.calls.bind(batch, self.round_id)
        except Exception as error:
            if is_everybodys(error):
                raise
            self._send_apart(batch, error)
            return True
        left_out = [each for each in batch if each.document_id not in bound.documents]
        self.work.pass_over(left_out)
        self._ready = bound if bound.documents else None
        return True

    def _next_batch(self) -> list[Document]:
        """Empty if what waits had better wait for company: a call of one takes a lane like ten."""
        large = self.work.large
        if large is not None and self.lanes.begin_large(large, at_work=self.watch.large):
            return self.work.take_large()
        if self.work.alone:
            return self.work.take(BATCH)
        # Documents of a call are taken one after another, so all calls share what waits.
        lanes = max(1, self.lanes.slots)
        size = min(BATCH, math.ceil(self.work.small * _AT_A_TIME / lanes))
        oldest = self.work.oldest()
        if oldest is None:
            return []
        is_worth = size >= BATCH or size > self.watch.at_work
        has_waited = self.ports.now() - oldest.updated_at >= self._time(_COMPANY)
        return self.work.take(size) if is_worth or has_waited else []

    def _send_ready(self) -> bool:
        """False if it can't be sent now: no call is free, or Bedrock is busy."""
        bound = self._ready
        if bound is None:
            return True
        is_free = self.watch.at_work < self.lanes.slots
        if not is_free or (self._refused_until and self.ports.now() < self._refused_until):
            return False
        answer = self._answer_to(bound)
        if isinstance(answer, Busy):
            self._refused_until = self._in(_AFTER_REFUSAL)
            return False
        self._ready, self._failures, self._refused_until = None, 0, None
        if answer is not None:
            self._is_sent(bound, answer)
        return True

    def _answer_to(self, bound: Bound) -> datetime | Busy | None:
        """None where no such call is to be sent again: its documents are seen to otherwise."""
        documents = list(bound.documents.values())
        try:
            return self.ports.calls.send(self.source, bound, self.round_id)
        except KnowledgeBaseThrottled as error:
            return Busy(why=str(error))
        except KnowledgeBaseUnavailable as error:
            # Sent again as it is, it is the same call, should the first one have got through. But
            # it may be a document in it that Bedrock fails over, and others wait behind it.
            self._failures += 1
            if self._failures < _TRIES:
                return Busy(why=str(error))
            self._send_apart(documents, error)
        except DocumentsRefused as refusal:
            self.work.put_apart(self._refusals.apart(documents, refusal))
        except Exception as error:
            if is_everybodys(error):
                raise
            self._send_apart(documents, error)
        return None

    def _send_apart(self, documents: list[Document], error: Exception) -> None:
        """Whatever went wrong is one document's at most; that one is left to a later run."""
        if len(documents) > 1:
            self.work.put_apart([each] for each in documents)
        else:
            self.work.set_aside(documents, error)

    def _is_sent(self, bound: Bound, accepted_at: datetime) -> None:
        documents = list(bound.documents.values())
        now = self.ports.now()
        self.came_to.calls += 1
        self.came_to.size += sum(map(text_size, documents))
        self.watch.add(
            Call(
                documents=bound.documents,
                accepted_at=accepted_at,
                began=now,
                look_at=now,
                looked_at=now,
                size=len(documents),
                is_large=any(map(is_large, documents)),
            )
        )

    def _call_is_over(self, call: Call) -> None:
        """Bedrock need not wait for our records: the next call is sent before they are written."""
        if call.is_large and not self.watch.large:
            self.lanes.end_large()
        if self.lanes.go_on(self._needed()):
            self._send_ready()

    def _wait(self) -> None:
        """For news, or for what is due."""
        listen_at = self._in(_NEWS)
        if not self.calls:
            # Bedrock was busy, or only large documents wait, for a job before them.
            self._pause_until(self._refused_until or listen_at)
            if self._refused_until is None:
                self.lanes.extend(self._needed())
            return
        due_at = min(each.look_at for each in self.calls)
        self._pause_until(min(due_at, listen_at))
        if due_at <= listen_at:
            self.watch.look_at_due()

    def _settle_refused(self) -> None:
        decided, undecided = self._refusals.decided(others_were_taken=self.came_to.calls > 0)
        self.work.pass_over(undecided)
        for document, verdict in decided:
            catalog = self.work.known[document.catalog_id]
            written = self.ports.verdict_writer.write(catalog, [(document, verdict)])
            self.came_to.settled += written
            self.work.let_go(document.catalog_id, document.document_id)

    def _needed(self) -> int:
        return self.watch.at_work + self.work.waiting + (self._ready is not None)

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

    def _is_time_up(self) -> bool:
        return (self.ports.now() - self.began).total_seconds() >= STAYS
