"""
Indexes of S3 Vectors, and search by words in the text that Bedrock keeps in them.

Bedrock's text is a key that is not filterable, and such a key can be made searchable too [API model
s3vectors 2025-07-15, botocore 1.44.5: nonFilterableMetadataKeys]; that nobody has yet reported to
have done so in an index that Bedrock fills is an assumption of ours. [assumed: index.bedrock-text]
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of, store_errors
from stackroom.aws.s3vectors.vector_passages import TEXT
from stackroom.search.index_setup import IndexState, Readiness, SearchIndexBusy, SearchIndexGone

_ENHANCED = "ENHANCED"


class S3VectorsIndexes:
    """A `SearchIndexes`; the client needs botocore 1.44.5 or later, which knows text search."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def state(self, index: str) -> IndexState:
        with _errors(index):
            found = self._client.get_index(indexArn=index)["index"]
        metadata = found.get("metadataConfiguration", {})
        configured = {
            each["metadataKey"]: each for each in metadata.get("textSearchConfigurations", [])
        }
        of_text = configured.get(TEXT)
        return IndexState(
            is_enhanced=found.get("indexMode") == _ENHANCED,
            text_search=_readiness(of_text),
            language=of_text.get("language") if of_text else None,
        )

    def enhance(self, index: str) -> None:
        with _errors(index):
            self._client.update_index_mode(indexArn=index, indexMode=_ENHANCED)

    def enhance_those_to_come(self, bucket: str) -> None:
        with _errors(bucket):
            self._client.put_vector_bucket_default_index_mode(
                vectorBucketArn=bucket, defaultIndexMode=_ENHANCED
            )

    def add_text_search(self, index: str, language: str | None) -> None:
        spoken = {} if language is None else {"language": language}
        self._update(index, add={"metadataKey": TEXT, **spoken})

    def remove_text_search(self, index: str) -> None:
        self._update(index, delete={"metadataKey": TEXT})

    def _update(self, index: str, **change: dict[str, str]) -> None:
        """Change one key; a request either adds or deletes."""
        request = {kind: {"textSearchConfigurations": [each]} for kind, each in change.items()}
        with _errors(index):
            self._client.update_metadata_configuration(indexArn=index, **request)


def _readiness(configured: dict[str, Any] | None) -> Readiness:
    if configured is None:
        return Readiness.MISSING
    # A status of AWS's that is none of the two would be one before it can be searched.
    return Readiness.ACTIVE if configured.get("status") == "ACTIVE" else Readiness.BUILDING


@contextmanager
def _errors(arn: str) -> Iterator[None]:
    try:
        with store_errors():
            yield
    except ClientError as error:
        if code_of(error) == "NotFoundException":
            raise SearchIndexGone(arn) from error
        if code_of(error) == "ConflictException":
            raise SearchIndexBusy(arn) from error
        raise
