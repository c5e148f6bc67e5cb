"""
The calls of AWS's samples, in their order and shape: aws-samples/amazon-bedrock-samples, notebooks
10-s3-vectors/knowledge-base-s3-vector, advanced_chunking_options, re_ranking_using_kb and
02_managed_retreiveandgenerate_and_streamapi.
"""

from typing import Any
from uuid import uuid4

import pytest

from tests.simulator.world import HAIKU, REGION, ROLE, TITAN, World, eventually, refused

QUESTION = "Which bird sleeps by day?"
STRATEGIES: dict[str, dict[str, Any]] = {
    "FIXED_SIZE": {"fixedSizeChunkingConfiguration": {"maxTokens": 300, "overlapPercentage": 20}},
    "HIERARCHICAL": {
        "hierarchicalChunkingConfiguration": {
            "levelConfigurations": [{"maxTokens": 1500}, {"maxTokens": 300}],
            "overlapTokens": 60,
        }
    },
    "SEMANTIC": {
        "semanticChunkingConfiguration": {
            "maxTokens": 300,
            "bufferSize": 1,
            "breakpointPercentileThreshold": 95,
        }
    },
    "NONE": {},
}
RERANKING = {
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
}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_sample_makes_asks_and_clears_away_a_knowledge_base(world: World, strategy: str) -> None:
    store = f"my-s3-vector-store-{uuid4().hex[:8]}"
    knowledge_base, source = made(world, store, strategy)
    world.put("owl.txt", "The owl sleeps by day. It hunts at night.", {"year": 2024})
    world.put("wren.txt", "The wren is awake by day, and sings.", {"year": 2025})
    job = world.sync(knowledge_base, source)
    eventually(lambda: len(world.search(knowledge_base, QUESTION)) == 2)

    found = world.runtime.retrieve(
        knowledgeBaseId=knowledge_base,
        retrievalQuery={"text": QUESTION},
        retrievalConfiguration={
            "vectorSearchConfiguration": {
                "numberOfResults": 30,
                "rerankingConfiguration": RERANKING,
            }
        },
    )["retrievalResults"]
    stream = world.runtime.retrieve_and_generate_stream(
        input={"text": QUESTION},
        retrieveAndGenerateConfiguration={
            "type": "KNOWLEDGE_BASE",
            "knowledgeBaseConfiguration": {
                "knowledgeBaseId": knowledge_base,
                "modelArn": HAIKU,
                "retrievalConfiguration": {"vectorSearchConfiguration": {"numberOfResults": 5}},
            },
        },
    )["stream"]
    said = "".join(event["output"]["text"] for event in stream if "output" in event)
    world.agent.delete_knowledge_base(knowledgeBaseId=knowledge_base)
    world.s3vectors.delete_vector_bucket_policy(vectorBucketName=store)
    [index] = world.s3vectors.list_indexes(vectorBucketName=store)["indexes"]
    world.s3vectors.delete_index(vectorBucketName=store, indexName=index["indexName"])
    world.s3vectors.delete_vector_bucket(vectorBucketName=store)

    assert (job["status"], job["statistics"]["numberOfNewDocumentsIndexed"]) == ("COMPLETE", 2)
    assert found[0]["content"]["text"].startswith("The owl sleeps by day.")
    assert [each["score"] for each in found] == sorted((e["score"] for e in found), reverse=True)
    assert "The owl sleeps by day." in said
    gone = refused(world.agent.get_knowledge_base, knowledgeBaseId=knowledge_base)
    assert gone["Code"] == "ResourceNotFoundException"


def made(world: World, store: str, strategy: str) -> tuple[str, str]:
    """As the notebook on S3 Vectors makes them, whose index has one non-filterable key."""
    world.s3vectors.create_vector_bucket(vectorBucketName=store)
    world.s3vectors.create_index(
        vectorBucketName=store,
        indexName="my-s3-vector-index",
        dimension=1024,
        distanceMetric="cosine",
        dataType="float32",
        metadataConfiguration={"nonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT"]},
    )
    arn = world.s3vectors.list_indexes(vectorBucketName=store)["indexes"][0]["indexArn"]
    numbers = {"dimensions": 1024, "embeddingDataType": "FLOAT32"}
    created = world.agent.create_knowledge_base(
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
    chunking: dict[str, Any] = {"chunkingStrategy": strategy, **STRATEGIES[strategy]}
    source = world.agent.create_data_source(
        knowledgeBaseId=created["knowledgeBaseId"],
        name="AmazonS3DataSource",
        description="Amazon S3 Data Source",
        dataDeletionPolicy="DELETE",
        dataSourceConfiguration={
            "type": "S3",
            "s3Configuration": {"bucketArn": f"arn:aws:s3:::{world.bucket}"},
        },
        vectorIngestionConfiguration={"chunkingConfiguration": chunking},
    )["dataSource"]
    return created["knowledgeBaseId"], source["dataSourceId"]
