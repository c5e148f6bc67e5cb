"""
Ingesting and deleting documents directly: what catalogs on a shared data source have for jobs.

Bedrock takes ten documents a call and works on after it has answered; until they are settled the
call counts among the account's ten. The function waits for that itself: a wait of some seconds
costs less in a running function than the state transitions that would replace it
(docs/scaling.md). What takes longer is left to the poller, as an ingestion job is.
"""

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stackroom.admission.admission import Admission
from stackroom.clock import Pace, RealTime, utc_now
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model import Catalog, DataSource, Document, DocumentStatus
from stackroom.ports.admission import Grant
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.documents import Documents
from stackroom.ports.ingestion import Busy, DirectDocuments, DocumentDetail, Submission
from stackroom.settlement.inquiry import Inquiry
from stackroom.settlement.verdict_writer import VerdictWriter
from stackroom.settlement.verdicts import UNDER_WAY, DocumentOutcome, Settled
from stackroom.uploads import sidecars

BATCH = 10  # documents of an Ingest- or DeleteKnowledgeBaseDocuments call [API model]
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


@dataclass
class _Call:
    """
    A direct call, and what it has yet to settle. Once it is over, what was removed may be found
    for some seconds yet; that takes none of the account's calls.
    """

    documents: dict[str, Document]
    accepted_at: datetime
    began: datetime
    look_at: datetime
    is_over: bool = False


@dataclass
class Turn:
    """What a turn came to. `left` is what has yet to be taken up, `at_work` what is not settled."""

    settled: list[Settled] = field(default_factory=list)
    left: int = 0
    at_work: int = 0
    calls_at_work: int = 0
    accepted_at: datetime | None = None
    calls: int = 0
    again: bool = False  # some document needs another round
    passed_over: set[str] = field(default_factory=set)  # documents that are not this run's to do
    refused: bool = False  # Bedrock was busy, and nothing got through


@dataclass(frozen=True, kw_only=True)
class DirectIngestion:
    documents: Documents
    bucket: DocumentBucket
    direct: DirectDocuments
    admission: Admission
    inquiry: Inquiry
    verdict_writer: VerdictWriter
    now: Callable[[], datetime] = utc_now
    pause: Callable[[float], None] = time.sleep
    pace: Pace = field(default_factory=RealTime)

    def work(
        self,
        catalog: Catalog,
        source: DataSource,
        grant: Grant,
        documents: Iterable[Document],
        round_id: str,
    ) -> Turn:
        """
        One turn at these documents: to be ingested, or to be deleted.

        Safe to repeat after a crash: what was taken up and not settled is taken up again, and
        replaces itself in the index.
        """
        return _Shift(
            use=self,
            catalog=catalog,
            source=source,
            grant=grant,
            epoch=grant.epoch,
            round_id=round_id,
            batches=deque(_batches(documents)),
            began=self.now(),
        ).work()

    def submissions(self, documents: Iterable[Document]) -> dict[str, Submission]:
        """By document id, with the attributes of its sidecar; of those that have one."""
        by_key = {each.s3_key: each for each in documents}
        return {
            by_key[key].document_id: Submission(
                document_id=by_key[key].document_id,
                uri=self.bucket.uri_of(key),
                attributes=sidecars.attributes_in(kept.body),
            )
            for key, kept in self.bucket.sidecars_of(list(by_key)).items()
            if kept.body != sidecars.QUARANTINED
        }


