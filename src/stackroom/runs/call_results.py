"""
Direct calls, once they are sent: what Bedrock says of those at work.

Bedrock answers a call at once and works on; until it has decided on all its documents the call
counts among the account's ten. What is at work stands in the run's progress.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from stackroom.clock import utc_now
from stackroom.concurrency import RunParallel, run_in_threads, tried
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.model.records import Catalog, DataSource, Document, DocumentStatus
from stackroom.model.repositories import Catalogs, Documents
from stackroom.runs.bedrock_calls import NOT_FOUND, DirectDocuments, DocumentDetail
from stackroom.runs.evidence import ABSENT, INDEXED, UNDER_WAY, DocumentEvidence, call_evidence
from stackroom.runs.ledger import CompletedWork, Mode
from stackroom.runs.polling import Look
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
    beside: RunParallel = run_in_threads

    mode = Mode.DIRECT

    def look(self, run: Run, source: DataSource) -> Look:
        calls = list(run.progress.calls)
        said: dict[int, Mapping[str, DocumentDetail]] = {}  # by a call's number
        failures: dict[str, Exception] = {}
        set_aside = list(run.progress.set_aside)
        did: CompletedWork | None = None
        ended = self._ended(run, source)
        answers = self.beside([partial(self._answer, source, calls[each]) for each in ended])
        for number, details in zip(ended, answers, strict=True):
            call = calls[number]
            if isinstance(details, Exception):
                calls[number] = self._unseen(call, details, failures)
                if not calls[number].documents:
                    set_aside += call.documents
                continue
            calls[number] = call = call.model_copy(update={"failures": 0})
            if call.is_over or any(_is_undecided(call, each) for each in details.values()):
                said[number] = details
                continue
            calls[number] = _over(call, details, at=self.now())
            # What has just been indexed is found some seconds later: with the next look.
            if call.is_removal or any(each.status not in INDEXED for each in details.values()):
                said[number] = details
            did = _did(call, calls[number]) or did
        said_of = self._said_of(calls, said)
        moved = run.with_progress(calls=tuple(calls), set_aside=tuple(set_aside))
        at_work = moved.progress.calls_at_work
        return Look(
            run=moved,
            at_work=at_work,
            said_of=said_of,
            began_at=max((each.since for each in calls), default=None),
            is_more=run.progress.is_more and at_work < run.progress.calls_at_work,
            did=did,
            failures=failures,
        )

    def _said_of(
        self, calls: list[DirectCall], said: Mapping[int, Mapping[str, DocumentDetail]]
    ) -> list[DocumentEvidence]:
        """What has changed on record meanwhile, is taken out of the calls."""
        at, found = self.now(), []
        there = self._on_record([calls[number] for number in said])
        for number, details in said.items():
            call = calls[number]
            names = [name for name in call.documents if name.document_id in there]
            calls[number] = call.model_copy(update={"documents": tuple(names)})
            for name in names:
                catalog, document = there[name.document_id]
                detail = details.get(name.document_id, NOT_FOUND)
                word = call_evidence(document, detail, accepted_at=call.accepted_at, at=at)
                found.append((catalog, document, word))
        return found

    def _on_record(self, calls: Sequence[DirectCall]) -> dict[str, tuple[Catalog, Document]]:
        """
        What the calls have yet to settle, by document id. What is pending waits for a call of its
        own, whatever becomes of this one.
        """
        reads = [
            partial(self.documents.get, each.catalog_id, each.document_id)
            for call in calls
            for each in call.documents
        ]
        known: dict[str, Catalog | None] = {}
        there: dict[str, tuple[Catalog, Document]] = {}
        for document in self.beside(reads):
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
        Calls that are over, or whose last document is decided on: a reading takes ten, and five a
        second are the whole account's.
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
        That all that is left is INDEXED need not be asked for again. What was NOT_FOUND may be
        there by now: an ingestion from before may have been on its way. What goes wrong is told
        with its call; whose trouble it is, is decided there.
        """
        ids = [each.document_id for each in call.documents]
        if call.said_at is not None and not call.is_removal:
            return dict.fromkeys(ids, DocumentDetail(status="INDEXED", updated_at=call.said_at))
        return tried(lambda: self.direct.details(source, ids))

    def _unseen(
        self, call: DirectCall, error: Exception, failures: dict[str, Exception]
    ) -> DirectCall:
        """A call that could not be seen to: later, or, if that goes on, left to another run."""
        if isinstance(error, KnowledgeBaseThrottled):
            return call
        seen = call.model_copy(update={"failures": call.failures + 1})
        if seen.failures < _TRIES:
            return seen
        failures |= dict.fromkeys((each.catalog_id for each in call.documents), error)
        return seen.model_copy(update={"documents": (), "is_over": True})


def _is_undecided(call: DirectCall, detail: DocumentDetail) -> bool:
    """What Bedrock doesn't show of an ingestion, or shows as of before, it may not show yet."""
    if detail.status in UNDER_WAY:
        return True
    is_old = detail.updated_at is None or detail.updated_at < call.accepted_at
    return not call.is_removal and is_old


def _over(call: DirectCall, details: Mapping[str, DocumentDetail], *, at: datetime) -> DirectCall:
    final = ABSENT if call.is_removal else INDEXED
    said = [each.updated_at for each in details.values() if each.status in INDEXED]
    # Whatever is neither is settled with this look, or asked for again.
    is_all = all(each.status in final for each in details.values())
    said_at = max((each for each in said if each is not None), default=at)
    return call.model_copy(update={"is_over": True, "said_at": said_at if is_all else None})


def _did(call: DirectCall, over: DirectCall) -> CompletedWork | None:
    """
    How long Bedrock took, by its own clock, for all bytes that it had at work with the call: calls
    share what reads and embeds them. A removal tells nothing of an ingestion.
    """
    if call.is_removal or call.is_large or over.said_at is None:
        return None
    seconds = (over.said_at - call.accepted_at).total_seconds()
    return CompletedWork(
        mode=Mode.DIRECT, size=call.size + call.size_ahead, seconds=max(0.0, seconds)
    )
