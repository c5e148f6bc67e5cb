"""The reconciliation of a deployment, for the function and for the command line alike."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from stackroom.audits.auditors import Auditors
from stackroom.audits.discrepancies import QUIET
from stackroom.audits.mending import Mending
from stackroom.audits.reconciliation import AuditStage, Reconciliation
from stackroom.aws.use_cases import UseCases
from stackroom.ports.inventory import Bookmark


def reconciliation_of(
    use_cases: UseCases,
    *,
    bookmark: Bookmark,
    dry_run: bool = False,
    quiet: timedelta = QUIET,
    idle_before: datetime | None = None,
    seconds_between_pages: float = 0.5,
    on_step: Callable[[AuditStage], None] | None = None,
) -> Reconciliation:
    """
    `seconds_between_pages`: List- and GetKnowledgeBaseDocuments share five requests a second
    [AWS General Reference: Amazon Bedrock quotas], and the runs need most of them.
    """
    deployment = use_cases.deployment
    auditors = Auditors(
        inventory=deployment.inventory,
        catalogs=deployment.catalogs,
        documents=deployment.documents,
        bucket=deployment.bucket,
        leases=deployment.leases,
        executions=deployment.executions,
        runs=use_cases.runs,
        succession=use_cases.succession,
        mending=Mending(
            uploads=use_cases.uploads,
            documents=deployment.documents,
            requests=use_cases.requests,
            dry_run=dry_run,
            quiet=quiet,
            idle_before=idle_before,
        ),
        book=deployment.admission_book,
        slots=deployment.slots,
        data_sources=deployment.data_sources,
        jobs=deployment.jobs,
        direct=deployment.direct_documents,
        knowledge_base=deployment.knowledge_base,
        pool=deployment.pool,
        pause=lambda: time.sleep(seconds_between_pages),
    )
    return Reconciliation(audits=auditors.audits(), bookmark=bookmark, on_step=on_step)
