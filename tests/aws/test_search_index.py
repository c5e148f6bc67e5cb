"""What S3 Vectors says of an index, and how it refuses a change of it."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from stackroom.aws.search_index import S3VectorsIndexes
from stackroom.errors import SearchIndexBusy, SearchIndexGone, ServiceRefused, StoreUnavailable
from stackroom.ports.search_index import IndexState, Readiness
from tests.fakes.search_index import BUCKET, INDEX

SERVICE = "s3vectors"  # of the fixture `client`

TEXT = "AMAZON_BEDROCK_TEXT"


def described(**more: Any) -> dict[str, Any]:
    index = {
        "vectorBucketName": "vectors",
        "indexName": "passages",
        "indexArn": INDEX,
        "creationTime": "2026-10-20T00:00:00Z",
        "dataType": "float32",
        "dimension": 1024,
        "distanceMetric": "cosine",
    }
    return {"index": {**index, **more}}


def of_text(**configured: str) -> dict[str, Any]:
    metadata = {"nonFilterableMetadataKeys": [TEXT], "textSearchConfigurations": [configured]}
    return {"indexMode": "ENHANCED", "metadataConfiguration": metadata}


@pytest.mark.parametrize(
    ("told", "is_enhanced", "text_search"),
    [
        ({}, False, Readiness.MISSING),  # an index from before there were modes
        ({"indexMode": "CLASSIC"}, False, Readiness.MISSING),
        ({"indexMode": "ENHANCED"}, True, Readiness.MISSING),
        (of_text(metadataKey=TEXT, status="ACTIVE"), True, Readiness.ACTIVE),
        (of_text(metadataKey=TEXT, status="BUILDING"), True, Readiness.BUILDING),
        (of_text(metadataKey=TEXT), True, Readiness.BUILDING),
        (of_text(metadataKey="title", status="ACTIVE"), True, Readiness.MISSING),
    ],
)
def test_only_what_is_built_of_bedrocks_text_in_an_enhanced_index_can_be_searched(
    client: Any, stubber: Stubber, told: dict[str, Any], is_enhanced: bool, text_search: Readiness
) -> None:
    stubber.add_response("get_index", described(**told), {"indexArn": INDEX})

    state = S3VectorsIndexes(client).state(INDEX)

    assert state == IndexState(is_enhanced=is_enhanced, text_search=text_search)


def test_each_change_is_one_request_of_the_one_key(client: Any, stubber: Stubber) -> None:
    of_text = {"textSearchConfigurations": [{"metadataKey": TEXT}]}
    in_german = {"textSearchConfigurations": [{"metadataKey": TEXT, "language": "de"}]}
    indexes, updated = S3VectorsIndexes(client), {"indexArn": INDEX}
    for change in ({"delete": of_text}, {"add": in_german}, {"add": of_text}):
        stubber.add_response("update_metadata_configuration", updated, {**updated, **change})
    mode = {"indexArn": INDEX, "indexMode": "ENHANCED"}
    stubber.add_response("update_index_mode", {}, mode)
    of_bucket = {"vectorBucketArn": BUCKET, "defaultIndexMode": "ENHANCED"}
    stubber.add_response("put_vector_bucket_default_index_mode", {}, of_bucket)

    indexes.remove_text_search(INDEX)
    indexes.add_text_search(INDEX, "de")
    indexes.add_text_search(INDEX, None)
    indexes.enhance(INDEX)
    indexes.enhance_those_to_come(BUCKET)


@pytest.mark.parametrize(
    ("code", "status", "raised"),
    [
        ("ConflictException", 409, SearchIndexBusy),
        ("NotFoundException", 404, SearchIndexGone),
        ("AccessDeniedException", 403, ServiceRefused),
        ("TooManyRequestsException", 429, StoreUnavailable),
        ("ServiceUnavailableException", 503, StoreUnavailable),
        ("ValidationException", 400, ClientError),
    ],
)
def test_a_refusal_says_whether_it_will_pass(
    client: Any, stubber: Stubber, code: str, status: int, raised: type[Exception]
) -> None:
    stubber.add_client_error("update_metadata_configuration", code, "no", http_status_code=status)

    with pytest.raises(raised):
        S3VectorsIndexes(client).add_text_search(INDEX, "en")
