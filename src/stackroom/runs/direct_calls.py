"""
Direct calls: the way into a data source of type CUSTOM, ten documents a call.

Documents are bound to a call, then sent. The run's progress lists the calls at work; polling reads
their results (stackroom.runs.polling), and the next start sends what free calls can take.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from stackroom.access.tenancy import REJECTED
from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.concurrency import RunParallel, result_or_error, run_in_threads
from stackroom.errors import (
    DocumentsRefused,
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    is_systemic,
)
from stackroom.model.attributes import TEXT_ID, Attribute
from stackroom.model.bucket import DocumentBucket
from stackroom.model.keys import TextName, digest, locate
from stackroom.model.records import STILL_ANSWERS, Catalog, DataSource, Document, DocumentStatus
from stackroom.model.repositories import Documents
from stackroom.model.usage import Call, UsageBook, count_ingested
from stackroom.runs.admission import Admission
from stackroom.runs.bedrock_calls import Busy, DirectDocuments, Submission
from stackroom.runs.evidence import MAX_ATTEMPTS, UNSEEN, DocumentOutcome, Verdict, of_illegible
from stackroom.runs.ledger import Mode
from stackroom.runs.run import (
    DirectCall,
    DocumentName,
    Run,
    RunOutcome,
    seconds_until_first_poll,
    seconds_until_next_poll,
    seconds_until_next_try,
)
from stackroom.runs.verdicts import Settled, TaskResult, VerdictWriter
from stackroom.runs.work_queue import OpenWork, WorkQueue, with_nothing_to_do

_TAKEN = (DocumentStatus.INDEXING, DocumentStatus.DELETING, DocumentStatus.FAILED)
_NAME = 16  # characters of a call's token that tell it from the others of its round
_ROUND = "direct-"  # no job's id of Bedrock's has a hyphen [API model bedrock-agent: Id]


def is_of_calls(document: Document) -> bool:
    """Return True if direct calls, not a job, have taken the document up."""
    return document.ingestion_job_id is not None and document.ingestion_job_id.startswith(_ROUND)


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Documents by id, as saved; `submissions` is None if they are to be removed."""

    documents: dict[str, Document]
    submissions: Mapping[str, Submission] | None


