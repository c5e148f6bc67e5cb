"""The settings of an index of S3 Vectors, whoever fills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from stackroom.access.tenancy import USER
from stackroom.aws.s3vectors.s3vectors_filters import rendered
from stackroom.aws.s3vectors.vector_passages import SOURCE, TEXT
from stackroom.model.filters import Filter, Has, all_of
from stackroom_stores.entries import Clients, OwnStoreSettings

if TYPE_CHECKING:
    from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings
    from stackroom.model.passages import KnowledgeBase

# IndexArn and MetadataKey in the API model of s3vectors, botocore 1.44.5.
_IndexArn = Annotated[
    str,
    StringConstraints(
        pattern=r"^arn:aws[-a-z0-9]*:s3vectors:[a-z0-9-]+:[0-9]{12}"
        r":bucket/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/index/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$"
    ),
]
_Key = Annotated[str, StringConstraints(strip_whitespace=True), Field(min_length=1, max_length=63)]
# What a search demands beside what is configured: the owner, and groups of one query.
_DEMANDED = 6


class VectorIndexSettings(OwnStoreSettings):
    """
    An index that is searched directly.

    `text_key` and `source_key` are the metadata keys of a vector's text and source: Bedrock's own,
    or those of another writer.
    """

    vector_store_type: Literal["S3_VECTORS_DIRECT"]
    index_arn: _IndexArn
    text_key: _Key = TEXT
    source_key: _Key = SOURCE

    @model_validator(mode="after")
    def _shows_what_proves(self) -> Self:
        """
        Refuse the text as owner or group: it is not shown as an attribute, so it could prove
        nothing.
        """
        members = (("tenantKey", self.owner_in), ("aclMetadataField", self.groups_in))
        for member, name in members:
            if name == self.text_key:
                raise ValueError(f"{member} is {name!r}, which is the text; allowed: another key")
        return self

    def searched(self, client: Clients, embeddings: QuestionEmbeddings) -> KnowledgeBase:
        from stackroom.aws.s3vectors.s3vectors_adapter import S3VectorsKnowledgeBase
        from stackroom.aws.s3vectors.vector_passages import VectorReading
        from stackroom.model.passages import Search

        return S3VectorsKnowledgeBase(
            client("s3vectors"),
            self.index_arn,
            embeddings=embeddings.of(self.embedding_model, self.embedding_dimensions),
            search=Search[self.override_search_type or "HYBRID"],
            reading=VectorReading(text_key=self.text_key, source_key=self.source_key),
        )

    def check(self, condition: Filter) -> None:
        """Check a filter, with room for the conditions that every search adds."""
        _ = rendered(all_of((condition, *(Has(USER, "") for _ in range(_DEMANDED)))))
