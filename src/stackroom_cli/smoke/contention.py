"""The step that runs a job and a direct call at once, and reports what Bedrock answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import uuid4

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import THROTTLES
from stackroom.errors import DataSourceLimit, DocumentsRefused, KnowledgeBaseUnavailable
from stackroom.model.records import DataSource, DataSourceType
from stackroom.runs.bedrock_calls import Busy, Job, JobState, Submission
from stackroom.runs.evidence import UNDER_WAY
from stackroom_cli.sites.site_services import SiteUseCases
from stackroom_cli.smoke.scene import (
    TEXT,
    AssumptionVerdict,
    Finding,
    NotApplicable,
    Scene,
    StepOutcome,
)

_QUIET_SECONDS = 90.0  # until nobody else's work stands in the way
_SETTLED_SECONDS = 120.0


def contention(scene: Scene) -> StepOutcome:
    """Run a job over an empty prefix and a direct call for a document that no user owns."""
    site_use_cases, shared = scene.services.use_cases, scene.member.shared_source
    try:
        source = site_use_cases.data_sources.create(
            shared.knowledge_base_id,
            scene.names.source,
            source_type=DataSourceType.S3,
            prefix=f"{scene.owner.user_id}/nothing/",
            token=_token(),
        )
    except DataSourceLimit as error:
        raise NotApplicable("its knowledge base has no room for another data source") from error
    scene.until(
        lambda: site_use_cases.data_sources.is_available(
            source.knowledge_base_id, source.data_source_id
        ),
        "the data source is available",
        seconds=_SETTLED_SECONDS,
    )
    meeting = _Meeting(scene, site_use_cases, source, shared)
    first, second = meeting.job_beside_direct(), meeting.direct_beside_job()
    text = (
        f"a job beside a direct call: {_describe(first)}; a direct call beside a job:"
        f" {_describe(second)}"
    )
    is_managed = scene.member.is_managed
    name = "managed.direct-or-job" if is_managed else "document.during-job"
    if first is None or second is None:
        return StepOutcome(text, (Finding(name, AssumptionVerdict.NOT_SEEN, text),))
    well = (Busy, Job, Mapping) if is_managed else Busy
    holds = isinstance(first, well) and isinstance(second, well)
    return StepOutcome(text, (Finding.of(name, text, holds=holds),))


@dataclass(frozen=True)
class _Meeting:
    """The answer to the second request while the first is at work; None if it proves nothing."""

    scene: Scene
    site_use_cases: SiteUseCases
    source: DataSource
    shared: DataSource

    def job_beside_direct(self) -> object:
        self._taken(self._ingest)
        answer = self._beside(self._start, self._direct_is_at_work)
        if isinstance(answer, Job):
            self._over(lambda: self._job_is_at_work(answer))
        return answer

    def direct_beside_job(self) -> object:
        job = self._taken(self._start)
        assert isinstance(job, Job), "it is not busy"
        return self._beside(self._delete, lambda: self._job_is_at_work(job))

    def _beside(self, ask: Callable[[], object], is_at_work: Callable[[], bool]) -> object:
        try:
            answer = ask()
        except KnowledgeBaseUnavailable:
            answer = None  # it says nothing about the other
        except (ClientError, DocumentsRefused) as error:
            answer = error  # we don't read its text as "later"
        was_at_work = is_at_work()
        self._over(is_at_work)
        if isinstance(answer, Busy):
            # A rate says nothing about the other one.
            return None if answer.why.partition(":")[0] in THROTTLES else answer
        return answer if was_at_work else None

    def _ingest(self) -> object:
        uri = self.site_use_cases.bucket.uri_of(f"{self.scene.catalog.s3_prefix}{TEXT}")
        document = Submission(
            document_id=self.scene.names.source,
            uri=uri,
            attributes={"smoke": self.scene.names.run},
        )
        return self.site_use_cases.direct_documents.ingest(self.shared, [document], token=_token())

    def _delete(self) -> object:
        ids = [self.scene.names.source]
        return self.site_use_cases.direct_documents.delete(self.shared, ids, token=_token())

    def _start(self) -> Job | Busy:
        return self.site_use_cases.jobs.start(self.source, token=_token(), description="smoke")

    def _direct_is_at_work(self) -> bool:
        name = self.scene.names.source
        details = self.site_use_cases.direct_documents.details(self.shared, [name])
        return details[name].status in UNDER_WAY

    def _job_is_at_work(self, job: Job) -> bool:
        now = self.site_use_cases.jobs.get(self.source, job.job_id)
        return now is not None and now.state is JobState.RUNNING

    def _taken(self, ask: Callable[[], object]) -> object:
        def attempt() -> object:
            answer = ask()
            return None if isinstance(answer, Busy) else answer

        return self.scene.until(attempt, "nothing else is at work there", seconds=_QUIET_SECONDS)

    def _over(self, is_at_work: Callable[[], bool]) -> None:
        self.scene.until(
            lambda: not is_at_work(), "what was begun is over", seconds=_SETTLED_SECONDS
        )


def _describe(answer: object) -> str:
    match answer:
        case None:
            return "inconclusive: the first was over, or the rate was exceeded"
        case Busy(why=why):
            return why
        case Exception():
            return f"{answer}, which is not treated as back-pressure"
        case _:
            return "accepted"


def _token() -> str:
    return str(uuid4())
