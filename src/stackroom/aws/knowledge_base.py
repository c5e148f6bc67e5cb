"""A Bedrock knowledge base, searched."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.aws.translation import THROTTLES, code_of
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, Unavailable
from stackroom.filters import AllOf, AnyOf, Filter, Has
from stackroom.ports.retrieval import Passage, Retrieved

if TYPE_CHECKING:
    from types_boto3_bedrock_agent_runtime.client import AgentsforBedrockRuntimeClient
    from types_boto3_bedrock_agent_runtime.type_defs import (
        KnowledgeBaseRetrievalResultTypeDef,
        RetrievalFilterTypeDef,
    )

_PAGE = "x-amz-bedrock-kb-document-page-number"
_URI = "x-amz-bedrock-kb-source-uri"


class BedrockKnowledgeBase:
    """
    A `KnowledgeBase` over Bedrock's `Retrieve`.

    `first_page` is the number that Bedrock gives a document's first page: AWS doesn't say, and
    users have read both 0 and 1 out of it.
    """

    def __init__(
        self,
        client: "AgentsforBedrockRuntimeClient",
        knowledge_base_id: str,
        *,
        first_page: int = 1,
    ) -> None:
        self._client = client
        self._id = knowledge_base_id
        self._first_page = first_page

    # A002: the port's name
    def retrieve(self, query: str, filter: Filter, limit: int) -> Retrieved:  # noqa: A002
        try:
            # No search type: S3 Vectors knows only the default, semantic search.
            response = self._client.retrieve(
                knowledgeBaseId=self._id,
                retrievalQuery={"text": query},
                retrievalConfiguration={
                    "vectorSearchConfiguration": {
                        "numberOfResults": limit,
                        "filter": rendered(filter),
                    }
                },
            )
        except (ClientError, BotoCoreError) as error:
            raise _translated(error) from error
        results = response["retrievalResults"]
        return Retrieved(
            passages=tuple(map(self._passage, results)),
            guardrail_action=response.get("guardrailAction", "NONE"),
        )

    def _passage(self, result: "KnowledgeBaseRetrievalResultTypeDef") -> Passage:
        attributes = cast("Mapping[str, object]", result.get("metadata", {}))
        return Passage(
            text=_text(result),
            score=result.get("score", 0.0),
            uri=_uri(result, attributes),
            custom_id=_custom_id(result),
            page=self._page(attributes.get(_PAGE)),
            attributes=attributes,
        )

    def _page(self, reported: object) -> int | None:
        if isinstance(reported, int | float):  # seen as 3.0
            return int(reported) - self._first_page + 1
        return None


def rendered(condition: Filter) -> "RetrievalFilterTypeDef":
    """
    The condition in Bedrock's words, and in as few operators as an S3 Vectors index takes.

    `equals` serves attributes that are lists too: S3 Vectors matches it against any element, and
    "equals or listContains" for five values would be ten filters in a group of at most five. `in`
    isn't used, for users have seen it rejected.
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-metadata-filtering.html
    """
    match condition:
        case Has(key, value):
            return {"equals": {"key": key, "value": cast("Any", value)}}
        case AnyOf(choices):
            return {"orAll": [rendered(choice) for choice in choices]}
        case AllOf(conditions):
            return {"andAll": [rendered(member) for member in conditions]}


def _text(result: "KnowledgeBaseRetrievalResultTypeDef") -> str:
    return result["content"].get("text", "")  # images and table rows have none


def _uri(
    result: "KnowledgeBaseRetrievalResultTypeDef", attributes: Mapping[str, object]
) -> str | None:
    location = result.get("location")
    if location is None:
        return None  # an attribute alone is no word of the store's on where a passage is from
    if "s3Location" in location:
        return location["s3Location"].get("uri")
    reported = attributes.get(_URI)
    # Of a CUSTOM data source's documents it is their id.
    return reported if isinstance(reported, str) and reported.startswith("s3://") else None


def _custom_id(result: "KnowledgeBaseRetrievalResultTypeDef") -> str | None:
    location = result.get("location")
    if location is None or "customDocumentLocation" not in location:
        return None
    return location["customDocumentLocation"].get("id")


def _translated(error: ClientError | BotoCoreError) -> Unavailable:
    """Refusals too: one knowledge base that refuses us must not cost the others' answers."""
    if not isinstance(error, ClientError):
        return KnowledgeBaseUnavailable("Retrieve", type(error).__name__)
    if code_of(error) in THROTTLES:
        return KnowledgeBaseThrottled("Retrieve")
    return KnowledgeBaseUnavailable("Retrieve", code_of(error))
