"""
The results that Bedrock reports of direct calls.

Bedrock answers a call at once and works on; until it has decided on all of the call's documents,
the call counts against the account's ten. The run's progress lists the calls at work.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from stackroom.clock import utc_now
from stackroom.concurrency import RunParallel, result_or_error, run_in_threads
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model.records import Catalog, DataSource, Document, DocumentStatus
from stackroom.model.repositories import Catalogs, Documents
from stackroom.runs.bedrock_calls import NOT_FOUND, DirectDocuments, DocumentDetail
from stackroom.runs.evidence import ABSENT, INDEXED, UNDER_WAY, DocumentEvidence, call_evidence
from stackroom.runs.ledger import CompletedWork, Mode
from stackroom.runs.polling import PollResult
from stackroom.runs.run import DirectCall, Run

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
            # Documents that have just been indexed are found some seconds later: with the next
            # poll.
            if call.is_removal or any(each.status not in INDEXED for each in details.values()):
                decided[number] = details
            completed = _completed_work(call, calls[number]) or completed
        evidence = self._evidence(calls, decided)
        moved = run.with_progress(calls=tuple(calls), set_aside=tuple(set_aside))
        at_work = moved.progress.calls_at_work
        return PollResult(
            run=moved,
            at_work=at_work,
            evidence=evidence,
            began_at=max((each.since for each in calls), default=None),
            is_more=run.progress.is_more and at_work < run.progress.calls_at_work,
            completed=completed,
            failures=failures,
        )

    def _evidence(
        self, calls: list[DirectCall], decided: Mapping[int, Mapping[str, DocumentDetail]]
    ) -> list[DocumentEvidence]:
        """Return the evidence of each document; a document whose record changed leaves its call."""
        at, found = self.now(), []
        there = self._on_record([calls[number] for number in decided])
        for number, details in decided.items():
            call = calls[number]
            names = [name for name in call.documents if name.document_id in there]
            calls[number] = call.model_copy(update={"documents": tuple(names)})
            for name in names:
                catalog, document = there[name.document_id]
                detail = details.get(name.document_id, NOT_FOUND)
                report = call_evidence(document, detail, accepted_at=call.accepted_at, at=at)
                found.append((catalog, document, report))
        return found

    def _on_record(self, calls: Sequence[DirectCall]) -> dict[str, tuple[Catalog, Document]]:
        """
        Return the documents that the calls have yet to settle, by document id.

        A pending document waits for a call of its own, whatever the result of this one.
        """
        reads = [
            partial(self.documents.get, each.catalog_id, each.document_id)
            for call in calls
            for each in call.documents
        ]
        known: dict[str, Catalog | None] = {}
        there: dict[str, tuple[Catalog, Document]] = {}
        for document in self.run_parallel(reads):
            waits = document is not None and document.status is DocumentStatus.PENDING
            if document is None or not document.is_open or waits:
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


def _is_undecided(call: DirectCall, detail: DocumentDetail) -> bool:
    """
    Return True if Bedrock may not show the ingestion yet: it reports nothing, or an earlier state.
    """
    if detail.status in UNDER_WAY:
        return True
    is_old = detail.updated_at is None or detail.updated_at < call.accepted_at
    return not call.is_removal and is_old


def _over(call: DirectCall, details: Mapping[str, DocumentDetail], *, at: datetime) -> DirectCall:
    final = ABSENT if call.is_removal else INDEXED
    reported = [each.updated_at for each in details.values() if each.status in INDEXED]
    # Whatever is neither is settled with this look, or asked for again.
    is_all = all(each.status in final for each in details.values())
    said_at = max((each for each in reported if each is not None), default=at)
    return call.model_copy(update={"is_over": True, "said_at": said_at if is_all else None})


def _completed_work(call: DirectCall, over: DirectCall) -> CompletedWork | None:
    """
    Return the time that Bedrock took, by its clock, for all bytes that it worked on during the
    call: calls share the capacity that reads and embeds them. A removal says nothing about
    ingestion.
    """
    if call.is_removal or call.is_large or over.said_at is None:
        return None
    seconds = (over.said_at - call.accepted_at).total_seconds()
    return CompletedWork(
        mode=Mode.DIRECT, size=call.size + call.size_ahead, seconds=max(0.0, seconds)
    )
