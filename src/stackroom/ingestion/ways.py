"""
By a job or by direct calls: which settles a round at a catalog's own data source sooner.

A job has its start and its shortest time, works through its documents one after another, and keeps
out of the knowledge base whoever wants direct calls there; so it is for work that direct calls
can't do, and for when the account's direct calls are so busy with others' work that a job is done
while they would wait (docs/decisions/0019-jobs-where-they-pay.md).
"""

from dataclasses import dataclass
from typing import Protocol

from stackroom.admission.admission import Admission
from stackroom.admission.traffic import Traffic, Work
from stackroom.clock import Pace
from stackroom.ingestion.direct_calls import is_of_calls
from stackroom.model import DataSource, Document, DocumentStatus
from stackroom.ports.admission import Mode
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.documents import Documents
from stackroom.ports.ingestion import IngestionJobs, LocatedDocuments

# A job must be sooner by so much: whoever comes while it runs is kept out, too, and is not known.
_WORTH = 0.75


class Ways(Protocol):
    def of(self, worklist_id: str, source: DataSource) -> Mode:
        """For what is open in that worklist now. Raises KnowledgeBaseThrottled."""
        ...


class ByJobsAlone:
    def of(self, worklist_id: str, source: DataSource) -> Mode:  # noqa: ARG002 - the port's
        return Mode.EXCLUSIVE


@dataclass(frozen=True, kw_only=True)
class Sooner:
    documents: Documents
    bucket: DocumentBucket
    jobs: IngestionJobs
    located: LocatedDocuments
    admission: Admission
    pace: Pace

    def of(self, worklist_id: str, source: DataSource) -> Mode:
        documents = list(self.documents.open_in(worklist_id))
        takes_direct = all(map(self._takes, documents)) and self.jobs.is_synced(source)
        home = source.knowledge_base_id
        traffic = self.admission.traffic(home, self.pace, without=worklist_id)
        return way(Work.of(documents), home, traffic, takes_direct=takes_direct)

    def _takes(self, document: Document) -> bool:
        """Whether a call can name it, and no job that somebody left has it."""
        is_bound = document.status is DocumentStatus.INDEXING and not is_of_calls(document)
        return not is_bound and self.located.takes(self.bucket.uri_of(document.s3_key))


def way(work: Work, home: str, traffic: Traffic, *, takes_direct: bool) -> Mode:
    """
    How the knowledge base `home` is to be used for that work.

    `takes_direct` is whether the data source takes direct calls for all of it: it has been synced,
    and every document has a name that a call can tell.
    """
    if not takes_direct or not (work.calls or work.large):
        return Mode.EXCLUSIVE
    # Of others each call that waits is of ten documents, and so is each of our own.
    ours = work.calls + work.large
    kept_out = traffic.calls_kept_out(home) / ours * traffic.of_job(work)
    by_job = traffic.until_done_by_job(home, work) + kept_out
    directly = traffic.until_done_directly(home, work)
    return Mode.EXCLUSIVE if by_job < directly * _WORTH else Mode.SHARED
