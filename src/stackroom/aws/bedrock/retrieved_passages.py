"""Convert the results of Bedrock's `Retrieve` to passages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from stackroom.model.passages import Passage

if TYPE_CHECKING:
    from types_boto3_bedrock_agent_runtime.type_defs import (
        KnowledgeBaseRetrievalResultTypeDef,
        RetrievalResultLocationTypeDef,
    )

# The source of a passage, as Bedrock reports it.

_IN_S3 = "s3://"
# Members of RetrievalResultLocation in the API model of bedrock-agent-runtime, botocore 1.44.5.
_ELSEWHERE = {
    "confluenceLocation": "url",
    "googleDriveLocation": "url",
    "kendraDocumentLocation": "uri",
    "oneDriveLocation": "url",
    "salesforceLocation": "url",
    "sharePointLocation": "url",
    "webLocation": "url",
}


@dataclass(frozen=True, kw_only=True)
class OwnKeys:
    """
    The metadata keys that Bedrock itself writes with a passage, and that no sidecar can.

    All begin with `prefix`, among them the document's `uri`, its `data_source` and its `page`,
    which is None if there is none. A key of another kind of knowledge base may have been written by
    anybody.
    """

    prefix: str
    uri: str
    data_source: str
    page: str | None


# https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
OF_VECTOR = OwnKeys(
    prefix="x-amz-bedrock",
    uri="x-amz-bedrock-kb-source-uri",
    data_source="x-amz-bedrock-kb-data-source-id",
    page="x-amz-bedrock-kb-document-page-number",
)
# AWS doesn't document pages in MANAGED knowledge bases.
OF_MANAGED = OwnKeys(prefix="_", uri="_source_uri", data_source="_data_source_id", page=None)


def uri_of(
    location: "RetrievalResultLocationTypeDef | None",
    attributes: Mapping[str, object],
    own: OwnKeys = OF_VECTOR,
) -> str | None:
    """
    Return the object in S3, or the address of a page or a file elsewhere; None if there is neither.
    """
    if location is None:
        return None  # an attribute alone doesn't prove where a passage is from
    if "s3Location" in location:
        return location["s3Location"].get("uri")
    reported = attributes.get(own.uri)
    # For a document of a CUSTOM data source it is the id.
    if isinstance(reported, str) and reported.startswith(_IN_S3):
        return reported
    return _address(cast("Mapping[str, Mapping[str, str]]", location))


def custom_id_of(location: "RetrievalResultLocationTypeDef | None") -> str | None:
    if location is None or "customDocumentLocation" not in location:
        return None
    return location["customDocumentLocation"].get("id")


def data_source_id_of(attributes: Mapping[str, object], own: OwnKeys = OF_VECTOR) -> str | None:
    """Return the data source of the passage's document, as Bedrock reports it."""
    noted = attributes.get(own.data_source)
    return noted if isinstance(noted, str) and noted else None


def _address(location: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return the address, unless it looks like S3's: those decide who owns a passage."""
    for member, name in _ELSEWHERE.items():
        address = location.get(member, {}).get(name)
        if address and not address.startswith(_IN_S3):
            return address
    return None


def passage_of(
    found: "KnowledgeBaseRetrievalResultTypeDef", *, first_page: int, own: OwnKeys
) -> Passage:
    attributes = cast("Mapping[str, object]", found.get("metadata", {}))
    score = found.get("score")
    if not isinstance(score, float | int | None):
        raise TypeError("a score that is no number")
    text = found.get("content", {}).get("text", "")  # images and table rows have none
    if not isinstance(text, str):
        raise TypeError("a text that is none")
    shown = attributes
    if own is not OF_VECTOR:
        # Metadata that a MANAGED knowledge base adds on its own is documented nowhere, and left
        # out.
        shown = {key: each for key, each in attributes.items() if not key.startswith(own.prefix)}
    return Passage(
        text=text,
        score=score or 0.0,
        similarity=score,
        uri=uri_of(found.get("location"), attributes, own),
        custom_id=custom_id_of(found.get("location")),
        data_source_id=data_source_id_of(attributes, own),
        page=page_of(attributes, first_page, own),
        attributes=shown,
    )


def page_of(
    attributes: Mapping[str, object], first_page: int, own: OwnKeys = OF_VECTOR
) -> int | None:
    """Return the page from 1 on, as Bedrock reports it with a passage; None if it doesn't."""
    reported = attributes.get(own.page) if own.page else None
    if isinstance(reported, int | float):  # seen as 3.0
        return int(reported) - first_page + 1
    return None