@dataclass(frozen=True, kw_only=True)
class DirectCalls:
    """
    Ingests and deletes documents with direct calls.

    Without `sends_texts` Bedrock gets the files themselves, because somebody chose its parser. It
    also gets any file that we could not read.
    """

    documents: Documents
    bucket: DocumentBucket
    direct: DirectDocuments
    usage: UsageBook
    queue: WorkQueue
    verdict_writer: VerdictWriter
    admission: Admission
    sends_texts: bool = True
    pace: Pace = REAL_TIME
    now: Callable[[], datetime] = utc_now
    run_parallel: RunParallel = run_in_threads

    mode = Mode.DIRECT

    def start(self, run: Run, source: DataSource) -> TaskResult:
        limit = self.admission.limits.direct_calls
        work = self.queue.take(run, calls=max(0, limit - run.progress.calls_at_work))
        failed = self._without_text(work)
        result = self._start(run, source, work)
        moved = result.run.counted(failed=len(failed))
        return replace(result, run=moved, settled=[*failed, *result.settled])

    def _without_text(self, work: OpenWork) -> list[Settled]:
        """
        Fail files that show a person no text, before anything is sent, because Bedrock's parser
        would index what is hidden in them. If somebody chose that parser, it gets all files.
        """
        illegible = work.remove_illegible() if self.sends_texts else []
        return [
            settled
            for each in illegible
            for settled in self.verdict_writer.write(
                work.catalogs[each.catalog_id], [(each, of_illegible(each))]
            )
        ]

    def _start(self, run: Run, source: DataSource, work: OpenWork) -> TaskResult:
        at_work, limit = run.progress.calls_at_work, self.admission.limits.direct_calls
        last_turn = run.progress.after
        free = max(0, limit - at_work)
        run = run.with_progress(after=work.after, is_more=False)
        share = self.admission.share_of(run.worklist_id)
        found = work.batches(free, share=share, at_work=at_work)
        if not found and not work.large:
            return self._nothing_to_send(run, work)
        wanted = at_work + max(1, len(found) + len(work.large))
        waiter = run.waiter(source, self.mode, at=self.now(), calls=min(limit, wanted))
        grant = self.admission.acquire(waiter)
        if grant is None and not at_work:
            self.admission.leave(run.worklist_id, run.epoch)
            if not run.progress.calls:
                since = run.progress.waiting_since or self.now()
                queued = run.with_outcome(RunOutcome.QUEUED, waiting_since=since)
                return TaskResult(run=queued, failures=work.failures)
        slots = 0 if grant is None else grant.slots
        free = max(0, slots - at_work)
        if len(found) > free:  # the turns of the others are yet to come
            last_turn = found[free - 1][-1].catalog_id if free else last_turn
            run = run.with_progress(after=last_turn)
        sending = CallSender(
            calls=self,
            run=run,
            source=source,
            work=work,
            now=self.now(),
            run_parallel=self.run_parallel,
            alone={each.document_id: each for each in run.progress.alone},
            set_aside=list(run.progress.set_aside),
        )
        large = work.large_calls(free - len(found[:free]), slots, run.progress.large_at_work)
        sending.send(found[:free] + large)
        is_left = len(found) > free or len(large) < len(work.large)
        return self._started(sending, is_more=work.is_more or is_left)

    def _nothing_to_send(self, run: Run, work: OpenWork) -> TaskResult:
        if not run.progress.calls:
            self.admission.leave(run.worklist_id, run.epoch)
            moved = with_nothing_to_do(run, work.next_try, self.now())
            return TaskResult(run=moved, failures=work.failures)
        waiting = self._waiting(run.with_progress(is_more=work.is_more))
        return TaskResult(run=waiting, failures=work.failures)

    def _started(self, sending: "CallSender", *, is_more: bool) -> TaskResult:
        settled = [
            settled
            for catalog, document, verdict in sending.refused
            for settled in self.verdict_writer.write(catalog, [(document, verdict)])
        ]
        progress = sending.run.progress
        run = sending.run.with_progress(
            calls=(*progress.calls, *sending.sent),
            accepted_calls=progress.accepted_calls + len(sending.sent),
            alone=tuple(sending.alone.values()),
            set_aside=tuple(sending.set_aside),
            is_more=is_more,
            round=progress.round + 1,
        ).counted(sent=sum(len(each.documents) for each in sending.sent), failed=len(settled))
        return TaskResult(
            run=self._after(run, sending),
            settled=settled,
            failures=sending.work.failures,
            calls=len(sending.sent),
        )

    def _after(self, run: Run, sending: "CallSender") -> Run:
        if sending.sent:
            first, at_work = seconds_until_first_poll(self.mode), run.progress.calls_at_work
            # Those that were at work before may be over sooner.
            later = seconds_until_next_poll(self.mode, 0.0)
            seconds = first if at_work == len(sending.sent) else later
            return run.with_outcome(
                RunOutcome.STARTED, wait_seconds=seconds, waits=0, waiting_since=None
            )
        if run.progress.calls:
            return self._waiting(run)
        # Others may get through meanwhile; it queues up again in its old position.
        self.admission.leave(run.worklist_id, run.epoch)
        pause = AFTER_REFUSAL if sending.is_in_doubt else None
        if sending.retry_after is not None:
            pause = sending.retry_after
        if pause is None:
            return run.with_outcome(RunOutcome.MORE)
        waits = run.progress.waits + 1
        return run.with_outcome(RunOutcome.BUSY, wait_seconds=pause, waits=waits)

    def _waiting(self, run: Run) -> Run:
        """Return the run with the wait for the calls at work, with nothing sent just now."""
        age = self._age(max(each.since for each in run.progress.calls))
        wait = seconds_until_next_poll(self.mode, age)
        return run.with_outcome(RunOutcome.STARTED, wait_seconds=wait)

    def _age(self, began_at: datetime) -> float:
        return (self.now() - began_at).total_seconds()

    def bind(self, batch: list[Document], round_id: str) -> Bound:
        """
        Record that documents are bound to a call. `round_id` stands for the calls of one task.

        This happens before the call, so that documents which a crash leaves behind are known to be
        under way. Documents that someone else has changed meanwhile, or that have no sidecar, are
        left out: the repair of a record requests a run.
        """
        bound = [self._bound(each, round_id) for each in batch]
        removing = bound[0].status is not DocumentStatus.INDEXING
        submissions = None
        if not removing:
            submissions = submissions_of(bound, self.bucket, sends_texts=self.sends_texts)
        pairs = [
            (new, old)
            for new, old in zip(bound, batch, strict=True)
            if submissions is None or new.document_id in submissions
        ]
        there = {new.document_id: new for new, old in pairs if new == old}
        saved = self.documents.save_all(new for new, old in pairs if new != old)
        there |= {each.document_id: each for each in saved}
        ids = (each.document_id for each in bound if each.document_id in there)
        return Bound(documents={each: there[each] for each in ids}, submissions=submissions)

    def unbind(self, bound: Bound, *, counts_as_attempt: bool = False) -> list[Document]:
        """Undo a binding that Bedrock refused, but for the attempt if it `counts_as_attempt`."""
        before = []
        for each in bound.documents.values():
            waits = each.status is DocumentStatus.INDEXING
            changes = {
                "status": DocumentStatus.PENDING if waits else each.status,
                "attempts": each.attempts if counts_as_attempt else max(0, each.attempts - 1),
                "ingestion_job_id": None,
            }
            before.append(each.model_copy(update=changes))
        return self.documents.save_all(before)

    def send(self, source: DataSource, bound: Bound, round_id: str) -> datetime | Busy:
        """Send the call and return when it was accepted, by the knowledge base's own clock."""
        token = self.token_of(bound, round_id)
        if bound.submissions is None:
            answer = self.direct.delete(source, list(bound.documents), token=token)
        else:
            submitted = [bound.submissions[each] for each in bound.documents]
            answer = self.direct.ingest(source, submitted, token=token)
        if isinstance(answer, Busy):
            return answer
        reported_at = [each.updated_at for each in answer.values() if each.updated_at is not None]
        return min(reported_at, default=self.now())

    @staticmethod
    def token_of(bound: Bound, round_id: str) -> str:
        """Return the call's client token, which is the same if a broken task repeats the call."""
        versions = (
            f"{each.document_id} {each.version} {each.attempts}"
            for each in bound.documents.values()
        )
        return digest(round_id, *versions)

    def _bound(self, document: Document, round_id: str) -> Document:
        is_bound = document.ingestion_job_id == round_id and document.attempts > 0
        if is_bound and document.status in _TAKEN:
            return document
        taken, now = document, self.now()
        if document.status is DocumentStatus.PENDING:
            taken = document.moved(DocumentStatus.INDEXING, at=now)
        if taken.status is DocumentStatus.INDEXING:  # also what a run that broke has left behind
            until = now + timedelta(seconds=self.pace.here(UNSEEN))
            taken = taken.model_copy(update={"unseen_until": until})
        return taken.model_copy(
            update={"ingestion_job_id": round_id, "attempts": document.attempts + 1}
        )


