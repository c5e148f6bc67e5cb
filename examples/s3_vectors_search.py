"""
Search Amazon S3 Vectors by meaning, by words and by both, with boto3 alone.

The steps are those of the S3 user guide: "Configuring full-text search", "Adding full-text
searchable content to your vectors", "Querying with full-text and vector search".
https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-hybrid-search.html

    python examples/s3_vectors_search.py

On AWS it makes a vector bucket with two indexes and deletes them at the end. Against the simulator
set AWS_ENDPOINT_URL_S3VECTORS and AWS_ENDPOINT_URL_BEDROCK_RUNTIME, which boto3 reads by itself.
"""

import json
import time
import uuid

import boto3

s3vectors = boto3.client("s3vectors")
bedrock = boto3.client("bedrock-runtime")

BUCKET = f"s3-vectors-search-{uuid.uuid4().hex[:8]}"
MODEL = "amazon.titan-embed-text-v2:0"
DIMENSION = 256

CHUNKS = {
    "printer": ("Error E-4711: paper is stuck behind the rear tray of the printer.", "manual"),
    "scanner": ("If sheets do not move, open the lid and pull them out by hand.", "manual"),
    "lease": ("The lease of the office ends in March; notice is given in writing.", "contract"),
    "invoice": ("Invoice 2026-117: two printers, twelve toner cartridges.", "invoice"),
}


def embedding(text: str) -> list[float]:
    request = {"inputText": text, "dimensions": DIMENSION, "normalize": True}
    response = bedrock.invoke_model(modelId=MODEL, body=json.dumps(request))
    return json.loads(response["body"].read())["embedding"]


def create_searchable_index() -> str:
    """A new index: `source_text` can be searched by words, and used in no filter."""
    response = s3vectors.create_index(
        vectorBucketName=BUCKET,
        indexName="new-index",
        dataType="float32",
        dimension=DIMENSION,
        distanceMetric="cosine",
        metadataConfiguration={
            "nonFilterableMetadataKeys": ["source_text"],
            "textSearchConfigurations": [{"metadataKey": "source_text", "language": "en"}],
        },
    )
    return response["indexArn"]


def create_plain_index() -> str:
    """An index as everybody had it before there was text search."""
    response = s3vectors.create_index(
        vectorBucketName=BUCKET,
        indexName="old-index",
        dataType="float32",
        dimension=DIMENSION,
        distanceMetric="cosine",
        metadataConfiguration={"nonFilterableMetadataKeys": ["source_text"]},
    )
    return response["indexArn"]


def put_chunks(index_arn: str) -> None:
    vectors = [
        {
            "key": key,
            "data": {"float32": embedding(text)},
            "metadata": {"source_text": text, "kind": kind},
        }
        for key, (text, kind) in CHUNKS.items()
    ]
    s3vectors.put_vectors(indexArn=index_arn, vectors=vectors)


def add_text_search(index_arn: str) -> None:
    """To an index that has vectors: S3 Vectors goes over them, which takes its time."""
    s3vectors.update_index_mode(indexArn=index_arn, indexMode="ENHANCED")
    s3vectors.update_metadata_configuration(
        indexArn=index_arn,
        add={"textSearchConfigurations": [{"metadataKey": "source_text", "language": "en"}]},
    )


def wait_until_active(index_arn: str) -> None:
    while True:
        index = s3vectors.get_index(indexArn=index_arn)["index"]
        configurations = index["metadataConfiguration"]["textSearchConfigurations"]
        if all(each["status"] == "ACTIVE" for each in configurations):
            return
        time.sleep(1)


def search_three_ways(index_arn: str, question: str) -> None:
    vector = {"float32": embedding(question)}
    texts = [{"text": question, "metadataKey": "source_text"}]
    show("by meaning", s3vectors.query_vectors(indexArn=index_arn, topK=2, queryVector=vector))
    show(
        "by words",
        s3vectors.query_vectors(indexArn=index_arn, topK=2, queryTexts=texts, returnScores=True),
    )
    show(
        "by both, manuals alone",
        s3vectors.query_vectors(
            indexArn=index_arn,
            topK=2,
            queryVector=vector,
            queryTexts=texts,
            filter={"kind": {"$eq": "manual"}},
            returnMetadata=True,
            returnScores=True,
        ),
    )


def show(way: str, response: dict) -> None:
    print(f"  {way}")
    for vector in response["vectors"]:
        print(f"    {vector['key']}", *(vector.get("scores") or {}).items())


def clean_up(index_arns: list[str]) -> None:
    for index_arn in index_arns:
        s3vectors.delete_index(indexArn=index_arn)
    s3vectors.delete_vector_bucket(vectorBucketName=BUCKET)


def main() -> None:
    s3vectors.create_vector_bucket(vectorBucketName=BUCKET)
    indexes = []
    try:
        indexes.append(create_searchable_index())
        put_chunks(indexes[0])
        print("an index that was made for text search")
        search_three_ways(indexes[0], "what does E-4711 mean?")

        indexes.append(create_plain_index())
        put_chunks(indexes[1])
        add_text_search(indexes[1])
        wait_until_active(indexes[1])
        print("an index that got it later")
        search_three_ways(indexes[1], "what does E-4711 mean?")
    finally:
        clean_up(indexes)


if __name__ == "__main__":
    main()
