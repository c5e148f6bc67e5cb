"""What Bedrock found, as passages: by `Retrieve`, or cited by an answer."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from stackroom.aws.bedrock.result_locations import (
    OF_VECTOR,
    OwnKeys,
    custom_id_of,
    data_source_id_of,
    uri_of,
)
from stackroom.ports.retrieval import Passage

if TYPE_CHECKING:
    from types_boto3_bedrock_agent_runtime.type_defs import (
        KnowledgeBaseRetrievalResultTypeDef,
        RetrievedReferenceTypeDef,
    )

    Found = KnowledgeBaseRetrievalResultTypeDef | RetrievedReferenceTypeDef


def passage_of(found: "Found", *, first_page: int, own: OwnKeys = OF_VECTOR) -> Passage:
    """Of what `Retrieve` found or an answer cites; the latter has no score, and gets 0."""
    attributes = cast("Mapping[str, object]", found.get("metadata", {}))
    score = cast("KnowledgeBaseRetrievalResultTypeDef", found).get("score")
    if not isinstance(score, float | int | None):
        raise TypeError("a score that is no number")
    return Passage(
        text=_text(found),
        score=score or 0.0,
        similarity=score,
        uri=uri_of(found.get("location"), attributes, own),
        custom_id=custom_id_of(found.get("location")),
        data_source_id=data_source_id_of(attributes, own),
        page=page_of(attributes, first_page, own),
        attributes=attributes if own is OF_VECTOR else _documents_own(attributes, own),
    )


def page_of(
    attributes: Mapping[str, object], first_page: int, own: OwnKeys = OF_VECTOR
) -> int | None:
    """From 1 on, by what Bedrock notes with a passage; None if it doesn't."""
    reported = attributes.get(own.page) if own.page else None
    if isinstance(reported, int | float):  # seen as 3.0
        return int(reported) - first_page + 1
    return None


def _documents_own(attributes: Mapping[str, object], own: OwnKeys) -> Mapping[str, object]:
    """What a MANAGED knowledge base notes of its own accord is told by no list, and left out."""
    return {key: each for key, each in attributes.items() if not key.startswith(own.prefix)}


def _text(found: "Found") -> str:
    text = found.get("content", {}).get("text", "")  # images and table rows have none
    if not isinstance(text, str):
        raise TypeError("a text that is none")
    return text
