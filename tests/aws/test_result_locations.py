"""Where a passage is from, in Bedrock's word for it."""

from typing import Any

import pytest

from stackroom.aws.result_locations import OF_MANAGED, custom_id_of, uri_of

SOURCE = "x-amz-bedrock-kb-source-uri"


@pytest.mark.parametrize(
    ("location", "uri"),
    [
        ({"type": "S3", "s3Location": {"uri": "s3://b/a.pdf"}}, "s3://b/a.pdf"),
        ({"type": "WEB", "webLocation": {"url": "https://a/b"}}, "https://a/b"),
        ({"type": "CONFLUENCE", "confluenceLocation": {"url": "https://c"}}, "https://c"),
        ({"type": "SALESFORCE", "salesforceLocation": {"url": "https://c"}}, "https://c"),
        ({"type": "SHAREPOINT", "sharePointLocation": {"url": "https://c"}}, "https://c"),
        ({"type": "ONEDRIVE", "oneDriveLocation": {"url": "https://c"}}, "https://c"),
        ({"type": "GOOGLEDRIVE", "googleDriveLocation": {"url": "https://c"}}, "https://c"),
        ({"type": "KENDRA", "kendraDocumentLocation": {"uri": "https://c"}}, "https://c"),
        ({"type": "SQL", "sqlLocation": {"query": "SELECT 1"}}, None),
        ({"type": "WEB"}, None),
        (None, None),
    ],
)
def test_a_passage_is_from_an_object_or_an_address(location: Any, uri: str | None) -> None:
    assert uri_of(location, {}) == uri


def test_an_address_elsewhere_is_never_taken_for_an_object() -> None:
    location: Any = {"type": "WEB", "webLocation": {"url": "s3://docs/alice/secret.txt"}}

    assert uri_of(location, {SOURCE: "https://a"}) is None


def test_of_a_custom_document_there_is_its_id_and_the_object_that_bedrock_notes() -> None:
    location: Any = {"type": "CUSTOM", "customDocumentLocation": {"id": "doc-1"}}

    assert custom_id_of(location) == "doc-1"
    assert uri_of(location, {SOURCE: "doc-1"}) is None
    assert uri_of(location, {SOURCE: "s3://docs/a"}) == "s3://docs/a"
    assert custom_id_of(None) is None


def test_of_each_kind_of_knowledge_base_only_its_own_word_is_taken() -> None:
    """The other's word may stand in a sidecar, where whoever uploads has chosen it."""
    location: Any = {"type": "CUSTOM", "customDocumentLocation": {"id": "doc-1"}}
    of_managed = {"_source_uri": "s3://docs/a"}
    of_vector = {SOURCE: "s3://docs/alice/secret.txt"}

    assert uri_of(location, of_managed, OF_MANAGED) == "s3://docs/a"
    assert uri_of(location, of_managed) is None
    assert uri_of(location, of_vector, OF_MANAGED) is None
