"""Build the reconciliation of a deployment, for the function and for the command line alike."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property

from stackroom.app.run_builder import RunBuilder
from stackroom.app.upload_builder import UploadBuilder
from stackroom.aws.dynamodb.bookmark import ROUND, DynamoBookmark, DynamoIdParts
from stackroom.model.repositories import InspectionRequests
from stackroom.reconciler.audit_rounds import AuditStage, Reconciliation, Rounds
from stackroom.reconciler.audited import Audited
from stackroom.reconciler.bedrock_requests import DEFAULT_A_SECOND, RequestPace
from stackroom.reconciler.discrepancies import QUIET
from stackroom.reconciler.mending import Mending
from stackroom.runs.inventory import Bookmark


class ReconcilerBuilder(RunBuilder, UploadBuilder):
    @cached_property
    def bookmark(self) -> DynamoBookmark:
        return DynamoBookmark(client=self._dynamodb, table=self._control_table)

    @cached_property
    def rounds(self) -> Rounds:
        kept = DynamoBookmark(client=self._dynamodb, table=self._control_table, name=ROUND)
        return Rounds(kept=kept)

    def reconciliation(
        self,
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
        Return the reconciliation. `a_second` limits the requests for documents of the knowledge
        bases, of which the runs need most.

        Raises ValueError unless it is positive and less than the account's.
        """
        mending = Mending(
            uploads=self.uploads,
            documents=self.documents,
            requests=self.requests,
            inspections=inspections,
            dry_run=dry_run,
            quiet=quiet,
            idle_before=idle_before,
        )
        return Reconciliation.over(
            self._audited(mending),
            bookmark=bookmark,
            rounds=rounds,
            pace=RequestPace(a_second=a_second),
            on_step=on_step,
        )

    def _audited(self, mending: Mending) -> Audited:
        return Audited(
            inventory=self.inventory,
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            leases=self.leases,
            executions=self.executions,
            receipts=self.receipts,
            requests=self.requests,
            caps=self.user_caps,
            keeping=self.text_keeping,
            worklists=self.worklists,
            restart=self.restart,
            mending=mending,
            book=self.admission_book,
            slots=self.slots,
            data_sources=self.data_sources,
            direct=self.direct_documents,
            knowledge_base=self.knowledge_base,
            pool=self.pool,
            ids=DynamoIdParts(client=self._dynamodb, table=self._control_table),
        )
