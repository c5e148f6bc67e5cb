"""
The use cases that the tasks of a run call, and those that follow one that broke.

Over 200 lines: each use case is composed in one place, in a few lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from stackroom.aws.settings import LimitSettings, SettingMissing

if TYPE_CHECKING:
    from stackroom.admission.admission import Admission
    from stackroom.admission.limits import Limits
    from stackroom.aws.deployment import Deployment
    from stackroom.clock import Pace
    from stackroom.ingestion.direct_round import DirectPorts
    from stackroom.ingestion.endings import Endings
    from stackroom.ingestion.own_runs import OwnRuns
    from stackroom.ingestion.run_tasks import RunTasks
    from stackroom.ingestion.shared_runs import SharedRuns
    from stackroom.ingestion.ways import Ways
    from stackroom.runs.leases import Runs
    from stackroom.runs.placing import SharedFirst
    from stackroom.runs.requests import RunRequests
    from stackroom.runs.teardown import Teardown
    from stackroom.settlement.broken_runs import BrokenRuns
    from stackroom.settlement.eviction import Eviction
    from stackroom.settlement.evidence import Investigation
    from stackroom.settlement.settlement import Settlement
    from stackroom.settlement.shared_source import SharedSource
    from stackroom.settlement.succession import Succession
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
            task_tokens=self.deployment.task_tokens,
            pool=[member.knowledge_base_id for member in self.deployment.pool],
            limits=self.limits,
        )

    @cached_property
    def run_tasks(self) -> RunTasks:
        from stackroom.ingestion.by_job import JobRounds
        from stackroom.ingestion.run_tasks import RunTasks
        from stackroom.runs.placement import Placements

        there = self.deployment
        catalogs, slots, sources = there.register, there.slots, there.data_sources
        return RunTasks(
            catalogs=catalogs,
            documents=there.documents,
            placements=Placements(
                catalogs=catalogs,
                slots=slots,
                data_sources=sources,
                pool=there.pool,
                placing=self._placing,
            ),
            admission=self.admission,
            jobs=JobRounds(
                documents=there.documents,
                jobs=there.jobs,
                eviction=self._eviction,
                admission=self.admission,
            ),
            shared_runs=self._shared_runs,
            own_runs=self._own_runs,
            ways=self._ways,
            endings=self._endings,
            teardown=self._teardown,
            runs=self.runs,
            requests=self.requests,
        )

    @cached_property
    def requests(self) -> RunRequests:
        from stackroom.runs.requests import RunRequests

        there = self.deployment
        return RunRequests(
            catalogs=there.catalogs,
            placing=self._placing,
            worklists=there.worklists,
            runs=self.runs,
            pool=there.pool,
        )

    @cached_property
    def _placing(self) -> SharedFirst:
        from stackroom.runs.placing import SharedFirst

        there = self.deployment
        return SharedFirst(catalogs=there.catalogs, slots=there.slots, pool=there.pool)

    @cached_property
    def settlement(self) -> Settlement:
        from stackroom.settlement.own_source import OwnSource
        from stackroom.settlement.settlement import Settlement

        own = OwnSource(
            jobs=self.deployment.jobs,
            bucket=self.deployment.bucket,
            investigation=self._investigation,
            eviction=self._eviction,
        )
        return Settlement(
            catalogs=self.deployment.catalogs,
            documents=self.deployment.documents,
            own_source=own,
            verdict_writer=self._verdict_writer,
            leases=self.deployment.leases,
            admission=self.admission,
        )

    @cached_property
    def broken_runs(self) -> BrokenRuns:
        from stackroom.settlement.broken_runs import BrokenRuns

        return BrokenRuns(
            admission=self.admission,
            runs=self.runs,
            succession=self.succession,
            requests=self.requests,
        )

    @cached_property
    def succession(self) -> Succession:
        from stackroom.settlement.succession import Succession

        return Succession(
            catalogs=self.deployment.catalogs, documents=self.deployment.documents, runs=self.runs
        )

    @cached_property
    def _shared_runs(self) -> SharedRuns:
        from stackroom.ingestion.shared_runs import SharedRuns

        there = self.deployment
        return SharedRuns(
            catalogs=there.register,
            documents=there.documents,
            worklists=there.worklists,
            admission=self.admission,
            runs=self.runs,
            ports=self._direct_ports,
            teardown=self._teardown,
            pool=there.pool,
        )

    @cached_property
    def _own_runs(self) -> OwnRuns:
        from stackroom.ingestion.own_runs import OneCatalog, OwnRuns

        there = self.deployment
        return OwnRuns(
            catalogs=there.register,
            documents=there.documents,
            worklists=OneCatalog(),
            admission=self.admission,
            runs=self.runs,
            ports=self._direct_ports,
            teardown=self._teardown,
            pool=there.pool,
            located=there.located_documents,
        )

    @cached_property
    def _ways(self) -> Ways:
        from stackroom.ingestion.ways import Sooner

        there = self.deployment
        return Sooner(
            documents=there.documents,
            bucket=there.bucket,
            jobs=there.jobs,
            located=there.located_documents,
            admission=self.admission,
            pace=self._pace,
        )

    @cached_property
    def _teardown(self) -> Teardown:
        from stackroom.runs.teardown import Teardown

        there = self.deployment
        return Teardown(
            catalogs=there.register,
            slots=there.slots,
            data_sources=there.data_sources,
            pool=there.pool,
        )

    @cached_property
    def _direct_ports(self) -> DirectPorts:
        from stackroom.ingestion.direct_calls import DirectCalls
        from stackroom.ingestion.direct_round import DirectPorts

        calls = DirectCalls(
            documents=self.deployment.documents,
            bucket=self.deployment.bucket,
            direct=self.deployment.direct_documents,
        )
        return DirectPorts(
            calls=calls,
            admission=self.admission,
            settlement=self._shared_source,
            verdict_writer=self._verdict_writer,
            pace=self._pace,
        )

    @cached_property
    def _endings(self) -> Endings:
        from stackroom.ingestion.endings import Endings

        return Endings(
            catalogs=self.deployment.register,
            admission=self.admission,
        )

    @cached_property
    def _shared_source(self) -> SharedSource:
        from stackroom.settlement.shared_source import SharedSource

        return SharedSource(
            investigation=self._investigation,
        )

    @cached_property
    def _eviction(self) -> Eviction:
        from stackroom.settlement.eviction import Eviction

        return Eviction(located=self.deployment.located_documents, bucket=self.deployment.bucket)

    @cached_property
    def _investigation(self) -> Investigation:
        from stackroom.settlement.evidence import Investigation
        from stackroom.settlement.search_check import SearchCheck

        return Investigation(
            inspections=self.deployment.inspections,
            search_check=SearchCheck(knowledge_base=self.deployment.knowledge_base),
        )

    @cached_property
    def _verdict_writer(self) -> VerdictWriter:
        from stackroom.settlement.verdict_writer import VerdictWriter

        return VerdictWriter(
            documents=self.deployment.documents,
            inspections=self.deployment.inspections,
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
