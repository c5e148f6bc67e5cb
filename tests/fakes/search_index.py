"""An index and its bucket, in memory, and other people who change them too."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from stackroom.search.index_setup import IndexState, Readiness, SearchIndexBusy, SearchIndexGone

INDEX = "arn:aws:s3vectors:us-east-1:123456789012:bucket/vectors/index/passages"
BUCKET = "arn:aws:s3vectors:us-east-1:123456789012:bucket/vectors"
SEARCHABLE = {"metadataKey": "AMAZON_BEDROCK_TEXT", "language": "en", "status": "ACTIVE"}


def an_index(*searchable: dict[str, str], **members: object) -> dict[str, Any]:
    """Return GetIndex's description of `INDEX`, with `members` replaced."""
    index: dict[str, Any] = {
        "vectorBucketName": "vectors",
        "indexName": "passages",
        "indexArn": INDEX,
        "creationTime": datetime(2026, 11, 1, tzinfo=UTC),
        "dataType": "float32",
        "dimension": 1024,
        "distanceMetric": "cosine",
        "indexMode": "ENHANCED",
        "metadataConfiguration": {"textSearchConfigurations": list(searchable or (SEARCHABLE,))},
    }
    return {"index": {**index, **members}}


@dataclass
class FakeSearchIndexes:
    """`SearchIndexes` with one index; what it has at first is `BUILDING` when it is added."""

    is_enhanced: bool = True
    text_search: Readiness = Readiness.MISSING
    language: str | None = None
    is_there: bool = True
    errors: list[Exception] = field(default_factory=list)  # of the changes to come
    changes: list[str] = field(default_factory=list)  # that were made
    bucket_is_enhanced: bool = False

    def state(self, index: str) -> IndexState:
        self._require(index, INDEX)
        return IndexState(
            is_enhanced=self.is_enhanced, text_search=self.text_search, language=self.language
        )

    def enhance(self, index: str) -> None:
        self._change("enhance", index)
        self.is_enhanced = True

    def enhance_those_to_come(self, bucket: str) -> None:
        self._require(bucket, BUCKET)
        self.bucket_is_enhanced = True

    def add_text_search(self, index: str, language: str | None) -> None:
        self._require(index, INDEX)
        assert self.is_enhanced, "S3 Vectors takes it in this mode only"
        if self.text_search is not Readiness.MISSING:
            raise SearchIndexBusy(index)
        self._change("add", index)
        self.text_search, self.language = Readiness.BUILDING, language

    def remove_text_search(self, index: str) -> None:
        self._change("remove", index)
        self.text_search, self.language = Readiness.MISSING, None

    def _change(self, name: str, index: str) -> None:
        self._require(index, INDEX)
        if self.errors:
            raise self.errors.pop(0)
        self.changes.append(name)

    def _require(self, arn: str, known: str) -> None:
        if arn != known or not self.is_there:
            raise SearchIndexGone(arn)
