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


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ({}, IndexState(is_enhanced=False, text_search=Readiness.MISSING)),
        ({"indexMode": "CLASSIC"}, IndexState(is_enhanced=False, text_search=Readiness.MISSING)),
        ({"indexMode": "ENHANCED"}, IndexState(is_enhanced=True, text_search=Readiness.MISSING)),
    ],
)
def test_the_mode_is_what_the_index_says_and_no_word_of_it_is_the_older_one(
    client: Any, stubber: Stubber, told: dict[str, str], state: IndexState
) -> None:
    stubber.add_response("get_index", described(**told), {"indexArn": INDEX})

    assert S3VectorsIndexes(client).state(INDEX) == state


@pytest.mark.parametrize(
    ("configured", "text_search"),
    [
        ({"metadataKey": TEXT, "status": "ACTIVE"}, Readiness.ACTIVE),
        ({"metadataKey": TEXT, "status": "BUILDING"}, Readiness.BUILDING),
        ({"metadataKey": TEXT}, Readiness.BUILDING),
        ({"metadataKey": "title", "status": "ACTIVE"}, Readiness.MISSING),
    ],
)
def test_only_what_is_built_of_bedrocks_text_can_be_searched(
    client: Any, stubber: Stubber, configured: dict[str, str], text_search: Readiness
) -> None:
    metadata = {"nonFilterableMetadataKeys": [TEXT], "textSearchConfigurations": [configured]}
    answer = described(indexMode="ENHANCED", metadataConfiguration=metadata)
    stubber.add_response("get_index", answer, {"indexArn": INDEX})

    assert S3VectorsIndexes(client).state(INDEX).readiness is text_search


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
