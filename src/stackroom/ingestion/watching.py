"""
Looking at the direct calls at work, and writing down what they have settled.

Reads are five a second for the whole account, and a call takes seconds, or minutes if its files are
large. So calls are looked at by their last documents alone, ten calls in one request, and the later
the longer they take.

Over 200 lines: looking, and what a look comes to when it fails, belong together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby

from stackroom.beside import Beside, in_threads
from stackroom.clock import Pace
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.ingestion.direct_calls import Call
from stackroom.ingestion.shared_work import SharedWork
from stackroom.isolation import is_everybodys
from stackroom.model import Catalog, DataSource, Document
from stackroom.ports.ingestion import DirectDocuments, DocumentDetail
from stackroom.settlement.shared_source import SharedSource
from stackroom.settlement.statuses import UNDER_WAY
from stackroom.settlement.verdict_writer import VerdictWriter
from stackroom.settlement.verdicts import Decided, DocumentOutcome, Settled

# Seconds on AWS. A call of one small document takes four to six [users' measurements].
FIRST_LOOK = 4.0
_NEXT_LOOK = 0.5
_IN_PROPORTION = 0.02  # of how long it has taken, if that is more
_WHOLE = 10.0  # so often all of a call's documents are asked for, at least
_NEXT_SEARCH = 3.0  # searches are twenty a second, for everybody
_AFTER_THROTTLE = 2.0
_TRIES = 5  # looks in a row that Bedrock answers with a failure


@dataclass(kw_only=True)
class Watch:
    """
    `calls` are those that have yet to settle something; `is_over` is told of each that Bedrock is
    done with, before its documents are written. `took` is how long, on AWS, the last call of small
    documents did.
    """

    source: DataSource
    direct: DirectDocuments
    settlement: SharedSource
    verdict_writer: VerdictWriter
    work: SharedWork
    pace: Pace
    now: Callable[[], datetime]
    is_over: Callable[[Call], None]
    beside: Beside = in_threads
    calls: list[Call] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    took: float | None = None

    @property
    def at_work(self) -> int:
        """Calls that count among the account's: Bedrock is still at them."""
        return sum(not each.is_over for each in self.calls)

    @property
    def large(self) -> int:
        return sum(each.is_large and not each.is_over for each in self.calls)

    def add(self, call: Call) -> None:
        call.look_at = call.began + self._time(FIRST_LOOK)
        self.calls.append(call)

    def look_at_due(self) -> None:
        now = self.now()
        due = [each for each in self.calls if each.look_at <= now]
        try:
            ended = self._ended(due)
        except (KnowledgeBaseThrottled, KnowledgeBaseUnavailable):
            for call in due:
                call.look_at = self._in(_AFTER_THROTTLE)
            return
        for call in ended:
            self._look_at(call)

    def _ended(self, due: list[Call]) -> list[Call]:
        """
        Those whose last document is decided on. Whatever the order in which Bedrock takes a call's
        documents, it is looked at as a whole in the end.
        """
        probed = [each for each in due if not each.is_over]
        if len(probed) < 2:
            return due
        last = {each: list(each.documents)[-1] for each in probed}
        found = self.direct.details(self.source, last.values())
        ended = [each for each in due if each.is_over]
        for call, document_id in last.items():
            if found[document_id].status not in UNDER_WAY or self._is_long(call):
                ended.append(call)
            else:
                call.look_at = self._next_look(call)
        return ended

    def _next_look(self, call: Call) -> datetime:
        age = (self.now() - call.began).total_seconds()
        return self.now() + max(self._time(_NEXT_LOOK), timedelta(seconds=age * _IN_PROPORTION))

    def _is_long(self, call: Call) -> bool:
        return self.now() - call.looked_at >= self._time(_WHOLE)

    def _look_at(self, call: Call) -> None:
        """Whatever goes wrong with one call, or one catalog in it, is nobody else's."""
        call.looked_at = self.now()
        try:
            details = self.direct.details(self.source, call.documents)
        except Exception as error:
            self._fail(call, list(call.documents.values()), error)
            went_well = False
        else:
            went_well = self._write_down(call, details)
        if went_well:
            call.failures = 0
        if not call.documents:
            self.calls.remove(call)
            if not call.is_over:
                self._end(call)
        elif not went_well:
            call.look_at = self._in(_AFTER_THROTTLE)
        else:
            call.look_at = self._in(_NEXT_SEARCH) if call.is_over else self._next_look(call)

    def _write_down(self, call: Call, details: Mapping[str, DocumentDetail]) -> bool:
        if not call.is_over and call.is_done(details):
            self._end(call)
        went_well = self._settle(call, details)
        if call.documents and not call.is_over and not call.is_at_work(details):
            self._end(call)
        return went_well

    def _fail(self, call: Call, documents: list[Document], error: Exception) -> None:
        """Documents of the call that could not be seen to: later, or, if it goes on, set aside."""
        if is_everybodys(error):
            raise error
        if isinstance(error, KnowledgeBaseThrottled):
            return
        call.failures += 1
        if isinstance(error, KnowledgeBaseUnavailable) and call.failures < _TRIES:
            return
        for each in documents:
            del call.documents[each.document_id]
        self.work.set_aside(documents, error)

    def _end(self, call: Call) -> None:
        call.is_over = True
        if not call.is_large:
            self.took = self.pace.on_aws((self.now() - call.began).total_seconds())
        self.is_over(call)

    def _settle(self, call: Call, details: Mapping[str, DocumentDetail]) -> bool:
        """Whether nothing went wrong."""
        over = sorted(call.done_by(details), key=_catalog_of)
        of_catalogs = [
            (self.work.known[catalog_id], list(documents))
            for catalog_id, documents in groupby(over, key=_catalog_of)
        ]
        went_well = True
        outcomes = self.beside(
            [
                partial(self._settled, catalog, documents, details, call.accepted_at)
                for catalog, documents in of_catalogs
            ]
        )
        for (_, documents), outcome in zip(of_catalogs, outcomes, strict=True):
            if isinstance(outcome, Exception):
                self._fail(call, documents, outcome)
                went_well = False
                continue
            decided, settled = outcome
            self.settled += settled
            self._let_go(call, decided)
        return went_well

    def _settled(
        self,
        catalog: Catalog,
        documents: list[Document],
        details: Mapping[str, DocumentDetail],
        accepted_at: datetime,
    ) -> tuple[Decided, list[Settled]] | Exception:
        try:
            decided = self.settlement.decide_on(
                catalog, documents, details, accepted_at=accepted_at
            )
            return decided, self.verdict_writer.write(catalog, decided)
        except Exception as error:  # told with its catalog; whose it is, is decided there
            return error

    def _let_go(self, call: Call, decided: Decided) -> None:
        for document, verdict in decided:
            if verdict.outcome is DocumentOutcome.WAIT:
                continue
            del call.documents[document.document_id]
            if verdict.outcome is DocumentOutcome.LEFT:
                self.work.pass_over([document])
            else:
                self.work.let_go(document.catalog_id, document.document_id)

    def _in(self, seconds: float) -> datetime:
        return self.now() + self._time(seconds)

    def _time(self, seconds: float) -> timedelta:
        return timedelta(seconds=self.pace.here(seconds))


def _catalog_of(document: Document) -> str:
    return document.catalog_id
