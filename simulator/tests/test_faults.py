"""Faults: the calls and documents they affect, their errors, and the effects that remain."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from bedrock_kb_simulator import orders
from bedrock_kb_simulator.fault_orders import PATH, ChanceOrder, chance_of
from bedrock_kb_simulator.faults import BY_CHANCE, Chance, Fault, Faults, Kind
from simulator.tests.holding import holds
from simulator.tests.running import simulated
from simulator.tests.world import (
    CUSTOM,
    World,
    at,
    data_source_request,
    eventually,
    inline,
    refused,
)

START = "StartIngestionJob"
INGEST = "IngestKnowledgeBaseDocuments"
FAULTS = Faults()


@pytest.fixture(scope="module")
def _disturbed(s3_endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with simulated(tmp_path_factory.mktemp("disturbed"), s3_endpoint, faults=FAULTS) as world:
        yield world


@pytest.fixture
def world(_disturbed: World) -> World:
    """Return a simulator with injectable faults, and no earlier ones."""
    FAULTS.clear()
    return _disturbed.anew()


@holds("data-source.creating")
def test_late_data_source_is_creating_for_a_while(world: World) -> None:
    FAULTS.ask(Fault(operation="CreateDataSource", kind=Kind.LATE, seconds=100))

    knowledge_base, late = world.pair()
    prompt = world.data_source(knowledge_base)

    def status(data_source: str) -> str:
        found = world.agent.get_data_source(**at(knowledge_base, data_source))
        return str(found["dataSource"]["status"])

    assert [status(late), status(prompt)] == ["CREATING", "AVAILABLE"]
    eventually(lambda: status(late) == "AVAILABLE")


@holds("document.unseen", "retrieve.filtered-lag", "document.slow")
def test_document_can_be_unseen_slow_and_missed_by_searches(world: World) -> None:
    key = _custom(world)
    ask = world.agent.get_knowledge_base_documents
    identifiers = [{"dataSourceType": "CUSTOM", "custom": {"id": each}} for each in ("d", "e")]

    def statuses() -> list[str]:
        details = ask(**key, documentIdentifiers=identifiers)["documentDetails"]
        return [each["status"] for each in details]

    def found() -> set[str]:
        results = world.search(key["knowledgeBaseId"], "Foxes.")
        return {each["content"]["text"] for each in results}

    FAULTS.ask(
        Fault(operation=INGEST, kind=Kind.UNSEEN, where="d", seconds=100),
        Fault(operation=INGEST, kind=Kind.SLOW, where="e"),
        Fault(operation=INGEST, kind=Kind.MISSED, where="d", seconds=400),
    )
    documents = [inline("d", "Foxes.", a="b"), inline("e", "Geese.", a="b")]
    accepted = world.agent.ingest_knowledge_base_documents(**key, documents=documents)
    at_first = statuses()

    assert [each["status"] for each in accepted["documentDetails"]] == ["STARTING", "STARTING"]
    assert at_first[0] == "NOT_FOUND"
    assert at_first[1] in ("STARTING", "IN_PROGRESS")
    eventually(lambda: statuses() == ["INDEXED", "INDEXED"])
    assert found() == {"Geese."}
    eventually(lambda: found() == {"Foxes.", "Geese."})
    kinds = [each.kind for each in FAULTS.injected]
    assert kinds == [Kind.UNSEEN, Kind.SLOW, Kind.MISSED]


@holds("request.conflict", "request.unavailable", "request.internal-error", "rate.vectors-exceeded")
@pytest.mark.parametrize(
    ("operation", "kind", "status", "code", "words"),
    [
        ("ListDataSources", Kind.CONFLICT, 409, "ConflictException", "in progress"),
        ("ListDataSources", Kind.UNAVAILABLE, 503, "ServiceUnavailableException", "unable to"),
        ("ListDataSources", Kind.INTERNAL, 500, "InternalServerException", "internal server error"),
        ("ListVectorBuckets", Kind.THROTTLE, 429, "TooManyRequestsException", "Too many"),
    ],
)
def test_ordered_fault_fails_the_next_call_with_awss_error(
    world: World, operation: str, kind: Kind, *, status: int, code: str, words: str
) -> None:
    calls = {
        "ListDataSources": lambda: world.agent.list_data_sources(knowledgeBaseId="NOSUCHBASE"),
        "ListVectorBuckets": world.s3vectors.list_vector_buckets,
    }
    FAULTS.ask(Fault(operation=operation, kind=kind))

    with pytest.raises(ClientError) as caught:
        calls[operation]()

    answer = caught.value.response
    assert answer["Error"]["Code"] == code
    assert words in answer["Error"]["Message"]
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == status
    assert FAULTS.counts == {(operation, kind): 1}
    assert FAULTS.asked == ()


@holds("job.quota")
@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        (Kind.CONFLICT, "ConflictException", "concurrent ingestion jobs per knowledge base: 1"),
        (Kind.BUSY, "ValidationException", "ongoing KnowledgeBaseDocuments API request"),
        (Kind.QUOTA, "ServiceQuotaExceededException", "per account: 5"),
    ],
)
def test_refused_start_begins_no_job(world: World, kind: Kind, code: str, words: str) -> None:
    knowledge_base, source = world.pair()
    FAULTS.ask(Fault(operation=START, kind=kind, times=2))

    errors = [
        refused(world.agent.start_ingestion_job, **at(knowledge_base, source)) for _ in range(2)
    ]

    assert {error["Code"] for error in errors} == {code}
    assert all(words in error["Message"] for error in errors)
    jobs = world.agent.list_ingestion_jobs(**at(knowledge_base, source))
    assert jobs["ingestionJobSummaries"] == []
    assert world.sync(knowledge_base, source)["status"] == "COMPLETE"


@pytest.mark.parametrize("kind", [Kind.LOST, Kind.DROPPED])
def test_call_with_lost_response_takes_effect(world: World, kind: Kind) -> None:
    knowledge_base = world.knowledge_base()
    request = data_source_request(knowledge_base, world.bucket)
    FAULTS.ask(Fault(operation="CreateDataSource", kind=kind))

    with pytest.raises((ClientError, ConnectionClosedError)):
        world.agent.create_data_source(**request)

    listed = world.agent.list_data_sources(knowledgeBaseId=knowledge_base)
    assert [source["name"] for source in listed["dataSourceSummaries"]] == [request["name"]]


def test_fault_waits_for_the_call_it_targets_and_never_masks_a_refusal(
    world: World,
) -> None:
    fault = Fault(operation="GetKnowledgeBase", kind=Kind.DROPPED)
    first, second = world.knowledge_base(), world.knowledge_base()
    chosen = Fault(operation="ListDataSources", kind=Kind.INTERNAL, where=second, skip=1)
    FAULTS.ask(fault, chosen)

    missing = refused(world.agent.get_knowledge_base, knowledgeBaseId="NOSUCHBASE")
    for each in (first, second, first):
        world.agent.list_data_sources(knowledgeBaseId=each)
    error = refused(world.agent.list_data_sources, knowledgeBaseId=second)

    assert missing["Code"] == "ResourceNotFoundException"
    assert FAULTS.asked == (fault,)
    assert error["Code"] == "InternalServerException"


def test_job_completes_with_failed_documents_and_next_job_fixes_them(
    world: World,
) -> None:
    knowledge_base, source = world.pair()
    for name in ("good", "bad", "hidden"):
        world.put(f"{name}.txt", f"The {name} fox.")
    FAULTS.ask(
        Fault(operation=START, kind=Kind.FAILED, where="bad.txt"),
        Fault(operation=START, kind=Kind.REFUSED, where="hidden.txt"),
    )

    job = world.sync(knowledge_base, source)
    statuses = world.statuses(knowledge_base, source)
    found = eventually(lambda: world.found_keys(knowledge_base, "fox"))
    again = world.sync(knowledge_base, source)

    assert (job["status"], job["statistics"]["numberOfDocumentsFailed"]) == ("COMPLETE", 2)
    assert "bad.txt" in job["failureReasons"][0]
    assert "Filterable metadata" in job["failureReasons"][1]
    assert "hidden.txt" in job["failureReasons"][1]
    assert statuses == {"good.txt": "INDEXED", "bad.txt": "FAILED", "hidden.txt": "INDEXED"}
    assert found == {"good.txt"}
    assert "failureReasons" not in again
    assert set(world.statuses(knowledge_base, source).values()) == {"INDEXED"}
    eventually(lambda: len(world.found_keys(knowledge_base, "fox")) == 3)


def test_seed_makes_faults_reproducible_and_rate_one_fails_every_call() -> None:
    plain, crowded, other = (Faults(chance=Chance.even(seed, 0.1)) for seed in (7, 7, 8))

    first = [plain.next_of_call(START, {}) for _ in range(300)]
    second = []
    for _ in range(300):
        crowded.next_of_call("Retrieve", {})
        second.append(crowded.next_of_call(START, {}))

    assert first == second
    assert first != [other.next_of_call(START, {}) for _ in range(300)]
    assert {fault.kind for fault in first if fault} == set(BY_CHANCE[START])
    assert 200 < sum(fault is not None for fault in first) < 270  # eight kinds at a tenth each
    always = Faults(chance=Chance.even(1, 1.0))
    assert all(always.next_of_call(START, {}) for _ in range(200))
    provisioned = ("CreateKnowledgeBase", "CreateIndex")
    assert [always.next_of_call(operation, {}) for operation in provisioned] == [None, None]
    assert chance_of("7:0.25") == ChanceOrder(seed=7, rate=0.25)
    assert chance_of("7").rate == 0.02
    with pytest.raises(ValueError, match="invalid literal"):
        chance_of("seven")


def test_faults_are_ordered_listed_and_cleared_over_http(world: World) -> None:
    order = {
        "faults": [{"operation": "ListKnowledgeBases", "kind": "internal", "times": 2}],
        "chance": {"seed": 3, "rate": 0.5},
    }

    asked = _http(world, "POST", order)
    chance = FAULTS.chance
    refused(world.agent.list_knowledge_bases)
    met = _http(world, "GET")
    cleared = _http(world, "DELETE")

    assert [fault["times"] for fault in asked["asked"]] == [2]
    assert chance == Chance.even(3, 0.5)
    assert met["counts"] == cleared["counts"] == {"ListKnowledgeBases": {"internal": 1}}
    assert met["total"] == 1
    assert met["injected"] == [
        {"operation": "ListKnowledgeBases", "kind": "internal", "number": 0, "subject": ""}
    ]
    assert not any(_http(world, "GET").values())
    world.agent.list_knowledge_bases()


def _custom(world: World) -> dict[str, str]:
    return at(*world.pair(dataSourceConfiguration=CUSTOM))


def _http(world: World, method: str, order: object = None) -> dict[str, Any]:
    body = b"" if order is None else json.dumps(order).encode()
    answer: dict[str, Any] = json.loads(orders.ask(method, world.endpoint + PATH, body))
    return answer
