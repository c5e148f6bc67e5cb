"""Assumptions about Bedrock's speed, which a benchmark may change, in simulated time."""

import pytest

from bedrock_kb_simulator.assumptions import Assumptions
from simulated_time.account import Account
from simulated_time.bedrock import Durations
from simulated_time.hub import Hub
from simulated_time.stores import Bucket
from simulator.tests.holding import holds

TEN_SECONDS = Durations(base=10.0, rate=1e12, spread=0.0)


def an_account(documents: int, assumptions: Assumptions) -> Account:
    hub = Hub()
    bucket = Bucket(hub.now)
    for number in range(documents):
        bucket.put(f"user/shelf/{number}.pdf", size=1, etag=f"{number}")
    return Account(shelves=bucket, durations=TEN_SECONDS, seed=1, hub=hub, assumptions=assumptions)


@holds("job.at-a-time", "document.duration")
@pytest.mark.parametrize(
    ("assumptions", "of_a_job", "of_a_call"),
    [
        (Assumptions(), 4 + 200, 4 + 20),
        (Assumptions(job_documents=8, direct_seconds=60), 4 + 30, 60 + 20),
        (Assumptions(direct_pdf_seconds=240), 4 + 200, 240 + 20),
    ],
)
def test_job_concurrency_and_call_duration_follow_the_assumptions(
    assumptions: Assumptions, of_a_job: float, of_a_call: float
) -> None:
    account = an_account(20, assumptions)
    agent = account.client("bedrock-agent", unpaced=True)
    source = whole_bucket(account)

    agent.start_ingestion_job(**source)
    began = account.hub.time
    account.hub.run()
    job_ended = account.hub.time
    knowledge_base_id, data_source_id = account.knowledge_base()
    account.hub.run(until=job_ended + 10)
    agent.ingest_knowledge_base_documents(
        knowledgeBaseId=knowledge_base_id,
        dataSourceId=data_source_id,
        documents=[a_document(f"user/shelf/{number}.pdf") for number in range(2)],
    )
    account.hub.run()

    assert job_ended - began == pytest.approx(of_a_job, abs=0.01)
    assert account.hub.time - job_ended - 10 == pytest.approx(of_a_call, abs=0.01)
    [job] = agent.list_ingestion_jobs(**source)["ingestionJobSummaries"]
    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 20


def a_document(key: str) -> dict[str, object]:
    location = {"uri": f"s3://docs/{key}"}
    custom = {
        "customDocumentIdentifier": {"id": key},
        "s3Location": location,
        "sourceType": "S3_LOCATION",
    }
    return {"content": {"dataSourceType": "CUSTOM", "custom": custom}}


def whole_bucket(account: Account) -> dict[str, str]:
    """Return the ids of a new knowledge base and its S3 data source over the whole bucket."""
    knowledge_base_id, _ = account.knowledge_base()
    account.hub.run(until=account.hub.time + 5)
    made = account.client("bedrock-agent", unpaced=True).create_data_source(
        knowledgeBaseId=knowledge_base_id,
        name="everything",
        dataSourceConfiguration={
            "type": "S3",
            "s3Configuration": {"bucketArn": "arn:aws:s3:::docs"},
        },
    )
    return {
        "knowledgeBaseId": knowledge_base_id,
        "dataSourceId": made["dataSource"]["dataSourceId"],
    }
