"""Looking into an index of S3 Vectors for documents, in as many pages as it answers."""

from typing import Any

from botocore.stub import Stubber

from stackroom.aws.s3vectors.index_presence import IndexPresence

SERVICE = "s3vectors"  # of the fixture `client`

ARN = "arn:aws:s3vectors:us-east-1:123456789012:bucket/vectors/index/passages"


def test_paged_answer_is_read_to_its_last_page(client: Any, stubber: Stubber) -> None:
    def answer(document_id: str) -> dict[str, Any]:
        metadata = {"AMAZON_BEDROCK_TEXT": "A text.", "document_id": document_id}
        return {
            "vectors": [{"key": document_id, "metadata": metadata}],
            "distanceMetric": "cosine",
        }

    index = {
        "vectorBucketName": "vectors",
        "indexName": "passages",
        "indexArn": ARN,
        "creationTime": 0,
        "dataType": "float32",
        "dimension": 2,
        "distanceMetric": "cosine",
    }
    asked = {
        "indexArn": ARN,
        "queryVector": {"float32": [1.0, 0.0]},
        "topK": 5,
        "returnMetadata": True,
    }
    stubber.add_response("get_index", {"index": index}, {"indexArn": ARN})
    stubber.add_response("query_vectors", {**answer("doc-1"), "nextToken": "more"}, asked)
    stubber.add_response("query_vectors", answer("doc-2"), {**asked, "nextToken": "more"})

    found = IndexPresence(client, ARN).retrieve("anything", None, 5).passages

    assert [each.attributes["document_id"] for each in found] == ["doc-1", "doc-2"]