# Documents that a run's progress names; it may have 256 KB [Step Functions quotas]. More that are
# set aside concerns no single document.
_MOST_ASIDE = 200
AFTER_REFUSAL = 60  # seconds, where Bedrock takes nothing else of this run


@dataclass(kw_only=True)
class CallSender:
    """
    Sends the calls of one start and handles Bedrock's answers.

    Bedrock refuses a call as a whole, so that one document would keep nine others waiting for ever.
    The documents of a refused call are sent again, each alone. A document that is refused alone is
    sent alone again, because Bedrock may have been busy with a message that we don't recognise: the
    document is at fault if other calls were accepted in that start, or since.

    `retry_after` is in seconds; after that, a call that was not accepted may be. `is_in_doubt` is
    True if a document was refused alone that may not be at fault.
    """

    calls: DirectCalls
    run: Run
    source: DataSource
    work: OpenWork
    now: datetime
    run_parallel: RunParallel
    alone: dict[str, DocumentName]  # by document id
    set_aside: list[DocumentName]
    sent: list[DirectCall] = field(default_factory=list)
    refused: list[tuple[Catalog, Document, Verdict]] = field(default_factory=list)
    retry_after: int | None = None
    is_in_doubt: bool = False

    def send(self, found: Sequence[list[Document]]) -> None:
        """Bind all calls in parallel, then send them in turn: an account has five a second."""
        round_id = f"{_ROUND}{self.run.epoch}-{self.run.progress.round}"
        # Errors are returned with the documents; the caller decides whom they concern.
        calls = [partial(self.calls.bind, each, round_id) for each in found]
        bindings = [partial(result_or_error, call) for call in calls]
        for batch, bound in zip(found, self.run_parallel(bindings), strict=True):
            self._send(batch, bound, round_id)

    def _send(self, batch: list[Document], bound: Bound | Exception, round_id: str) -> None:
        if isinstance(bound, Exception):
            self._failed_over(batch, bound)
            return
        # A change of those documents, or of their sidecars, requests a run.
        self._put_aside(each for each in batch if each.document_id not in bound.documents)
        if not bound.documents:
            return
        if self.retry_after is not None:  # after a call that was not taken
            self.calls.unbind(bound)
            self.work.is_more = True
            return
        try:
            answer = self.calls.send(self.source, bound, round_id)
        except DocumentsRefused as refusal:
            self._was_refused(bound, refusal)
        except (KnowledgeBaseThrottled, KnowledgeBaseUnavailable) as error:
            self._was_unavailable(bound, error)
        except Exception as error:
            if is_systemic(error):
                raise
            self._failed_over(self.calls.unbind(bound), error)
        else:
            self._was_answered(bound, answer, round_id)

    def _was_answered(self, bound: Bound, answer: datetime | Busy, round_id: str) -> None:
        if isinstance(answer, Busy):
            self.calls.unbind(bound)
            self._wait()
            return
        documents = list(bound.documents.values())
        if bound.submissions is not None:
            users = {each: self.work.catalogs[each].user_id for each in self.work.catalogs}
            call = Call(round_id, self.calls.token_of(bound, round_id)[:_NAME])
            count_ingested(self.calls.usage, users, documents, at=self.now, call=call)
        self._add_call(documents, accepted_at=answer)

    def _add_call(self, documents: Sequence[Document], *, accepted_at: datetime) -> None:
        self._not_alone(documents)
        at_work = (*(each for each in self.run.progress.calls if not each.is_over), *self.sent)
        self.sent.append(
            DirectCall(
                accepted_at=accepted_at,
                began_at=self.now,
                documents=tuple(map(DocumentName.of, documents)),
                size=sum(each.text_size for each in documents),
                size_ahead=sum(each.size for each in at_work),
                is_large=any(each.is_large for each in documents),
                is_removal=not documents[0].is_to_ingest,
                is_probe=any(each.failing_since is not None for each in documents),
            )
        )

    def _was_refused(self, bound: Bound, refusal: DocumentsRefused) -> None:
        """
        Handle a refused call: its documents are sent again, each alone.

        No document fails for its first refusal alone. Before MAX_ATTEMPTS, none fails while Bedrock
        accepts nothing else either: that may be no document's fault.
        """
        documents = list(bound.documents.values())
        self.work.is_more = True
        if len(documents) > 1:
            self._alone_again(self.calls.unbind(bound))
            return
        [document] = documents
        accepted = self.run.progress.accepted_calls + len(self.sent)
        earlier = self.alone.get(document.document_id)
        before = earlier.refused_after if earlier is not None else None
        if before is None or (before == accepted and document.attempts < MAX_ATTEMPTS):
            self._alone_again(
                self.calls.unbind(bound, counts_as_attempt=True),
                refused_after=self.run.progress.accepted_calls,
            )
            self.is_in_doubt = True
            if not accepted:
                self.retry_after = AFTER_REFUSAL
            return
        self._not_alone(documents)
        reason = (
            f"Bedrock refuses the file ({refusal.reason}); give it another name or other"
            " attributes, and drop it again"
        )
        if document.indexed_at is not None:
            reason += STILL_ANSWERS
        verdict = Verdict(outcome=DocumentOutcome.FAILED, reason=reason)
        self.refused.append((self.work.catalogs[document.catalog_id], document, verdict))

    def _was_unavailable(self, bound: Bound, error: Exception) -> None:
        """
        Handle a failed call: Bedrock is busy, or fails over a document in the call. Its documents
        are then sent alone, and one that Bedrock fails over repeatedly is left to a later run.
        """
        self._wait()
        documents = list(bound.documents.values())
        if isinstance(error, KnowledgeBaseThrottled):
            self.calls.unbind(bound)
        elif len(documents) > 1:
            self._alone_again(self.calls.unbind(bound))
        elif documents[0].attempts < MAX_ATTEMPTS:
            self._alone_again(self.calls.unbind(bound, counts_as_attempt=True))
        else:
            self._failed_over(self.calls.unbind(bound), error)

    def _failed_over(self, documents: Sequence[Document], error: Exception) -> None:
        """Leave a document that Bedrock failed over to a later run; the error concerns no other."""
        if len(documents) > 1:
            self._alone_again(documents)
            self.work.is_more = True
            return
        self._not_alone(documents)
        self._put_aside(documents)
        self.work.failures |= dict.fromkeys((each.catalog_id for each in documents), error)

    def _wait(self) -> None:
        self.work.is_more = True
        self.retry_after = seconds_until_next_try(self.run.progress.waits, jitter=True)

    def _put_aside(self, documents: Iterable[Document]) -> None:
        self.set_aside += map(DocumentName.of, documents)
        if len(self.set_aside) > _MOST_ASIDE:
            raise KnowledgeBaseUnavailable("ingestion", f"{len(self.set_aside)} set aside")

    def _alone_again(self, documents: Sequence[Document], refused_after: int | None = None) -> None:
        changes = {"refused_after": refused_after}
        for each in documents:
            self.alone[each.document_id] = DocumentName.of(each).model_copy(update=changes)

    def _not_alone(self, documents: Sequence[Document]) -> None:
        for each in documents:
            self.alone.pop(each.document_id, None)


def submissions_of(
    documents: Iterable[Document], bucket: DocumentBucket, *, sends_texts: bool
) -> dict[str, Submission]:
    """
    Return submissions by document id, with the attributes of the sidecar, for documents that have
    one. Bedrock reads the document's text, or its file if `sends_texts` is False or there is no
    text.
    """
    by_key = {each.s3_key: each for each in documents}
    found: dict[str, Submission] = {}
    for key, kept in bucket.sidecars_of(list(by_key)).items():
        document, user_id = by_key[key], locate(key).user_id
        attributes = kept.attributes
        if attributes is None or attributes.get("user_id") == REJECTED:
            continue
        # The owner follows from the key: a sidecar repeats whatever its author wrote.
        own: dict[str, Attribute] = {
            "user_id": user_id,
            "catalog_id": document.catalog_id,
            "document_id": document.document_id,
            "filename": document.filename,
        }
        content = key
        if document.text_id is not None:
            own[TEXT_ID] = document.text_id
            if sends_texts:
                ids = (user_id, document.catalog_id, document.document_id)
                content = TextName(*ids, document.text_id).key
        found[document.document_id] = Submission(
            document_id=document.document_id,
            uri=bucket.uri_of(content),
            attributes={**attributes, **own},
        )
    return found
