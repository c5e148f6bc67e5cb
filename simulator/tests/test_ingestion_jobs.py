"""Ingestion jobs: their life cycle, limits, and effects on documents."""

from collections.abc import Callable

from bedrock_kb_simulator.service_errors import Unindexable
from bedrock_kb_simulator.synchronisation import Tally
from simulator.tests.holding import holds
from simulator.tests.world import (
    CUSTOM,
    World,
    at,
    data_source_request,
    eventually,
    invalid,
    refused,
)


@holds("job.starting", "job.shortest")
def test_job_starts_runs_and_completes(world_at: Callable[..., World]) -> None:
    # That it runs must last until it is seen; at this speed a quick look outruns the rate of looks.
    world = world_at(8, patient=True)
    knowledge_base, source = world.pair()
    world.put("a.txt", "Apples are red.")

    job = world.start(knowledge_base, source)

    assert job["status"] == "STARTING"
    eventually(lambda: world.job(job)["status"] == "IN_PROGRESS")
    done = world.finished(job)
    assert done["status"] == "COMPLETE"
    assert done["statistics"]["numberOfNewDocumentsIndexed"] == 1
    assert (done["updatedAt"] - done["startedAt"]).total_seconds() >= 12 / 8


@holds("job.per-account")
def test_account_runs_five_jobs_at_a_time(world_at: Callable[..., World]) -> None:
    world = world_at(30, patient=True)
    pairs = [world.pair() for _ in range(6)]
    for number in range(100):
        world.put(f"{number}.txt", f"Document {number} keeps the jobs busy for a while.")
    for pair in pairs[:5]:
        world.start(*pair)

    error = refused(world.agent.start_ingestion_job, **at(*pairs[5]))

    assert error["Code"] == "ConflictException"
    assert error["Message"].endswith("per account: 5")


@holds("job.incremental")
def test_second_sync_processes_only_changes(world: World) -> None:
    knowledge_base, source = world.pair("shelf/")
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
    knowledge_base, source = world.pair()
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


@holds("job.failed", "job.not-for-custom")
def test_job_of_missing_bucket_fails_and_custom_source_has_none(world: World) -> None:
    knowledge_base = world.knowledge_base()
    request = data_source_request(knowledge_base, "no-such-bucket-here")
    source = world.agent.create_data_source(**request)["dataSource"]["dataSourceId"]
    custom = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)

    invalid(world.agent.start_ingestion_job, **at(knowledge_base, custom))
    job = world.sync(knowledge_base, source)

    assert job["status"] == "FAILED"
    assert job["failureReasons"] == [
        "Encountered error: The data source could not be read. "
        "Call to Customer Source did not succeed."
    ]


@holds("job.not-running")
def test_stopped_job_restores_unprocessed_documents(
    world_at: Callable[[float], World],
) -> None:
    world = world_at(100)
    knowledge_base, source = world.pair()
    for number in range(100):
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
    assert len(statuses) < 100
    assert refused(world.agent.stop_ingestion_job, **key)["Code"] == "ConflictException"


@holds("job.failure-reasons")
def test_job_keeps_2048_failure_reasons() -> None:
    tally = Tally()
    for number in range(2049):
        tally.count_failure(
            f"s3://bucket/{number}.txt", Unindexable(f"cause {number}", at_store=True)
        )

    assert len(tally.failure_reasons()) == 2048
    assert tally.statistics()["numberOfDocumentsFailed"] == 2049
