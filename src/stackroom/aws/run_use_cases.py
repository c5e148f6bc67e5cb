"""The use cases that the tasks of a run call, and those that follow one that broke."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from stackroom.aws.settings import LimitSettings, SettingMissing

if TYPE_CHECKING:
    from stackroom.admission.admission import Admission
    from stackroom.admission.schedule import Limits
    from stackroom.aws.deployment import Deployment
    from stackroom.clock import Pace
    from stackroom.ingestion.direct import DirectIngestion
    from stackroom.ingestion.ingestion import Ingestion
    from stackroom.runs.leases import Runs
    from stackroom.settlement.broken_runs import BrokenRuns
    from stackroom.settlement.inquiry import Inquiry
    from stackroom.settlement.settlement import Settlement
    from stackroom.settlement.verdict_writer import VerdictWriter


@dataclass(frozen=True, kw_only=True)
class RunUseCases:
    deployment: Deployment

    @cached_property
    def runs(self) -> Runs:
        from stackroom.runs.leases import Runs

        return Runs(leases=self.deployment.leases, executions=self.deployment.executions)

    @cached_property
    def admission(self) -> Admission:
        from stackroom.admission.admission import Admission

        return Admission(
            book=self.deployment.admission_book,
            turns=self.deployment.task_tokens,
            pool=[member.knowledge_base_id for member in self.deployment.pool],
            limits=self.limits,
        )

    @cached_property
    def ingestion(self) -> Ingestion:
        from stackroom.ingestion.ingestion import Ingestion
        from stackroom.runs.placement import Placements
        from stackroom.runs.teardown import Teardown

        there = self.deployment
        catalogs, slots, sources = there.register, there.slots, there.data_sources
        return Ingestion(
            catalogs=catalogs,
            documents=there.documents,
            jobs=there.jobs,
            placements=Placements(
                catalogs=catalogs, slots=slots, data_sources=sources, pool=there.pool
            ),
            admission=self.admission,
            direct=self._direct,
            teardown=Teardown(
                catalogs=catalogs, slots=slots, data_sources=sources, pool=there.pool
            ),
            runs=self.runs,
        )

    @cached_property
    def settlement(self) -> Settlement:
        from stackroom.settlement.settlement import Settlement

        return Settlement(
            catalogs=self.deployment.catalogs,
            documents=self.deployment.documents,
            jobs=self.deployment.jobs,
            direct=self.deployment.direct_documents,
            inquiry=self._inquiry,
            verdict_writer=self._verdict_writer,
            leases=self.deployment.leases,
            admission=self.admission,
        )

    @cached_property
    def broken_runs(self) -> BrokenRuns:
        from stackroom.settlement.broken_runs import BrokenRuns

        return BrokenRuns(
            catalogs=self.deployment.catalogs,
            documents=self.deployment.documents,
            admission=self.admission,
            runs=self.runs,
        )

    @cached_property
    def _direct(self) -> DirectIngestion:
        from stackroom.ingestion.direct import DirectIngestion

        return DirectIngestion(
            documents=self.deployment.documents,
            bucket=self.deployment.bucket,
            direct=self.deployment.direct_documents,
            admission=self.admission,
            inquiry=self._inquiry,
            verdict_writer=self._verdict_writer,
            pace=self._pace,
        )

    @cached_property
    def _inquiry(self) -> Inquiry:
        from stackroom.settlement.inquiry import Inquiry
        from stackroom.settlement.search_check import SearchCheck

        return Inquiry(
            bucket=self.deployment.bucket,
            jobs=self.deployment.jobs,
            findings=self.deployment.inspections,
            search_check=SearchCheck(knowledge_base=self.deployment.knowledge_base),
        )

    @cached_property
    def _verdict_writer(self) -> VerdictWriter:
        from stackroom.settlement.verdict_writer import VerdictWriter

        return VerdictWriter(
            documents=self.deployment.documents,
            findings=self.deployment.inspections,
            receipts=self.deployment.receipts,
        )

    @property
    def limits(self) -> Limits:
        settings = self.deployment.settings
        if not isinstance(settings, LimitSettings):
            raise SettingMissing("admission_jobs", settings)
        return settings.limits

    @property
    def _pace(self) -> Pace:
        from stackroom.aws.simulated_pace import SimulatedPace

        # 1 is AWS itself.
        return SimulatedPace(self.deployment.settings.need("ingest_speed"))