@dataclass
class _Shift:
    """One turn at work."""

    use: DirectIngestion
    catalog: Catalog
    source: DataSource
    grant: Grant | None
    epoch: int
    round_id: str
    batches: deque[list[Document]]
    began: datetime
    calls: list[_Call] = field(default_factory=list)
    turn: Turn = field(default_factory=Turn)
    refused_until: datetime | None = None
    first_look: float = FIRST_LOOK

    def work(self) -> Turn:
        while True:
            self._take_up()
            if not self.calls and not self._may_take_up():
                break
            if self._passed(_STAYS):
                break
            self._look()
        self.turn.calls_at_work = self._at_work()
        if self.turn.calls_at_work:
            self._shrink()
        self.turn.left = sum(map(len, self.batches))
        self.turn.at_work = sum(len(each.documents) for each in self.calls)
        self.turn.accepted_at = min((each.accepted_at for each in self.calls), default=None)
        self.turn.refused = bool(self.batches) and self.refused_until is not None
        return self.turn

    def _may_take_up(self) -> bool:
        return bool(self.batches) and self.grant is not None and not self._passed(_TAKES_UP)

    def _take_up(self) -> None:
        while self._may_take_up() and self.grant and self._at_work() < self.grant.slots:
            if self.refused_until is not None and self.use.now() < self.refused_until:
                return
            batch = self.batches.popleft()
            call = self._call(batch)
            if isinstance(call, Busy):
                self.batches.appendleft(batch)
                self.refused_until = self._in(_AFTER_REFUSAL)
                return
            self.refused_until = None
            if call.documents:
                self.calls.append(call)

    def _call(self, batch: list[Document]) -> _Call | Busy:
        """Bind the documents to this round, then call."""
        # What someone else has changed meanwhile, or has no sidecar, is left to them: whoever
        # brings a record in step asks for a run.
        bound = [self._bound(each) for each in batch]
        removing = bound[0].status is not DocumentStatus.INDEXING
        submissions = {} if removing else self.use.submissions(bound)
        # Before the call, so that what a crash leaves behind is known to be under way.
        changed = [
            new
            for new, old in zip(bound, batch, strict=True)
            if new != old and (removing or new.document_id in submissions)
        ]
        saved = {each.document_id: each for each in self.use.documents.save_all(changed)}
        moved_on = {each.document_id for each in changed} - saved.keys()
        documents = {
            each.document_id: saved.get(each.document_id, each)
            for each in bound
            if each.document_id not in moved_on and (removing or each.document_id in submissions)
        }
        self.turn.passed_over |= {each.document_id for each in batch} - documents.keys()
        if not documents:
            now = self.use.now()
            return _Call(documents={}, accepted_at=now, began=now, look_at=now)
        token = _token(self.round_id, documents.values())
        answer = (
            self.use.direct.delete(self.source, list(documents), token=token)
            if removing
            else self.use.direct.ingest(
                self.source, [submissions[each] for each in documents], token=token
            )
        )
        if isinstance(answer, Busy):
            batch[:] = documents.values()
            return answer
        self.turn.calls += 1
        said_at = [each.updated_at for each in answer.values() if each.updated_at is not None]
        return _Call(
            documents=documents,
            accepted_at=min(said_at, default=self.use.now()),
            began=self.use.now(),
            look_at=self._in(self.first_look),
        )

    def _bound(self, document: Document) -> Document:
        if document.ingestion_job_id == self.round_id and document.status in _TAKEN:
            return document
        taken = document
        if document.status is DocumentStatus.PENDING:
            taken = document.moved(DocumentStatus.INDEXING, at=self.use.now())
        return taken.model_copy(
            update={"ingestion_job_id": self.round_id, "attempts": document.attempts + 1}
        )

    def _look(self) -> None:
        """Wait for the next call that is due, and write down what it has settled."""
        if not self.calls:
            self._pause_until(self._in(_AFTER_REFUSAL))  # Bedrock was busy, and nothing is at work
            return
        call = min(self.calls, key=lambda each: each.look_at)
        self._pause_until(call.look_at)
        try:
            verdicts = self.use.direct.details(self.source, call.documents)
            self._settle(call, verdicts)
        except KnowledgeBaseThrottled:
            call.look_at = self._in(_AFTER_REFUSAL)
            return
        # What is to be ingested and not decided on is at work, though Bedrock may not show it yet.
        at_work = any(
            each.status is DocumentStatus.INDEXING or verdicts[document_id].status in UNDER_WAY
            for document_id, each in call.documents.items()
        )
        call.look_at = self._in(_NEXT_LOOK if at_work else _NEXT_SEARCH)
        if not call.documents:
            self.calls.remove(call)
        if not at_work and not call.is_over:
            call.is_over = True
            took = self.use.pace.on_aws((self.use.now() - call.began).total_seconds())
            self.first_look = max(FIRST_LOOK, took * _NEARLY)
            self._go_on_or_shrink()

    def _pause_until(self, moment: datetime) -> None:
        """Or until this function has to leave the rest to the poller."""
        now = self.use.now()
        stays = _STAYS - (now - self.began).total_seconds()
        self.use.pause(max(0.0, min((moment - now).total_seconds(), stays)))

    def _go_on_or_shrink(self) -> None:
        """A call is over: may there be another? If not, others can have its slot."""
        if self._may_take_up() and self.grant is not None:
            calls = self._at_work() + len(self.batches)
            self.grant = self.use.admission.extend(self.grant, calls=calls)
        if self._at_work() and not self._may_take_up():
            self._shrink()

    def _shrink(self) -> None:
        self.use.admission.shrink(self.catalog.catalog_id, self.epoch, calls=self._at_work())

    def _at_work(self) -> int:
        """Calls that count among the account's: Bedrock is still at them."""
        return sum(not each.is_over for each in self.calls)

    def _settle(self, call: _Call, verdicts: dict[str, DocumentDetail]) -> None:
        over = [
            document
            for document_id, document in call.documents.items()
            if verdicts[document_id].status not in UNDER_WAY
        ]
        if not over:
            return
        decided = self.use.inquiry.decide_directly(
            self.catalog,
            over,
            verdicts,
            accepted_at=call.accepted_at,
            at=self.use.now(),
        )
        self.turn.settled += self.use.verdict_writer.write(self.catalog, decided)
        for document, decision in decided:
            if decision.outcome is not DocumentOutcome.WAIT:
                del call.documents[document.document_id]
            if decision.outcome is DocumentOutcome.AGAIN:
                self.turn.again = True
            if decision.outcome is DocumentOutcome.LEFT:
                self.turn.passed_over.add(document.document_id)

    def _in(self, seconds: float) -> datetime:
        return self.use.now() + timedelta(seconds=self.use.pace.here(seconds))

    def _passed(self, seconds: float) -> bool:
        return (self.use.now() - self.began).total_seconds() >= seconds


_TAKEN = (DocumentStatus.INDEXING, DocumentStatus.DELETING, DocumentStatus.FAILED)


def _batches(documents: Iterable[Document]) -> Iterable[list[Document]]:
    """Tens, those to be removed apart from those to be ingested; the longest pending first."""
    ordered = sorted(documents, key=lambda each: each.updated_at)
    ingested = [each for each in ordered if each.status in _TO_INGEST]
    removed = [each for each in ordered if each.status not in _TO_INGEST]
    for group in (removed, ingested):
        for start in range(0, len(group), BATCH):
            yield group[start : start + BATCH]


_TO_INGEST = (DocumentStatus.PENDING, DocumentStatus.INDEXING)


def _token(round_id: str, documents: Iterable[Document]) -> str:
    """Of exactly these versions: a repeated call is the same call, a later one never is."""
    versions = (f"{each.document_id} {each.version} {each.attempts}" for each in documents)
    # clientToken: 33 to 256 characters [API model]; a SHA-256 in hex has 64.
    return hashlib.sha256("\x00".join((round_id, *versions)).encode()).hexdigest()
