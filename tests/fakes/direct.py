"""Direct ingestion with state, in memory: it takes time, and calls at work are counted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stackroom.model.records import DataSource, DataSourceType
from stackroom.runs.bedrock_calls import Busy, DocumentDetail, Submission
from tests.fakes.clock import FakeClock
from tests.fakes.disturbed import Disturbed

PER_CALL = 10  # documents [API model bedrock-agent: KnowledgeBaseDocuments]
UNDER_WAY = frozenset({"PENDING", "STARTING", "IN_PROGRESS", "DELETING", "DELETE_IN_PROGRESS"})
TOO_MANY = Busy(
    why="ValidationException: The sum of concurrent IngestKnowledgeBaseDocuments and"
    " DeleteKnowledgeBaseDocuments requests can't exceed (10)"
)
JOB_RUNS = Busy(why="ValidationException: There is at least one running ingestion job")

Key = tuple[str, str]  # data source id, document id
_NOTHING = DocumentDetail(status="NOT_FOUND", updated_at=None)


@dataclass(frozen=True, eq=False)
class DirectCall:
    """At work until each of its documents is settled, or was taken up by a later call."""

    knowledge_base_id: str
    accepted_at: datetime
    keys: tuple[Key, ...]
    deletes: bool


@dataclass
class FakeDirectDocuments(Disturbed):
    """
    A call's documents settle `direct_seconds` after it was accepted: as `becomes` said, else
    INDEXED or gone. `direct_busy` refuses every call, and one that `hides_beginnings` shows a
    call's documents only later. `refused` are its refusals.
    """

    clock: FakeClock
    direct_limit: int = 10  # of the account [AWS General Reference: Amazon Bedrock quotas]
    direct_seconds: float = 2.0
    direct_busy: Busy | None = None
    hides_beginnings: bool = False
    refused: list[Busy] = field(default_factory=list)
    held: dict[Key, DocumentDetail] = field(default_factory=dict)
    submitted: dict[Key, Submission] = field(default_factory=dict)
    direct_calls: list[DirectCall] = field(default_factory=list)  # accepted, in order
    direct_tokens: set[str] = field(default_factory=set)
    fates: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    _at_work: list[DirectCall] = field(default_factory=list)
    _newest: dict[Key, DirectCall] = field(default_factory=dict)

    def becomes(self, document_id: str, status: str, reason: str | None = None) -> None:
        """
        Set the status that the document gets when it is ingested; one in progress lasts for ever.
        """
        self._work()
        self.fates[document_id] = (status, reason)

    def put(self, source: DataSource, document_id: str, status: str = "INDEXED") -> None:
        """From now on the document lies there."""
        key = (source.data_source_id, document_id)
        self.held[key] = DocumentDetail(status=status, updated_at=self.clock())

    def lose(self, source: DataSource, document_id: str) -> None:
        """It is in the index no more, and nobody has deleted it."""
        del self.held[(source.data_source_id, document_id)]

    def at_work(self) -> list[DirectCall]:
        self._work()
        return list(self._at_work)

    def ingest(
        self, source: DataSource, documents: Sequence[Submission], *, token: str
    ) -> dict[str, DocumentDetail] | Busy:
        ids = [each.document_id for each in documents]
        if refused := self._accept(source, ids, token=token, deletes=False):
            return refused
        for each in documents:
            self.submitted[(source.data_source_id, each.document_id)] = each
        return self._read(source, ids)

    def delete(
        self, source: DataSource, document_ids: Sequence[str], *, token: str
    ) -> dict[str, DocumentDetail] | Busy:
        if refused := self._accept(source, document_ids, token=token, deletes=True):
            return refused
        return self._read(source, document_ids)

    def details(self, source: DataSource, document_ids: Iterable[str]) -> dict[str, DocumentDetail]:
        """To whoever looks, which need not be how it is."""
        self._work()
        hidden = "STARTING" if self.hides_beginnings else None
        found = self._read(source, document_ids).items()
        return {key: _NOTHING if each.status == hidden else each for key, each in found}

    def _accept(
        self, source: DataSource, document_ids: Sequence[str], *, token: str, deletes: bool
    ) -> Busy | None:
        assert source.type is DataSourceType.CUSTOM, "no direct calls at S3 data sources"
        assert 1 <= len(document_ids) <= PER_CALL, "a call takes one to ten documents"
        self._work()
        if token in self.direct_tokens:
            return None  # Bedrock ignores the request, but does not return an error
        if busy := self._refusal(source.knowledge_base_id):
            self.refused.append(busy)
            return busy
        self.direct_tokens.add(token)
        self._begin(source, document_ids, deletes=deletes)
        return None

    def _begin(self, source: DataSource, document_ids: Sequence[str], *, deletes: bool) -> None:
        now = self.clock()
        keys = [(source.data_source_id, each) for each in document_ids]
        known = tuple(key for key in keys if not deletes or key in self.held)
        call = DirectCall(source.knowledge_base_id, now, known, deletes)
        self.direct_calls.append(call)
        self._at_work.append(call)
        for key in known:
            self._newest[key] = call
            self.held[key] = DocumentDetail(
                status="DELETING" if deletes else "STARTING", updated_at=now
            )

    def _refusal(self, knowledge_base_id: str) -> Busy | None:
        if self.direct_busy is not None:
            return self.direct_busy
        if self._job_runs_on(knowledge_base_id):
            return JOB_RUNS
        return TOO_MANY if len(self._at_work) >= self.direct_limit else None

    def _job_runs_on(self, knowledge_base_id: str) -> bool:
        return False

    def _read(self, source: DataSource, document_ids: Iterable[str]) -> dict[str, DocumentDetail]:
        return {
            each: self.held.get((source.data_source_id, each), _NOTHING) for each in document_ids
        }

    def _work(self) -> None:
        """Carry out the work that is due."""
        for call in list(self._at_work):
            if self.clock() - call.accepted_at < timedelta(seconds=self.direct_seconds):
                continue
            for key in call.keys:
                if self._is_under_way(key, call):
                    self._settle(key, call)
            if not any(self._is_under_way(key, call) for key in call.keys):
                self._at_work.remove(call)

    def _is_under_way(self, key: Key, call: DirectCall) -> bool:
        held = self.held.get(key)
        return held is not None and held.status in UNDER_WAY and self._newest[key] is call

    def _settle(self, key: Key, call: DirectCall) -> None:
        _, document_id = key
        if not call.deletes:
            status, reason = self.fates.get(document_id, ("INDEXED", None))
            if status != self.held[key].status:
                self.held[key] = DocumentDetail(
                    status=status, updated_at=self.clock(), reason=reason
                )
        else:
            del self.held[key]
            self.submitted.pop(key, None)
