"""
PollIngestion: one poll of a run's work, and the verdicts on documents that are decided.

A data source of type S3 takes ingestion jobs, one of type CUSTOM direct calls; everything else
about a run is the same for both (here, and in run_tasks). The poller of either type reports how far
Bedrock's status goes, searches complete the evidence, rules make a verdict of it, and what is not
settled is polled again. Polling gives back what the run no longer needs of its knowledge base.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from stackroom.clock import utc_now
from stackroom.concurrency import RunParallel, result_or_error, run_in_threads
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, is_systemic
from stackroom.model.records import Catalog, DataSource, Document, DocumentStatus, PerSourceType
from stackroom.model.repositories import Catalogs, Documents
from stackroom.runs.admission import Admission
from stackroom.runs.bedrock_calls import NOT_FOUND, DirectDocuments, DocumentDetail
from stackroom.runs.evidence import (
    ABSENT,
    INDEXED,
    REMOVAL_DEADLINE,
    UNDER_WAY,
    UNSEEN,
    BedrockEvidence,
    DocumentEvidence,
    DocumentOutcome,
    Investigation,
    Verdict,
    is_overdue,
    verdict,
)
from stackroom.runs.ledger import CompletedWork, Mode
from stackroom.runs.run import (
    MAX_STEPS,
    DirectCall,
    DocumentName,
    Run,
    RunOutcome,
    seconds_until_next_poll,
)
from stackroom.runs.run_leases import LEASE, Leases, WorklistReader, is_shared
from stackroom.runs.verdicts import Decided, PollResult, Settled, TaskResult, VerdictWriter


class Poller(Protocol):
    mode: Mode

    def poll(self, run: Run, source: DataSource) -> PollResult:
        """
        Ask Bedrock once. Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable: poll again
        later.
        """


_Verdicts = list[tuple[Catalog, Document, Verdict]]
_GROWS_EACH = 3  # polls in a row, after which a run with more to send asks for more calls
_COUNTED = {
    DocumentOutcome.INDEXED: "indexed",
    DocumentOutcome.FAILED: "failed",
    DocumentOutcome.GONE: "removed",
    DocumentOutcome.EVICTED: "removed",
    DocumentOutcome.AGAIN: "again",
    DocumentOutcome.POSTPONED: "postponed",
}


@dataclass(frozen=True, kw_only=True)
class Polling:
    worklist_reader: WorklistReader
    pollers: PerSourceType[Poller]
    investigation: Investigation
    verdict_writer: VerdictWriter
    leases: Leases
    admission: Admission
    run_parallel: RunParallel = run_in_threads
    now: Callable[[], datetime] = utc_now

    def poll(self, run: Run) -> TaskResult:
        """
        Poll once, and write the verdicts. Safe to retry: settled documents are no longer part of
        the run.
        """
        until = self.now() + LEASE
        is_well = run.progress.documents.settled > 0
        lease = self.leases.renew(run.worklist_id, run.epoch, until=until, is_well=is_well)
        source = self.worklist_reader.read(run.worklist_id).source
        if source is None:  # its catalog is gone, or its knowledge base is in the pool no more
            return TaskResult(run=run.with_outcome(RunOutcome.SETTLED, calls=(), job_id=None))
        poller = self.pollers.of(source)
        try:
            result = poller.poll(run, source)
            settling = _Settling()
            verdicts = self._decide(run, result.evidence, settling)
        except (KnowledgeBaseThrottled, KnowledgeBaseUnavailable):
            return TaskResult(run=run.trying_later(RunOutcome.RUNNING))
        self._settle(verdicts, settling)
        is_asked, counts = lease.requested != run.progress.served, settling.counts
        return TaskResult(
            run=self._after(result, settling, poller.mode, is_asked=is_asked),
            settled=settling.settled,
            unexplained=max(0, result.failed_documents - counts["failed"] - counts["again"]),
            failures={**result.failures, **settling.failures},
        )

    def _decide(
        self, run: Run, evidence: Sequence[DocumentEvidence], settling: "_Settling"
    ) -> _Verdicts:
        """
        Decide on all documents together, because one search can find documents of many catalogs. If
        that fails, decide catalog by catalog; catalogs that fail are left to a later run.
        """
        try:
            return self._verdicts(evidence)
        except Exception as error:
            if not is_shared(run.worklist_id) or _is_of_all(error):
                raise
            together = error
        decided: _Verdicts = []
        for catalog_id in {catalog.catalog_id for catalog, _, _ in evidence}:
            own = [each for each in evidence if each[0].catalog_id == catalog_id]
            try:
                decided += self._verdicts(own)
            except Exception as error:
                if _is_of_all(error):
                    raise
                settling.fail(catalog_id, [document for _, document, _ in own], error)
        if not decided and isinstance(together, KnowledgeBaseUnavailable):
            raise together
        return decided

    def _verdicts(self, evidence: Sequence[DocumentEvidence]) -> _Verdicts:
        verdicts = [
            (catalog, document, verdict(document, known))
            for catalog, document, known in self.investigation.complete(evidence)
        ]
        return [each for each in verdicts if _counts(each[1], each[2])]

    def _settle(self, verdicts: _Verdicts, settling: "_Settling") -> None:
        """Write the verdicts catalog by catalog, so that an error with one affects no other."""
        by_catalog: dict[str, Decided] = {}
        homes = {catalog.catalog_id: catalog for catalog, _, _ in verdicts}
        for catalog, document, each in verdicts:
            by_catalog.setdefault(catalog.catalog_id, []).append((document, each))
        writes = [
            partial(result_or_error, partial(self.verdict_writer.write, homes[each], decided))
            for each, decided in by_catalog.items()
        ]
        written = self.run_parallel(writes)
        for (catalog_id, decided), settled in zip(by_catalog.items(), written, strict=True):
            if isinstance(settled, Exception):
                settling.fail(catalog_id, [document for document, _ in decided], settled)
            else:
                settling.settled += settled
                settling.take_in(decided)

    def _after(
        self, result: PollResult, settling: "_Settling", mode: Mode, *, is_asked: bool
    ) -> Run:
        """
        Return the run's next state. A job takes up nothing more; direct calls can be sent beside
        those at work.
        """
        is_news = is_asked or settling.counts["again"] > 0 or settling.is_recovered
        run = settling.probed(settling.pruned(result.run), at=self.now())
        may_send = mode is Mode.DIRECT and self._may_send(run, result, is_news=is_news)
        run = run.with_progress(is_more=run.progress.is_more or is_news)
        is_waiting = bool(result.at_work or run.progress.calls or settling.waiting)
        self._give_back(run, result, may_send=may_send)
        if may_send or (run.progress.is_more and not is_waiting):
            return run.with_outcome(RunOutcome.MORE, waits=0, job_id=None)
        if not is_waiting:
            return run.with_outcome(RunOutcome.SETTLED, waits=0, job_id=None)
        age = 0.0 if result.began_at is None else (self.now() - result.began_at).total_seconds()
        seconds = seconds_until_next_poll(mode, age)
        return run.with_outcome(
            RunOutcome.RUNNING, wait_seconds=seconds, waits=run.progress.waits + 1
        )

    def _may_send(self, run: Run, result: PollResult, *, is_news: bool) -> bool:
        """
        Return True if the run may send more now.

        If something waits for a call already, more of it waits for a free one. A run that is about
        to hand over sends nothing more, so that nothing is at work when it does.
        """
        if run.progress.steps >= MAX_STEPS:
            return False
        if not run.progress.is_more:
            return is_news
        if result.is_more:
            return True
        is_due = run.progress.waits % _GROWS_EACH == _GROWS_EACH - 1
        return is_due and self.admission.could_grow(run.worklist_id, run.epoch)

    def _give_back(self, run: Run, result: PollResult, *, may_send: bool) -> None:
        """Give back what the run no longer needs of its knowledge base."""
        if result.at_work or may_send:
            calls = None if may_send else result.at_work
            self.admission.keep(run.worklist_id, run.epoch, calls=calls, completed=result.completed)
        else:
            self.admission.leave(run.worklist_id, run.epoch, completed=result.completed)


@dataclass(kw_only=True)
class _Settling:
    """
    The documents that one poll has settled; `over` are those that no call has to settle any more.
    """

    settled: list[Settled] = field(default_factory=list)
    failures: dict[str, Exception] = field(default_factory=dict)
    set_aside: list[DocumentName] = field(default_factory=list)
    over: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    is_recovered: bool = False  # Bedrock took something that it had failed over

    def fail(self, catalog_id: str, documents: Sequence[Document], error: Exception) -> None:
        """Leave the documents to a later run."""
        self.failures[catalog_id] = error
        self.set_aside += map(DocumentName.of, documents)
        self.over.update(document.document_id for document in documents)

    def take_in(self, decided: Decided) -> None:
        for document, each in decided:
            if each.outcome is DocumentOutcome.WAIT:
                self.waiting += 1
                continue
            self.over.add(document.document_id)
            is_indexed = each.outcome is DocumentOutcome.INDEXED
            self.is_recovered |= is_indexed and document.failing_since is not None
            if each.outcome is DocumentOutcome.LEFT:
                self.set_aside.append(DocumentName.of(document))
            elif (what := _COUNTED.get(each.outcome)) is not None:
                self.counts[what] += 1

    def pruned(self, run: Run) -> Run:
        """Return the run without settled documents."""
        calls = []
        for call in run.progress.calls:
            left = [each for each in call.documents if each.document_id not in self.over]
            if left:
                calls.append(call.model_copy(update={"documents": tuple(left)}))
        set_aside = (*run.progress.set_aside, *self.set_aside)
        moved = run.with_progress(calls=tuple(calls), set_aside=set_aside).counted(**self.counts)
        at_work = sum(len(each.documents) for each in calls if not each.is_over)
        documents = moved.progress.documents.model_copy(update={"at_work": at_work})
        return moved.with_progress(documents=documents)

    def probed(self, run: Run, *, at: datetime) -> Run:
        """Return the run as it goes on with documents that Bedrock fails over."""
        if self.is_recovered:
            return run.with_progress(recovered_at=at, probe_at=None)
        retries = (each.document.retry_at for each in self.settled)
        return run.with_progress(probe_at=max(filter(None, retries), default=run.progress.probe_at))


def _counts(document: Document, each: Verdict) -> bool:
    """
    Return True if the verdict counts. A document that failed before stays failed, unless it is
    indexed after all and a search finds it.
    """
    is_found = each.outcome is DocumentOutcome.INDEXED and each.is_found
    return document.is_open or is_found or each.outcome is DocumentOutcome.WAIT


def _is_of_all(error: Exception) -> bool:
    return is_systemic(error) or isinstance(error, KnowledgeBaseThrottled)


# The results that Bedrock reports of direct calls. It answers a call at once and works on; until it
# has decided on all of the call's documents, the call counts against the account's ten. The run's
# progress lists the calls at work.

# Seconds from when it accepted a direct call, whose files are at most 50 MB each.
_CALL_DEADLINE = 2 * 3600.0
_TRIES = 5  # looks at a call, in a row, that fail
# A call is looked at by its last document; from this age on as a whole, each so many steps, for
# nobody says in which order Bedrock takes them.
_WHOLE_AFTER, _WHOLE_EACH = timedelta(seconds=10), 5


@dataclass(frozen=True, kw_only=True)
class CallResults:
    direct: DirectDocuments
    documents: Documents
    catalogs: Catalogs
    now: Callable[[], datetime] = utc_now
    run_parallel: RunParallel = run_in_threads

    mode = Mode.DIRECT

    def poll(self, run: Run, source: DataSource) -> PollResult:
        calls = list(run.progress.calls)
        decided: dict[int, Mapping[str, DocumentDetail]] = {}  # by a call's number
        failures: dict[str, Exception] = {}
        set_aside = list(run.progress.set_aside)
        completed: CompletedWork | None = None
        ended = self._ended(run, source)
        answers = self.run_parallel([partial(self._answer, source, calls[each]) for each in ended])
        for number, details in zip(ended, answers, strict=True):
            call = calls[number]
            if isinstance(details, Exception):
                calls[number] = self._unseen(call, details, failures)
                if not calls[number].documents:
                    set_aside += call.documents
                continue
            calls[number] = call = call.model_copy(update={"failures": 0})
            if call.is_over or any(_is_undecided(call, each) for each in details.values()):
                decided[number] = details
                continue
            calls[number] = _over(call, details, at=self.now())
            # A search finds what has just been indexed some seconds later: with the next poll.
            if call.is_removal or any(each.status not in INDEXED for each in details.values()):
                decided[number] = details
            completed = calls[number].completed_work or completed
        evidence, has_left = self._evidence(calls, decided)
        is_more = run.progress.is_more or has_left
        moved = run.with_progress(calls=tuple(calls), set_aside=tuple(set_aside), is_more=is_more)
        at_work = moved.progress.calls_at_work
        return PollResult(
            run=moved,
            at_work=at_work,
            evidence=evidence,
            began_at=max((each.since for each in calls), default=None),
            is_more=has_left or (run.progress.is_more and at_work < run.progress.calls_at_work),
            completed=completed,
            failures=failures,
        )

    def _evidence(
        self, calls: list[DirectCall], decided: Mapping[int, Mapping[str, DocumentDetail]]
    ) -> tuple[list[DocumentEvidence], bool]:
        """
        Return the evidence of each document, and whether one has left that waits for its next call.

        A document that was dropped again meanwhile stays until Bedrock has decided on it, so that
        no later call for it ends first, whether or not its text is there by then. Whatever else
        changed in its record leaves at once.
        """
        at, found, has_left = self.now(), list[DocumentEvidence](), False
        there = self._on_record([calls[number] for number in decided])
        for number, details in decided.items():
            call, names = calls[number], list[DocumentName]()
            for name in [each for each in call.documents if each.document_id in there]:
                catalog, document = there[name.document_id]
                detail = details.get(name.document_id, NOT_FOUND)
                if document.status is not DocumentStatus.PENDING:
                    report = call_evidence(document, detail, accepted_at=call.accepted_at, at=at)
                    found.append((catalog, document, report))
                elif not _may_change(call, detail, at):
                    has_left |= document.is_open
                    continue
                names.append(name)
            calls[number] = call.model_copy(update={"documents": tuple(names)})
        return found, has_left

    def _on_record(self, calls: Sequence[DirectCall]) -> dict[str, tuple[Catalog, Document]]:
        """
        Return the documents that the calls have yet to settle, or that wait for a call of their own
        after it, by document id.
        """
        reads = [
            partial(self.documents.get, each.catalog_id, each.document_id)
            for call in calls
            for each in call.documents
        ]
        known: dict[str, Catalog | None] = {}
        there: dict[str, tuple[Catalog, Document]] = {}
        for document in self.run_parallel(reads):
            if document is None:
                continue
            if not document.is_open and document.status is not DocumentStatus.PENDING:
                continue
            if document.catalog_id not in known:
                known[document.catalog_id] = self.catalogs.get(document.catalog_id)
            if (catalog := known[document.catalog_id]) is not None:
                there[document.document_id] = (catalog, document)
        return there

    def _ended(self, run: Run, source: DataSource) -> list[int]:
        """
        Return the calls that are over, or whose last document is decided: a request reads ten
        documents, and the whole account has five requests a second.
        """
        calls = run.progress.calls
        over = [number for number, each in enumerate(calls) if each.is_over]
        probed = [number for number, each in enumerate(calls) if not each.is_over]
        if len(probed) < 2:
            return over + probed
        last = {number: calls[number].documents[-1].document_id for number in probed}
        found = self.direct.details(source, last.values())
        is_whole_due, at = run.progress.steps % _WHOLE_EACH == 0, self.now()
        return over + [
            number
            for number, document_id in last.items()
            if not _is_undecided(calls[number], found[document_id])
            or (is_whole_due and at - calls[number].began_at >= _WHOLE_AFTER)
        ]

    def _answer(
        self, source: DataSource, call: DirectCall
    ) -> Mapping[str, DocumentDetail] | Exception:
        """
        Return the details of a call's documents, or the error. If all that is left is INDEXED,
        Bedrock isn't asked again. A document that was NOT_FOUND may exist by now, from an earlier
        ingestion.
        """
        ids = [each.document_id for each in call.documents]
        if call.said_at is not None and not call.is_removal:
            return dict.fromkeys(ids, DocumentDetail(status="INDEXED", updated_at=call.said_at))
        return result_or_error(lambda: self.direct.details(source, ids))

    def _unseen(
        self, call: DirectCall, error: Exception, failures: dict[str, Exception]
    ) -> DirectCall:
        """Return the call after a failed read; after `_TRIES` of them, another run reads it."""
        if isinstance(error, KnowledgeBaseThrottled):
            return call
        seen = call.model_copy(update={"failures": call.failures + 1})
        if seen.failures < _TRIES:
            return seen
        failures |= dict.fromkeys((each.catalog_id for each in call.documents), error)
        return seen.model_copy(update={"documents": (), "is_over": True})


def call_evidence(
    document: Document, detail: DocumentDetail, *, accepted_at: datetime, at: datetime
) -> BedrockEvidence:
    """
    Return the evidence that a direct call's report gives of a document. Bedrock's status counts
    from the moment when it accepted the call, by its own clock.

    No later call tries a document again unless we do. While an ingestion may be on its way that
    Bedrock doesn't show yet, NOT_FOUND proves nothing.
    """
    removal = document.status is not DocumentStatus.INDEXING
    # For a document that was deleted while a call ingested it, nobody has asked Bedrock yet to
    # remove it.
    is_asked_for = not removal or document.attempts > 0
    early = detail.updated_at is not None and detail.updated_at < accepted_at
    overdue = is_overdue(accepted_at, at, _CALL_DEADLINE)
    # An ingestion may be at work that Bedrock doesn't show.
    may_turn_up = document.unseen_until is not None and at < document.unseen_until
    if removal and is_asked_for:
        is_on_its_way = early or detail.status in UNDER_WAY | ABSENT
        may_change = is_on_its_way and not is_overdue(accepted_at, at, REMOVAL_DEADLINE)
    else:
        unseen = detail.status in ABSENT and not is_overdue(accepted_at, at, UNSEEN)
        may_change = unseen or ((detail.status in UNDER_WAY or early) and not overdue)
    return BedrockEvidence(
        detail=detail,
        is_removal=removal,
        is_out=is_asked_for and detail.status in ABSENT and not may_turn_up,
        is_current=not early,
        may_change=may_change,
        is_final=True,
        is_overdue=overdue,
    )


def _is_undecided(call: DirectCall, detail: DocumentDetail) -> bool:
    """
    Return True if Bedrock may not show the ingestion yet: it reports nothing, or an earlier state.
    """
    if detail.status in UNDER_WAY:
        return True
    is_old = detail.updated_at is None or detail.updated_at < call.accepted_at
    return not call.is_removal and is_old


def _may_change(call: DirectCall, detail: DocumentDetail, at: datetime) -> bool:
    deadline = UNSEEN if detail.status in ABSENT else _CALL_DEADLINE
    is_late = is_overdue(call.accepted_at, at, deadline)
    return not (call.is_over or is_late) and _is_undecided(call, detail)


def _over(call: DirectCall, details: Mapping[str, DocumentDetail], *, at: datetime) -> DirectCall:
    final = ABSENT if call.is_removal else INDEXED
    reported = [each.updated_at for each in details.values() if each.status in INDEXED]
    # Whatever is neither is settled with this look, or asked for again.
    is_all = all(each.status in final for each in details.values())
    said_at = max((each for each in reported if each is not None), default=at)
    return call.model_copy(update={"is_over": True, "said_at": said_at if is_all else None})
