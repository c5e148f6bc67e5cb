"""
The two ways into a data source, behind one interface: by ingestion jobs, and by direct calls.

A data source of type S3 takes jobs, one of type CUSTOM direct calls. Everything else about a run
(ensuring its data source, being admitted, waiting, writing down what became of each document,
ending) is the same for both: `run_tasks` and `polling`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from stackroom.documents.model import Catalog, DataSource, Document
from stackroom.ingestion.bedrock_evidence import DocumentEvidence
from stackroom.ingestion.verdicts import Settled, Verdict
from stackroom.quota.ledger import Mode, Waiter
from stackroom.quota.workload import Did
from stackroom.runs.run import Run


@dataclass(kw_only=True)
class Started:
    """
    What beginning something came to. `refused` are documents that Bedrock will not take; `failures`
    are of catalogs of which something was set aside for a later run, by their ids.
    """

    run: Run
    calls: int = 0
    refused: Sequence[tuple[Catalog, Document, Verdict]] = ()
    settled: Sequence[Settled] = ()  # the refused ones, once that is on record
    failures: dict[str, Exception] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Look:
    """
    What Bedrock says of what the run has at work: `run` is how it stands now, `at_work` how many
    jobs or calls, and the youngest of them, or of what is not settled yet, began at `began_at`.
    `is_more` if something that waits can be sent now; `did` tells how long work took that is over.
    """

    run: Run
    at_work: int
    began_at: datetime | None = None
    is_more: bool = False
    did: Did | None = None
    failed_documents: int = 0  # by a job's own count
    failures: dict[str, Exception] = field(default_factory=dict)


LookT = TypeVar("LookT", bound=Look)


class Strategy(Protocol, Generic[LookT]):
    mode: Mode

    def waiter(self, run: Run, source: DataSource, token: str) -> Waiter:
        """As which it queues up at its knowledge base."""
        ...

    def start(self, run: Run, source: DataSource) -> Started:
        """
        Begin as much as the run is granted; it is queued if others are before it. Safe to retry.
        """
        ...

    def look(self, run: Run, source: DataSource) -> LookT:
        """
        Ask Bedrock once. Raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable: look again
        later.
        """
        ...

    def evidence(self, look: LookT, source: DataSource) -> tuple[LookT, Sequence[DocumentEvidence]]:
        """
        Of each document that Bedrock has decided on, how far its word goes. The look is answered
        without what has changed on record meanwhile.
        """
        ...
