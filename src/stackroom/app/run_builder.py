"""The tasks of a run, and what follows one that broke."""

from functools import cached_property

from stackroom.app.document_builder import DocumentBuilder
from stackroom.app.function_settings import LimitSettings, SettingMissing
from stackroom.app.pool_builder import PoolBuilder
from stackroom.aws.bedrock.bedrock_data_sources import BedrockDataSources
from stackroom.aws.bedrock.bedrock_ingestion_jobs import BedrockIngestionJobs
from stackroom.aws.bedrock.direct_documents import BedrockDirectDocuments
from stackroom.aws.stepfunctions.executions import StepFunctionsTaskTokens
from stackroom.model.records import PerSourceType
from stackroom.runs.admission import Admission
from stackroom.runs.broken_runs import BrokenRuns, Restart
from stackroom.runs.by_job import ByJobs
from stackroom.runs.direct_calls import DirectCalls
from stackroom.runs.evidence import Investigation
from stackroom.runs.placement import Placements
from stackroom.runs.polling import CallResults, Polling
from stackroom.runs.run_leases import WorklistReader
from stackroom.runs.run_tasks import RunTasks, Takedown
from stackroom.runs.search_check import SearchCheck
from stackroom.runs.user_caps import UserCaps
from stackroom.runs.verdicts import VerdictWriter
from stackroom.runs.work_queue import WorkQueue


class RunBuilder(PoolBuilder, DocumentBuilder):
    @cached_property
    def data_sources(self) -> BedrockDataSources:
        return BedrockDataSources(
            client=self.client("bedrock-agent"),
            bucket=self._bucket_name,
            # Settings of the one function that makes data sources; the others find and remove.
            ingestion=getattr(self.settings, "vector_ingestion", None),
            managed=self._managed,
            bucket_owner=getattr(self.settings, "kb_docs_owner", None),
        )

    @cached_property
    def jobs(self) -> BedrockIngestionJobs:
        return BedrockIngestionJobs(client=self.client("bedrock-agent"), managed=self._managed)

    @cached_property
    def direct_documents(self) -> BedrockDirectDocuments:
        return BedrockDirectDocuments(client=self.client("bedrock-agent"))

    @cached_property
    def task_tokens(self) -> StepFunctionsTaskTokens:
        return StepFunctionsTaskTokens(client=self.client("stepfunctions"))

    @cached_property
    def admission(self) -> Admission:
        if not isinstance(self.settings, LimitSettings):
            raise SettingMissing("admission_jobs", self.settings)
        return Admission(
            book=self.admission_book,
            task_tokens=self.task_tokens,
            pool=[member.knowledge_base_id for member in self.pool],
            limits=self.settings.limits,
            pace=self._pace,
            now=self.now,
            pause=self.pause_among_writers,
            run_parallel=self.run_parallel,
        )

    @cached_property
    def placements(self) -> Placements:
        return Placements(
            catalogs=self.catalogs,
            slots=self.slots,
            data_sources=self.data_sources,
            pool=self.pool,
            shared=self._shared_sources,
        )

    @cached_property
    def run_tasks(self) -> RunTasks:
        return RunTasks(
            worklist_reader=self._worklist_reader,
            documents=self.documents,
            placements=self.placements,
            starting=PerSourceType(s3=self._jobs, custom=self._direct_calls),
            queue=self._queue,
            admission=self.admission,
            caps=self.user_caps,
            takedown=Takedown(
                catalogs=self.register,
                documents=self.documents,
                slots=self.slots,
                data_sources=self.data_sources,
                investigation=self._investigation,
                verdict_writer=self._verdict_writer,
                pool=self.pool,
                now=self.now,
            ),
            runs=self.runs,
            requests=self.requests,
            now=self.now,
        )

    @cached_property
    def user_caps(self) -> UserCaps:
        return UserCaps(
            book=self.caps,
            catalogs=self.register,
            documents=self.documents,
            usage=self.usage,
            watch=self.cap_watch,
            requests=lambda: self.requests,
            now=self.now,
        )

    @cached_property
    def polling(self) -> Polling:
        return Polling(
            worklist_reader=self._worklist_reader,
            pollers=PerSourceType(s3=self._jobs, custom=self._call_results),
            investigation=self._investigation,
            verdict_writer=self._verdict_writer,
            leases=self.leases,
            admission=self.admission,
            run_parallel=self.run_parallel,
            now=self.now,
        )

    @cached_property
    def broken_runs(self) -> BrokenRuns:
        return BrokenRuns(
            admission=self.admission, runs=self.runs, restart=self.restart, requests=self.requests
        )

    @cached_property
    def restart(self) -> Restart:
        return Restart(documents=self.documents, runs=self.runs, now=self.now)

    @cached_property
    def _jobs(self) -> ByJobs:
        return ByJobs(
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            jobs=self.jobs,
            admission=self.admission,
            caps=self.user_caps,
            usage=self.usage,
            now=self.now,
        )

    @cached_property
    def _direct_calls(self) -> DirectCalls:
        return DirectCalls(
            documents=self.documents,
            bucket=self.bucket,
            direct=self.direct_documents,
            usage=self.usage,
            queue=self._queue,
            verdict_writer=self._verdict_writer,
            admission=self.admission,
            sends_texts=not self._parses_files,
            pace=self._pace,
            now=self.now,
            run_parallel=self.run_parallel,
        )

    @cached_property
    def _call_results(self) -> CallResults:
        return CallResults(
            direct=self.direct_documents,
            documents=self.documents,
            catalogs=self.catalogs,
            now=self.now,
            run_parallel=self.run_parallel,
        )

    @cached_property
    def _worklist_reader(self) -> WorklistReader:
        return WorklistReader(catalogs=self.catalogs, pool=self.pool)

    @cached_property
    def _queue(self) -> WorkQueue:
        return WorkQueue(
            worklists=self.worklists,
            catalogs=self.register,
            documents=self.documents,
            caps=self.user_caps,
            now=self.now,
            run_parallel=self.run_parallel,
        )

    @cached_property
    def _investigation(self) -> Investigation:
        return Investigation(
            inspections=self.inspections,
            search_check=SearchCheck(
                knowledge_base=self.knowledge_base,
                at_once=self.documents_at_once,
                run_parallel=self.run_parallel,
            ),
            pace=self._pace,
            now=self.now,
        )

    @cached_property
    def _verdict_writer(self) -> VerdictWriter:
        return VerdictWriter(
            documents=self.documents,
            receipts=self.receipts,
            keeping=self.text_keeping,
            pace=self._pace,
            now=self.now,
        )

    @property
    def _parses_files(self) -> bool:
        """Return True if the sending function's settings choose how Bedrock parses files."""
        chosen = getattr(self.settings, "vector_ingestion", None)
        return chosen is not None and chosen.parsing_configuration is not None
