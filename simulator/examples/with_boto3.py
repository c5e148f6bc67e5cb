"""A knowledge base on S3 Vectors: made, filled from a bucket, and searched, with boto3 alone."""

import time

import boto3

TITAN = "arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0"


def made() -> str:
    """A knowledge base that has one document; its id."""
    s3, vectors = boto3.client("s3"), boto3.client("s3vectors")
    agent = boto3.client("bedrock-agent")
    s3.create_bucket(Bucket="documents")
    s3.put_object(Bucket="documents", Key="parking.txt", Body=b"Parking is free on Sundays.")
    vectors.create_vector_bucket(vectorBucketName="vectors")
    index = vectors.create_index(
        vectorBucketName="vectors",
        indexName="passages",
        dataType="float32",
        dimension=1024,
        distanceMetric="cosine",
        metadataConfiguration={
            "nonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]
        },
    )
    base = agent.create_knowledge_base(
        name="handbook",
        roleArn="arn:aws:iam::000000000000:role/handbook",
        knowledgeBaseConfiguration={
            "type": "VECTOR",
            "vectorKnowledgeBaseConfiguration": {"embeddingModelArn": TITAN},
        },
        storageConfiguration={
            "type": "S3_VECTORS",
            "s3VectorsConfiguration": {"indexArn": index["indexArn"]},
        },
    )["knowledgeBase"]
    base_id = base["knowledgeBaseId"]
    while (
        agent.get_knowledge_base(knowledgeBaseId=base_id)["knowledgeBase"]["status"] == "CREATING"
    ):
        time.sleep(0.1)
    source = agent.create_data_source(
        knowledgeBaseId=base_id,
        name="documents",
        dataSourceConfiguration={
            "type": "S3",
            "s3Configuration": {"bucketArn": "arn:aws:s3:::documents"},
        },
    )["dataSource"]
    identity = {"knowledgeBaseId": base_id, "dataSourceId": source["dataSourceId"]}
    job = agent.start_ingestion_job(**identity)["ingestionJob"]
    while job["status"] not in ("COMPLETE", "FAILED", "STOPPED"):
        time.sleep(0.1)
        asked = agent.get_ingestion_job(**identity, ingestionJobId=job["ingestionJobId"])
        job = asked["ingestionJob"]
    print(job["status"], job["statistics"]["numberOfNewDocumentsIndexed"])
    time.sleep(
        4
    )  # until searches find what is indexed takes some seconds on AWS, less with --speed
    return base_id


if __name__ == "__main__":
    knowledge_base_id = made()
    found = boto3.client("bedrock-agent-runtime").retrieve(
        knowledgeBaseId=knowledge_base_id, retrievalQuery={"text": "What does parking cost?"}
    )
    print("knowledge base", knowledge_base_id)
    for each in found["retrievalResults"]:
        print(
            f"{each['score']:.2f}", each["location"]["s3Location"]["uri"], each["content"]["text"]
        )
