"""
The use cases that the tasks of a run call, and those that follow one that broke.

Each use case is composed in one place, in a few lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from stackroom.app.function_settings import LimitSettings, SettingMissing
from stackroom.clock import Pace, utc_now
from stackroom.concurrency import Beside, among_writers, in_threads
from stackroom.model.records import PerSourceType

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from stackroom.app.adapters import Deployment
    from stackroom.model.caps import CapWatch
    from stackroom.runs.admission import Admission, Limits
    from stackroom.runs.broken_runs import BrokenRuns, Restart
    from stackroom.runs.by_job import ByJobs
    from stackroom.runs.call_results import CallResults
    from stackroom.runs.direct_calls import DirectCalls
    from stackroom.runs.evidence import Investigation
    from stackroom.runs.placement import Placements, SharedSources
    from stackroom.runs.polling import Polling
    from stackroom.runs.run_leases import RunLeases
    from stackroom.runs.run_requests import RunRequests
    from stackroom.runs.run_tasks import RunTasks
    from stackroom.runs.user_caps import UserCaps
    from stackroom.runs.verdicts import VerdictWriter
    from stackroom.runs.work_queue import WorkQueue
    from stackroom.text.kept_texts import TextKeeping


@dataclass(frozen=True, kw_only=True)
class RunUseCases:
    """`now` and `beside` are the clock and the threads of whoever has others than these."""

    deployment: Deployment
    now: Callable[[], datetime] = utc_now
    beside: Beside = in_threads
    pause_among_writers: Callable[[int], None] = among_writers

    @cached_property
    def runs(self) -> RunLeases:
        from stackroom.runs.run_leases import RunLeases

        return RunLeases(
            leases=self.deployment.leases, executions=self.deployment.executions, now=self.now
        )

    @cached_property
    def admission(self) -> Admission:
        from stackroom.runs.admission import Admission

        return Admission(
            book=self.deployment.admission_book,
            task_tokens=self.deployment.task_tokens,
            pool=[member.knowledge_base_id for member in self.deployment.pool],
            limits=self.limits,
            pace=self._pace,
            now=self.now,
            pause=self.pause_among_writers,
            beside=self.beside,
        )

    @cached_property
    def requests(self) -> RunRequests:
        from stackroom.runs.run_requests import RunRequests

        there = self.deployment
        return RunRequests(
            catalogs=there.catalogs,
            shared=self._shared_sources,
            worklists=there.worklists,
            runs=self.runs,
            pool=there.pool,
        )

    @cached_property
    def placements(self) -> Placements:
        from stackroom.runs.placement import Placements

        there = self.deployment
        return Placements(
            catalogs=there.catalogs,
            slots=there.slots,
            data_sources=there.data_sources,
            pool=there.pool,
            shared=self._shared_sources,
        )

    @cached_property
    def run_tasks(self) -> RunTasks:
        from stackroom.runs.run_tasks import RunTasks, Takedown

        there = self.deployment
        return RunTasks(
            catalogs=there.catalogs,
            documents=there.documents,
            pool=there.pool,
            placements=self.placements,
            starting=PerSourceType(s3=self._jobs, custom=self._direct_calls),
            queue=self._queue,
            admission=self.admission,
            caps=self.user_caps,
            takedown=Takedown(
                catalogs=there.register,
                documents=there.documents,
                slots=there.slots,
                data_sources=there.data_sources,
                investigation=self._investigation,
                verdict_writer=self._verdict_writer,
                pool=there.pool,
                now=self.now,
            ),
            runs=self.runs,
            requests=self.requests,
            now=self.now,
        )

    @cached_property
    def user_caps(self) -> UserCaps:
        from stackroom.runs.user_caps import UserCaps

        there = self.deployment
        return UserCaps(
            book=there.caps,
            catalogs=there.register,
            documents=there.documents,
            usage=there.usage,
            watch=self.cap_watch,
            requests=lambda: self.requests,
            now=self.now,
        )

    @cached_property
    def cap_watch(self) -> CapWatch:
        from stackroom.model.caps import CapWatch

        return CapWatch(book=self.deployment.caps)

    @cached_property
    def polling(self) -> Polling:
        from stackroom.runs.polling import Polling

        there = self.deployment
        return Polling(
            catalogs=there.catalogs,
            pool=there.pool,
            looking=PerSourceType(s3=self._jobs, custom=self._call_results),
            investigation=self._investigation,
            verdict_writer=self._verdict_writer,
            leases=there.leases,
            admission=self.admission,
            beside=self.beside,
            now=self.now,
        )

    @cached_property
    def broken_runs(self) -> BrokenRuns:
        from stackroom.runs.broken_runs import BrokenRuns

        return BrokenRuns(
            admission=self.admission,
            runs=self.runs,
            restart=self.restart,
            requests=self.requests,
        )

    @cached_property
    def restart(self) -> Restart:
        from stackroom.runs.broken_runs import Restart

        return Restart(
            documents=self.deployment.documents,
            runs=self.runs,
            now=self.now,
        )

    @cached_property
    def _shared_sources(self) -> SharedSources:
        from stackroom.runs.placement import SharedSources

        there = self.deployment
        return SharedSources(catalogs=there.catalogs, slots=there.slots, pool=there.pool)

    @cached_property
    def _jobs(self) -> ByJobs:
        from stackroom.runs.by_job import ByJobs

        there = self.deployment
        return ByJobs(
            catalogs=there.catalogs,
            documents=there.documents,
            bucket=there.bucket,
            jobs=there.jobs,
            admission=self.admission,
            caps=self.user_caps,
            usage=there.usage,
            now=self.now,
        )

    @cached_property
    def _direct_calls(self) -> DirectCalls:
        from stackroom.runs.direct_calls import DirectCalls

        there = self.deployment
        return DirectCalls(
            documents=there.documents,
            bucket=there.bucket,
            direct=there.direct_documents,
            usage=there.usage,
            queue=self._queue,
            verdict_writer=self._verdict_writer,
            admission=self.admission,
            sends_texts=not self._parses_files,
            pace=self._pace,
            now=self.now,
            beside=self.beside,
        )

    @cached_property
    def _call_results(self) -> CallResults:
        from stackroom.runs.call_results import CallResults

        there = self.deployment
        return CallResults(
            direct=there.direct_documents,
            documents=there.documents,
            catalogs=there.catalogs,
            now=self.now,
            beside=self.beside,
        )

    @cached_property
    def _queue(self) -> WorkQueue:
        from stackroom.runs.work_queue import WorkQueue

        there = self.deployment
        return WorkQueue(
            worklists=there.worklists,
            catalogs=there.register,
            documents=there.documents,
            caps=self.user_caps,
            now=self.now,
            beside=self.beside,
        )

    @cached_property
    def _investigation(self) -> Investigation:
        from stackroom.runs.evidence import Investigation
        from stackroom.runs.search_check import SearchCheck

        there = self.deployment
        return Investigation(
            inspections=there.inspections,
            search_check=SearchCheck(
                knowledge_base=there.knowledge_base,
                at_once=there.documents_at_once,
                beside=self.beside,
            ),
            pace=self._pace,
            now=self.now,
        )

    @cached_property
    def _verdict_writer(self) -> VerdictWriter:
        from stackroom.runs.verdicts import VerdictWriter

        return VerdictWriter(
            documents=self.deployment.documents,
            receipts=self.deployment.receipts,
            keeping=self.text_keeping,
            pace=self._pace,
            now=self.now,
        )

    @cached_property
    def text_keeping(self) -> TextKeeping:
        from stackroom.text.kept_texts import TextKeeping

        there = self.deployment
        return TextKeeping(texts=there.texts, documents=there.documents, bucket=there.bucket)

    @property
    def _parses_files(self) -> bool:
        """Whether somebody chose how Bedrock reads files; of the one function that sends them."""
        chosen = getattr(self.deployment.settings, "vector_ingestion", None)
        return chosen is not None and chosen.parsing_configuration is not None

    @property
    def limits(self) -> Limits:
        settings = self.deployment.settings
        if not isinstance(settings, LimitSettings):
            raise SettingMissing("admission_jobs", settings)
        return settings.limits

    @property
    def _pace(self) -> Pace:
        return Pace(self.deployment.settings.need("ingest_speed"))
