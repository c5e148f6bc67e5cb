"""The kinds of faults, and what AWS answers when it meets one, operation by operation."""

from collections.abc import Container, Mapping
from enum import StrEnum

from bedrock_kb_simulator.errors import ServiceError
from bedrock_kb_simulator.rules import (
    DATA_SOURCE_HAS_JOB,
    DATA_SOURCES_PER_KNOWLEDGE_BASE,
    DIRECT_CONCURRENCY,
    DIRECT_DURING_JOB,
    INTERNAL_ERROR,
    JOB_DURING_DIRECT,
    JOB_QUOTA,
    JOBS_PER_KNOWLEDGE_BASE,
    RATE_EXCEEDED,
    REQUEST_CONFLICT,
    SERVICE_UNAVAILABLE,
    VECTOR_RATE_EXCEEDED,
    Rule,
)


class Kind(StrEnum):
    """The last six are of what a call makes, a document or a data source; all others of calls."""

    CONFLICT = "conflict"
    THROTTLE = "throttle"
    BUSY = "busy"  # a ValidationException that only means "later"
    QUOTA = "quota"  # a ServiceQuotaExceededException, though nothing is full here
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
    LATENCY = "latency"  # late, but right
    LOST = "lost"  # done, and answered with ServiceUnavailableException
    DROPPED = "dropped"  # done, and the connection ends without an answer
    PARTIAL = "partial"  # a part of the answer, and a note that it is one
    NONSENSE = "nonsense"  # an answer of another shape than is documented
    FAILED = "failed"  # the document can't be processed
    REFUSED = "refused"  # the document reads INDEXED, the index took none of its vectors
    LATE = "late"  # done, but for some seconds it reads as if it were still under way
    UNSEEN = "unseen"  # accepted, but for some seconds GetKnowledgeBaseDocuments doesn't know it
    MISSED = "missed"  # indexed, but searches find it some seconds later than others
    SLOW = "slow"  # the request that brings it takes ten times as long


AFTER_THE_EFFECT = frozenset({Kind.LOST, Kind.DROPPED})
# A document meets these when its direct request is accepted, and others when it is indexed.
AT_ACCEPTANCE = frozenset({Kind.UNSEEN, Kind.SLOW})
WHEN_MADE = frozenset({Kind.FAILED, Kind.REFUSED, Kind.LATE, Kind.MISSED})

# Of a collection of OpenSearch Serverless, which no service model of botocore's knows.
COLLECTION_SEARCHES = frozenset({"MultiSearch", "Search"})

# Where there are two texts, every other fault has the other one.
_BUSY: Mapping[str, tuple[Rule, ...]] = {
    "StartIngestionJob": (JOB_DURING_DIRECT,),
    "IngestKnowledgeBaseDocuments": (DIRECT_CONCURRENCY, DIRECT_DURING_JOB),
    "DeleteKnowledgeBaseDocuments": (DIRECT_CONCURRENCY, DIRECT_DURING_JOB),
    "DeleteDataSource": (DATA_SOURCE_HAS_JOB,),
}
_CONFLICTS: Mapping[str, Rule] = {"StartIngestionJob": JOBS_PER_KNOWLEDGE_BASE}
_QUOTAS: Mapping[str, Rule] = {
    "CreateDataSource": DATA_SOURCES_PER_KNOWLEDGE_BASE,
    "StartIngestionJob": JOB_QUOTA,
}

_ANY = (Kind.THROTTLE, Kind.UNAVAILABLE, Kind.INTERNAL, Kind.LATENCY, Kind.LOST, Kind.DROPPED)
_CONTENDED = (*_ANY, Kind.CONFLICT)
# What a call can meet by chance: all that the product calls while it runs. Provisioning is spared,
# since here no CloudFormation stands between to try it again.
BY_CHANCE: Mapping[str, tuple[Kind, ...]] = {
    "Converse": _ANY,
    "CreateDataSource": _CONTENDED,
    "DeleteDataSource": (*_CONTENDED, Kind.BUSY),
    "DeleteKnowledgeBaseDocuments": (*_CONTENDED, Kind.BUSY),
    "GetDataSource": _ANY,
    "GetIndex": _ANY,
    "GetIngestionJob": _ANY,
    "GetKnowledgeBaseDocuments": _ANY,
    "IngestKnowledgeBaseDocuments": (*_CONTENDED, Kind.BUSY),
    "InvokeModel": _ANY,
    "ListDataSources": _ANY,
    "ListIngestionJobs": _ANY,
    "ListKnowledgeBaseDocuments": _ANY,
    "QueryVectors": _ANY,
    "Retrieve": _ANY,
    "RetrieveAndGenerate": _ANY,
    "StartIngestionJob": (*_CONTENDED, Kind.BUSY),
    "StopIngestionJob": _CONTENDED,
    "UpdateDataSource": _CONTENDED,
}
# And a document. Refused vectors show in a job's statistics only, so by chance only there.
DOCUMENTS_BY_CHANCE: Mapping[str, tuple[Kind, ...]] = {
    "StartIngestionJob": (Kind.FAILED, Kind.REFUSED),
    "IngestKnowledgeBaseDocuments": (Kind.FAILED, Kind.UNSEEN, Kind.MISSED, Kind.SLOW),
}


# On request, any call can meet any kind but these, which mean something here only.
_ONLY_OF: Mapping[Kind, Container[str]] = {
    Kind.BUSY: _BUSY,
    Kind.QUOTA: _QUOTAS,
    Kind.PARTIAL: COLLECTION_SEARCHES,
    Kind.NONSENSE: COLLECTION_SEARCHES,
    Kind.FAILED: DOCUMENTS_BY_CHANCE,
    Kind.REFUSED: DOCUMENTS_BY_CHANCE,
    Kind.LATE: {*DOCUMENTS_BY_CHANCE, "CreateDataSource"},
    Kind.MISSED: DOCUMENTS_BY_CHANCE,
    Kind.UNSEEN: {"IngestKnowledgeBaseDocuments"},
    Kind.SLOW: {"IngestKnowledgeBaseDocuments"},
}


def can_meet(operation: str, kind: Kind) -> bool:
    """Whether a fault of this kind, asked for, would mean anything."""
    return kind not in _ONLY_OF or operation in _ONLY_OF[kind]


def answer(kind: Kind, service: str, operation: str, number: int) -> ServiceError:
    """The error of the `number`th such fault."""
    match kind:
        case Kind.CONFLICT:
            return _CONFLICTS.get(operation, REQUEST_CONFLICT).broken()
        case Kind.BUSY:
            texts = _BUSY[operation]
            return texts[number % len(texts)].broken()
        case Kind.QUOTA:
            return _QUOTAS[operation].broken()
        case Kind.THROTTLE:
            return (VECTOR_RATE_EXCEEDED if service == "s3vectors" else RATE_EXCEEDED).broken()
        case Kind.INTERNAL:
            return INTERNAL_ERROR.broken()
        case Kind.UNAVAILABLE | Kind.LOST:
            return SERVICE_UNAVAILABLE.broken()
        case _:
            raise AssertionError(f"{kind} answers no error")
