"""Every `IngestionJobs` and `DirectDocuments` keeps the other off while it works."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import count

import pytest

from simulator.tests.world import eventually
from stackroom.model.records import DataSource
from stackroom.runs.bedrock_calls import Busy, DocumentDetail, JobState, Submission
from tests.contract.ports.homes import Home, as_simulated, in_memory

NEVER = datetime.min.replace(tzinfo=UTC)
UNKNOWN = DocumentDetail(status="NOT_FOUND", updated_at=None)
UNDER_WAY = {"STARTING", "PENDING", "IN_PROGRESS", "DELETING", "DELETE_IN_PROGRESS"}


@pytest.fixture(params=["fake", pytest.param("bedrock", marks=pytest.mark.processes)])
def home(request: pytest.FixtureRequest) -> Home:
    if request.param == "fake":
        return in_memory()
    return as_simulated(request.getfixturevalue("simulated"), is_managed=False)


def submission(home: Home, number: int = 1) -> Submission:
    return Submission(
        document_id=f"doc-{number}",
        uri=home.put(f"{number}.txt"),
        attributes={"user_id": "alice", "filename": "Résumé.txt", "domain": ["a", "b"]},
    )


def ingest(home: Home, *submissions: Submission, name: str = "one") -> dict[str, DocumentDetail]:
    token = home.token(name)
    return home.once(lambda: home.direct.ingest(home.custom, submissions, token=token))


def delete(home: Home, *document_ids: str) -> dict[str, DocumentDetail]:
    token = home.token("delete")
    return home.once(lambda: home.direct.delete(home.custom, document_ids, token=token))


def read(home: Home, *document_ids: str) -> dict[str, DocumentDetail]:
    return home.once(lambda: home.direct.details(home.custom, document_ids))


def settled(home: Home, *document_ids: str) -> dict[str, DocumentDetail]:
    """The verdicts once they are final."""

    def over() -> dict[str, DocumentDetail] | None:
        verdicts = home.direct.details(home.custom, document_ids)
        return None if UNDER_WAY & set(statuses(verdicts).values()) else verdicts

    return home.once(over)


def statuses(verdicts: Mapping[str, DocumentDetail]) -> dict[str, str]:
    return {name: each.status for name, each in verdicts.items()}


def refusal(home: Home, source: DataSource) -> Busy | None:
    """Why one more job can't start, apart from the rate of starts."""
    answer = home.jobs.start(source, token=home.token("run-2"), description="run-2")
    assert isinstance(answer, Busy)
    return None if answer.why.startswith("Throttling") else answer


def test_running_job_is_found_by_id_token_and_description(home: Home) -> None:
    job = home.start("cat-1 run 1 round 0")
    found = home.jobs.get(home.crawled, job.job_id)

    again = home.start("cat-1 run 1 round 0")
    described = home.jobs.running(home.crawled, description="cat-1 run 1 round 0")

    assert job.state is JobState.RUNNING
    assert found is not None
    assert (found.job_id, found.started_at) == (job.job_id, job.started_at)
    assert again.job_id == job.job_id
    assert described is not None
    assert described.job_id == job.job_id
    assert home.jobs.get(home.crawled, "JOB0000000") is None
    assert home.jobs.running(home.crawled, description="cat-1 run 1 round 1") is None
    assert home.jobs.running(home.beside, description="cat-1 run 1 round 0") is None


def test_knowledge_base_is_busy_while_any_of_its_data_sources_has_a_job(home: Home) -> None:
    for number in range(60):  # enough to be at work when the rate allows another start
        home.put(f"{number}.txt")
    job = home.start()

    first, second = (
        eventually(partial(refusal, home, each)) for each in (home.crawled, home.beside)
    )

    assert first.why.startswith("ConflictException")
    assert second.why.startswith("ConflictException")
    assert home.end(job).state is JobState.COMPLETE
    assert home.start("run-3").job_id != job.job_id


@pytest.mark.parametrize("others", [0, 60])  # few are asked for one by one, many are listed
def test_finished_job_reports_each_document_and_can_be_stopped(home: Home, others: int) -> None:
    uri = home.put("report.txt")
    job = home.start()
    home.end(job)
    unknown = [uri.replace("report", f"unknown-{number}") for number in range(others + 1)]

    home.jobs.stop(home.crawled, job.job_id)
    verdicts = home.jobs.details(home.crawled, [uri, *unknown])

    assert home.end(job).state is JobState.COMPLETE
    assert verdicts[uri].status == "INDEXED"
    assert (verdicts[uri].updated_at or NEVER) >= job.started_at
    assert {verdicts.get(each, UNKNOWN) for each in unknown} == {UNKNOWN}
    assert home.jobs.details(home.crawled, []) == {}


def test_direct_documents_are_indexed_again_when_resent_and_deleted_alone(
    home: Home,
) -> None:
    both = submission(home, 1), submission(home, 2)

    answers = [ingest(home, *both)]
    first = settled(home, "doc-1", "doc-2")
    answers.append(ingest(home, *both, name="two"))
    second = settled(home, "doc-1", "doc-2")

    # One whose answer got lost is answered again, and done once.
    assert ingest(home, *both, name="two") == second == read(home, "doc-1", "doc-2")
    deleted = delete(home, "doc-1")
    assert deleted["doc-1"].status in UNDER_WAY
    left = statuses(settled(home, "doc-1", "doc-2"))
    assert left == {"doc-1": "NOT_FOUND", "doc-2": "INDEXED"}
    for answer in answers:
        assert answer.keys() == {"doc-1", "doc-2"}
        assert set(statuses(answer).values()) <= UNDER_WAY
    assert statuses(first) == statuses(second) == {"doc-1": "INDEXED", "doc-2": "INDEXED"}
    for name in first:
        moments = [each[name].updated_at or NEVER for each in (answers[0], first, second)]
        assert moments[0] <= moments[1] < moments[2]


def test_a_document_that_it_does_not_know_is_not_found_and_may_be_deleted(home: Home) -> None:
    ingest(home, submission(home))
    unknown = [f"doc-unknown-{number}" for number in range(11)]

    verdicts = read(home, "doc-1", *unknown)
    deleted = delete(home, "doc-9")

    assert {verdicts[each].status for each in unknown} == {"NOT_FOUND"}
    assert verdicts["doc-1"].status != "NOT_FOUND"
    assert deleted["doc-9"].status == "NOT_FOUND"
    assert home.direct.details(home.custom, []) == {}


def test_no_direct_call_is_taken_while_a_job_runs(home: Home) -> None:
    for number in range(60):  # enough to be at work for a while
        home.put(f"{number}.txt")
    first = submission(home)

    home.start()
    answer = home.direct.ingest(home.custom, [first], token=home.token("one"))

    assert isinstance(answer, Busy)
    assert "running ingestion job" in answer.why
    assert ingest(home, first)["doc-1"].status in UNDER_WAY


def test_no_job_is_taken_while_a_direct_call_is_at_work(home: Home) -> None:
    names = map(str, count())

    def refused() -> Busy | None:
        name = next(names)
        ingest(home, submission(home), name=name)
        token = home.token(f"job {name}")
        answer = home.jobs.start(home.crawled, token=token, description=name)
        # else the rate of starts, which all tests share, refused it; or the call was over already
        return answer if isinstance(answer, Busy) and "ongoing" in answer.why else None

    answer: Busy = eventually(refused)

    assert "KnowledgeBaseDocuments" in answer.why
