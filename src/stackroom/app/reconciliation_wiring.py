"""The reconciliation of a deployment, for the function and for the command line alike."""

from collections.abc import Callable
from datetime import datetime, timedelta

from stackroom.app.use_cases import UseCases
from stackroom.model.repositories import InspectionRequests
from stackroom.reconciler.audit_rounds import AuditStage, Reconciliation, Rounds
from stackroom.reconciler.audited import Audited
from stackroom.reconciler.bedrock_requests import DEFAULT_A_SECOND, RequestPace
from stackroom.reconciler.discrepancies import QUIET
from stackroom.reconciler.mending import Mending
from stackroom.runs.inventory import Bookmark


def reconciliation_of(
    use_cases: UseCases,
    *,
    inspections: InspectionRequests,
    bookmark: Bookmark,
    rounds: Rounds,
    dry_run: bool = False,
    quiet: timedelta = QUIET,
    idle_before: datetime | None = None,
    a_second: float = DEFAULT_A_SECOND,
    on_step: Callable[[AuditStage], None] | None = None,
) -> Reconciliation:
    """
    `a_second`: requests for documents of the knowledge bases, of which the runs need most.

    Raises ValueError unless these are more than none and fewer than the account has.
    """
    deployment = use_cases.deployment
    audited = Audited(
        inventory=deployment.inventory,
        catalogs=deployment.catalogs,
        documents=deployment.documents,
        bucket=deployment.bucket,
        leases=deployment.leases,
        executions=deployment.executions,
        receipts=deployment.receipts,
        requests=use_cases.requests,
        caps=use_cases.user_caps,
        keeping=use_cases.text_keeping,
        worklists=deployment.worklists,
        restart=use_cases.restart,
        mending=Mending(
            uploads=use_cases.uploads,
            documents=deployment.documents,
            requests=use_cases.requests,
            inspections=inspections,
            dry_run=dry_run,
            quiet=quiet,
            idle_before=idle_before,
        ),
        book=deployment.admission_book,
        slots=deployment.slots,
        data_sources=deployment.data_sources,
        direct=deployment.direct_documents,
        knowledge_base=deployment.knowledge_base,
        pool=deployment.pool,
        ids=deployment.id_parts,
    )
    return Reconciliation.over(
        audited,
        bookmark=bookmark,
        rounds=rounds,
        pace=RequestPace(a_second=a_second),
        on_step=on_step,
    )
