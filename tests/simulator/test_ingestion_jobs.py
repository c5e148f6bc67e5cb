"""Ingestion jobs: their life, their limits, and what they do to the documents."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from stackroom_local.simulator.errors import Unindexable
from stackroom_local.simulator.tally import Tally
from tests.simulator.holding import holds
from tests.simulator.world import World, data_source_request, eventually, refused

BUSY = "You have reached the maximum number of concurrent ingestion jobs per knowledge base: 1"


@holds("job.starting", "job.shortest")
def test_a_job_starts_runs_and_completes(world_at: Callable[..., World]) -> None:
    # That it runs must last until it is seen; at this speed a quick look outruns the rate of looks.
    world = world_at(4, patient=True)
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    world.put("a.txt", "Apples are red.")

    job = world.start(knowledge_base, source)

    assert job["status"] == "STARTING"
    eventually(lambda: world.job(job)["status"] == "IN_PROGRESS")
    done = world.finished(job)
    assert done["status"] == "COMPLETE"
    assert done["statistics"]["numberOfNewDocumentsIndexed"] == 1
    assert (done["updatedAt"] - done["startedAt"]).total_seconds() >= 12 / 4


@holds("job.per-knowledge-base")
def test_a_knowledge_base_runs_one_job_whichever_data_source_it_is_for(
    world_at: Callable[..., World],
) -> None:
    # The job must outlast the ten seconds between two starts, by two, which last a second here.
    world = world_at(2, patient=True)
    knowledge_base = world.knowledge_base()
    first, second = world.data_source(knowledge_base), world.data_source(knowledge_base)
    job = world.start(knowledge_base, first)

    def conflict() -> dict[str, str] | None:
        error = refused(
            world.agent.start_ingestion_job, knowledgeBaseId=knowledge_base, dataSourceId=second
        )
        return None if error["Code"] == "ThrottlingException" else error

    error = eventually(conflict)

    assert error == {"Code": "ConflictException", "Message": BUSY}
    world.finished(job)
    assert world.sync(knowledge_base, second)["status"] == "COMPLETE"


@holds("job.per-account")
def test_an_account_runs_five_jobs(world_at: Callable[..., World]) -> None:
    world = world_at(30, patient=True)
    pairs = [(base := world.knowledge_base(), world.data_source(base)) for _ in range(6)]
    for number in range(200):
        world.put(f"{number}.txt", f"Document {number} keeps the jobs busy for a while.")
    for knowledge_base, source in pairs[:5]:
        world.start(knowledge_base, source)

    knowledge_base, source = pairs[5]

    def refusal() -> dict[str, str] | None:
        error = refused(
            world.agent.start_ingestion_job, knowledgeBaseId=knowledge_base, dataSourceId=source
        )
        return None if error["Code"] == "ThrottlingException" else error

    error = eventually(refusal)
    assert error["Code"] == "ConflictException"
    assert error["Message"].endswith("per account: 5")


@holds("request.client-token")
def test_a_repeated_client_token_answers_the_running_job(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    request = {
        "knowledgeBaseId": knowledge_base,
        "dataSourceId": source,
        "clientToken": uuid4().hex + "-again",
    }
    first = eventually(lambda: _started(world, request))

    second = eventually(lambda: _started(world, request))

    assert second["ingestionJobId"] == first["ingestionJobId"]
    world.finished(first)


@holds("job.incremental")
def test_a_second_sync_does_only_what_changed(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, "shelf/")
    world.put("shelf/same.txt", "The cat sleeps all day.", {"kind": "animal"})
    world.put("shelf/changed.txt", "Old: trains leave at noon.")
    world.put("shelf/described.txt", "Bread is baked at dawn.", {"kind": "food"})
    world.put("shelf/vanished.txt", "Whales sing under water.")
    world.put("elsewhere/other.txt", "Not under the prefix.")
    world.sync(knowledge_base, source)
    world.put("shelf/changed.txt", "New: trains leave at midnight.")
    world.put("shelf/described.txt", "Bread is baked at dawn.", {"kind": "breakfast"})
    world.drop("shelf/vanished.txt")

    statistics = world.sync(knowledge_base, source)["statistics"]

    assert statistics == {
        "numberOfDocumentsScanned": 3,
        "numberOfMetadataDocumentsScanned": 2,
        "numberOfNewDocumentsIndexed": 0,
        "numberOfModifiedDocumentsIndexed": 1,
        "numberOfMetadataDocumentsModified": 1,
        "numberOfDocumentsDeleted": 1,
        "numberOfDocumentsFailed": 0,
        "numberOfDocumentsSkipped": 1,
    }

    def texts() -> list[str]:
        return sorted(hit["content"]["text"] for hit in world.search(knowledge_base, "trains"))

    new = ["Bread is baked at dawn.", "New: trains leave at midnight.", "The cat sleeps all day."]
    eventually(lambda: texts() == new)
    breakfast = {"equals": {"key": "kind", "value": "breakfast"}}
    eventually(
        lambda: world.found_keys(knowledge_base, "bread", breakfast) == {"shelf/described.txt"}
    )


def test_replaced_passages_are_never_found_together_nor_both_missing(
    world_at: Callable[[float], World],
) -> None:
    world = world_at(20)
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    world.put("a.txt", "Version one.")
    world.sync(knowledge_base, source)
    eventually(lambda: world.search(knowledge_base, "version"))
    world.put("a.txt", "Version two.")
    job = world.start(knowledge_base, source)

    seen = [["Version one."]]
    while seen[-1] != ["Version two."]:
        seen.append([hit["content"]["text"] for hit in world.search(knowledge_base, "version")])

    assert {len(texts) for texts in seen} == {1}
    world.finished(job)


@holds("job.failure-reasons", "file.unreadable")
def test_a_bad_document_fails_alone_and_with_no_useful_reason(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    world.put("good.txt", "Owls hunt at night.")
    uri = world.put("broken.pdf", b"%PDF-1.7 and then nothing")

    job = world.sync(knowledge_base, source)

    assert job["status"] == "COMPLETE"
    assert job["statistics"]["numberOfDocumentsFailed"] == 1
    assert world.statuses(knowledge_base, source) == {"good.txt": "INDEXED", "broken.pdf": "FAILED"}
    assert job["failureReasons"] == [
        f"Encountered error: Issue occurred while processing file. [Files: {uri}]. "
        "Call to Customer Source did not succeed."
    ]
    summaries = world.agent.list_ingestion_jobs(knowledgeBaseId=knowledge_base, dataSourceId=source)
    assert "failureReasons" not in summaries["ingestionJobSummaries"][0]


@holds("job.incremental")
def test_a_failed_document_is_tried_again(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    world.put("empty.txt", b"")
    world.sync(knowledge_base, source)

    again = world.sync(knowledge_base, source)

    assert again["statistics"]["numberOfDocumentsFailed"] == 1
    assert again["statistics"]["numberOfDocumentsSkipped"] == 0


@holds("job.failed")
def test_a_job_over_a_missing_bucket_fails(world: World) -> None:
    knowledge_base = world.knowledge_base()
    request = data_source_request(knowledge_base, "no-such-bucket-here")
    source = world.agent.create_data_source(**request)["dataSource"]["dataSourceId"]

    job = world.sync(knowledge_base, source)

    assert job["status"] == "FAILED"
    assert job["failureReasons"] == [
        "Encountered error: The data source could not be read. "
        "Call to Customer Source did not succeed."
    ]


@holds("job.not-running")
def test_a_stopped_job_leaves_untouched_documents_as_they_were(
    world_at: Callable[[float], World],
) -> None:
    world = world_at(100)
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    for number in range(300):
        world.put(f"{number:03}.txt", f"Document {number} is one of very many.")
    job = world.start(knowledge_base, source)
    eventually(lambda: world.job(job)["statistics"]["numberOfNewDocumentsIndexed"] > 0)
    key = {member: job[member] for member in ("knowledgeBaseId", "dataSourceId", "ingestionJobId")}

    stopping = world.agent.stop_ingestion_job(**key)["ingestionJob"]
    stopped = world.finished(job)

    assert stopping["status"] == "STOPPING"
    assert stopped["status"] == "STOPPED"
    statuses = world.statuses(knowledge_base, source)
    assert set(statuses.values()) == {"INDEXED"}
    assert len(statuses) < 300
    assert refused(world.agent.stop_ingestion_job, **key)["Code"] == "ConflictException"


@holds("job.not-for-custom")
def test_a_custom_data_source_is_never_synced(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, dataSourceConfiguration={"type": "CUSTOM"})

    error = eventually(
        lambda: (
            (
                found := refused(
                    world.agent.start_ingestion_job,
                    knowledgeBaseId=knowledge_base,
                    dataSourceId=source,
                )
            )["Code"]
            != "ThrottlingException"
            and found
        )
    )

    assert error["Code"] == "ValidationException"


@holds("job.incremental")
def test_a_csv_is_read_again_when_its_sidecar_changes(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    world.put("table.csv", "city,mayor\nBremen,Bovenschulte\n", {"kind": "cities"})
    world.put("plain.txt", "Bremen has a harbour.", {"kind": "cities"})
    world.sync(knowledge_base, source)
    world.put("table.csv", "city,mayor\nBremen,Bovenschulte\n", {"kind": "towns"})
    world.put("plain.txt", "Bremen has a harbour.", {"kind": "towns"})

    statistics = world.sync(knowledge_base, source)["statistics"]

    assert statistics["numberOfModifiedDocumentsIndexed"] == 1
    assert statistics["numberOfMetadataDocumentsModified"] == 2


@holds("job.failure-reasons")
def test_a_job_keeps_2048_failure_reasons() -> None:
    tally = Tally()
    for number in range(2049):
        tally.count_failure(
            f"s3://bucket/{number}.txt", Unindexable(f"cause {number}", at_store=True)
        )

    assert len(tally.failure_reasons()) == 2048
    assert tally.statistics()["numberOfDocumentsFailed"] == 2049


@holds("model.job-filter")
def test_jobs_are_listed_newest_first_or_as_asked_for(world_at: Callable[..., World]) -> None:
    world = world_at(10, patient=True)  # the job must last until it is stopped
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    first = world.sync(knowledge_base, source)["ingestionJobId"]
    job = world.start(knowledge_base, source)
    second = job["ingestionJobId"]
    world.agent.stop_ingestion_job(**key, ingestionJobId=second)
    world.finished(job)

    def listed(**more: Any) -> list[str]:
        summaries = world.agent.list_ingestion_jobs(**key, **more)["ingestionJobSummaries"]
        return [summary["ingestionJobId"] for summary in summaries]

    complete = [{"attribute": "STATUS", "operator": "EQ", "values": ["COMPLETE"]}]
    assert listed() == [second, first]
    assert listed(sortBy={"attribute": "STARTED_AT", "order": "ASCENDING"}) == [first, second]
    assert listed(sortBy={"attribute": "STATUS", "order": "ASCENDING"}) == [first, second]
    assert listed(filters=complete) == [first]
    assert listed(maxResults=1) == [second]


def _started(world: World, request: dict[str, str]) -> dict[str, str] | None:
    try:
        job: dict[str, str] = world.agent.start_ingestion_job(**request)["ingestionJob"]
    except world.agent.exceptions.ThrottlingException:
        return None
    return job


def test_a_job_that_only_deletes_says_how_much(world: World) -> None:
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base)
    world.put("a.txt", "Apples are red.")
    world.sync(knowledge_base, source)
    world.drop("a.txt")

    job = world.sync(knowledge_base, source)

    assert job["statistics"]["numberOfDocumentsDeleted"] == 1
