"""
The calls of AWS's samples, in their order and shape: aws-samples/amazon-bedrock-samples, notebooks
10-s3-vectors/knowledge-base-s3-vector, advanced_chunking_options, re_ranking_using_kb and
02_managed_retreiveandgenerate_and_streamapi.
"""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import boto3
import pytest

from tests.simulator.world import HAIKU, REGION, ROLE, TITAN, World, eventually, refused

Client = Callable[[str], Any]  # boto3's of a service, as it is

QUESTION = "Which bird sleeps by day?"
CHUNKING = {
    "chunkingStrategy": "HIERARCHICAL",
    "hierarchicalChunkingConfiguration": {
        "levelConfigurations": [{"maxTokens": 1500}, {"maxTokens": 300}],
        "overlapTokens": 60,
    },
}
SEARCH = {
    "numberOfResults": 30,
    "rerankingConfiguration": {
        "type": "BEDROCK_RERANKING_MODEL",
        "bedrockRerankingConfiguration": {
            "modelConfiguration": {
                "modelArn": f"arn:aws:bedrock:{REGION}::foundation-model/cohere.rerank-v3-5:0"
            },
            "numberOfRerankedResults": 3,
            "metadataConfiguration": {
                "selectionMode": "SELECTIVE",
                "selectiveModeConfiguration": {"fieldsToInclude": [{"fieldName": "year"}]},
            },
        },
    },
}


@pytest.fixture
def client(world: World) -> Client:
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    return lambda service: boto3.client(service, endpoint_url=world.endpoint)  # type: ignore[call-overload]


def test_a_sample_makes_asks_and_clears_away_a_knowledge_base(world: World, client: Client) -> None:
    store = f"my-s3-vector-store-{uuid4().hex[:8]}"
    s3vectors, agent, runtime = map(client, ("s3vectors", "bedrock-agent", "bedrock-agent-runtime"))
    knowledge_base, source = made(s3vectors, agent, store, world.bucket)
    world.put("owl.txt", "The owl sleeps by day. It hunts at night.", {"year": 2024})
    world.put("wren.txt", "The wren is awake by day, and sings.", {"year": 2025})
    job = world.sync(knowledge_base, source)
    eventually(lambda: len(world.search(knowledge_base, QUESTION)) == 2)

    found = runtime.retrieve(
        knowledgeBaseId=knowledge_base,
        retrievalQuery={"text": QUESTION},
        retrievalConfiguration={"vectorSearchConfiguration": SEARCH},
    )["retrievalResults"]
    stream = runtime.retrieve_and_generate_stream(
        input={"text": QUESTION},
        retrieveAndGenerateConfiguration={
            "type": "KNOWLEDGE_BASE",
            "knowledgeBaseConfiguration": {
                "knowledgeBaseId": knowledge_base,
                "modelArn": HAIKU,
                "retrievalConfiguration": {"vectorSearchConfiguration": SEARCH},
            },
        },
    )["stream"]
    said = "".join(event["output"]["text"] for event in stream if "output" in event)
    agent.delete_knowledge_base(knowledgeBaseId=knowledge_base)
    s3vectors.delete_vector_bucket_policy(vectorBucketName=store)
    [index] = s3vectors.list_indexes(vectorBucketName=store)["indexes"]
    s3vectors.delete_index(vectorBucketName=store, indexName=index["indexName"])
    s3vectors.delete_vector_bucket(vectorBucketName=store)

    assert (job["status"], job["statistics"]["numberOfNewDocumentsIndexed"]) == ("COMPLETE", 2)
    assert found[0]["content"]["text"].startswith("The owl sleeps by day.")
    assert [each["score"] for each in found] == sorted((e["score"] for e in found), reverse=True)
    assert "The owl sleeps by day." in said
    gone = refused(agent.get_knowledge_base, knowledgeBaseId=knowledge_base)
    assert gone["Code"] == "ResourceNotFoundException"


def made(s3vectors: Any, agent: Any, store: str, bucket: str) -> tuple[str, str]:
    """As the notebook on S3 Vectors makes them, whose index has one non-filterable key."""
    s3vectors.create_vector_bucket(vectorBucketName=store)
    s3vectors.create_index(
        vectorBucketName=store,
        indexName="my-s3-vector-index",
        dimension=1024,
        distanceMetric="cosine",
        dataType="float32",
        metadataConfiguration={"nonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT"]},
    )
    arn = s3vectors.list_indexes(vectorBucketName=store)["indexes"][0]["indexArn"]
    numbers = {"dimensions": 1024, "embeddingDataType": "FLOAT32"}
    created = agent.create_knowledge_base(
        name=f"kb-s3-vectors-{uuid4().hex[:8]}",
        description="A knowledge base with an S3 vector store",
        roleArn=ROLE,
        knowledgeBaseConfiguration={
            "type": "VECTOR",
            "vectorKnowledgeBaseConfiguration": {
                "embeddingModelArn": TITAN,
                "embeddingModelConfiguration": {"bedrockEmbeddingModelConfiguration": numbers},
            },
        },
        storageConfiguration={"type": "S3_VECTORS", "s3VectorsConfiguration": {"indexArn": arn}},
    )["knowledgeBase"]
    source = agent.create_data_source(
        knowledgeBaseId=created["knowledgeBaseId"],
        name="AmazonS3DataSource",
        description="Amazon S3 Data Source",
        dataDeletionPolicy="DELETE",
        dataSourceConfiguration={
            "type": "S3",
            "s3Configuration": {"bucketArn": f"arn:aws:s3:::{bucket}"},
        },
        vectorIngestionConfiguration={"chunkingConfiguration": CHUNKING},
    )["dataSource"]
    return created["knowledgeBaseId"], source["dataSourceId"]
