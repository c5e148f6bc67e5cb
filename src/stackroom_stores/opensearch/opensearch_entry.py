"""The settings of an index of OpenSearch Serverless."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

import pydantic
from pydantic import Field

from stackroom.aws.bedrock.retrieve_options import Said
from stackroom.model.filters import Filter
from stackroom_stores.entries import Clients, OwnStoreSettings, Score
from stackroom_stores.opensearch import opensearch_filters
from stackroom_stores.opensearch.index_layout import Fields

if TYPE_CHECKING:
    from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings
    from stackroom.model.passages import KnowledgeBase

# Characters that an index's name can't hold, and what it can't begin with [OpenSearch:
# create-index, "Index naming restrictions"]; among them `,` and `*`, which would name several.
_INDEX = re.compile(r"(?![_-])(?!\.\.?$)[^A-Z\s,:\"*+/\\|?#<>]{1,255}")
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*")


class OpenSearchSettings(OwnStoreSettings):
    """
    An index that is searched directly.

    `collection_endpoint` distinguishes it from a knowledge base of Bedrock over OpenSearch
    Serverless. `min_score` compares (1 + cosine) / 2, whatever space the index has.
    """

    vector_store_type: Literal["OPENSEARCH_SERVERLESS"]
    collection_endpoint: Said
    index_name: str = "knowledge-base"
    vector_field: Said = Fields().vector
    text_field: Said = Fields().text
    metadata_field: Said = Fields().metadata
    source_key: Said = Fields().source
    embedding_dimensions: Annotated[int, Field(strict=True, ge=1, le=16_000)] = 256
    min_score: Score | None = 0.55  # which is a cosine of 0.1

    @pydantic.field_validator("collection_endpoint")
    @classmethod
    def _is_an_endpoint(cls, endpoint: str) -> str:
        at = urlsplit(endpoint)
        is_local = at.scheme == "http" and at.hostname == "127.0.0.1"
        is_there = _HOST.fullmatch(at.hostname or "") and at.port != 0
        is_path = not is_local and at.path not in ("", "/")
        is_more = is_path or "@" in at.netloc or at.query or at.fragment
        if not is_there or is_more or not (is_local or at.scheme == "https"):
            raise ValueError(
                "must be the https:// endpoint of a collection, a host alone: no user, no path"
            )
        return endpoint

    @pydantic.field_validator("index_name")
    @classmethod
    def _is_one_index(cls, name: str) -> str:
        if not _INDEX.fullmatch(name):
            raise ValueError(
                f"{name!r} names no index; allowed: up to 255 lower-case letters, digits and signs"
                ' but for , : " * + / \\ | ? # < > and blanks, not beginning with _ or -'
            )
        return name

    # ARG002: opensearch-py signs with the session's credentials.
    def searched(
        self,
        client: Clients,  # noqa: ARG002
        embeddings: QuestionEmbeddings,
    ) -> KnowledgeBase:
        from stackroom.aws import session
        from stackroom.model.passages import Search
        from stackroom_stores.opensearch.collection import Collection
        from stackroom_stores.opensearch.opensearch_adapter import OpenSearchKnowledgeBase

        return OpenSearchKnowledgeBase(
            Collection(
                self.collection_endpoint, credentials=session.credentials(), region=session.region()
            ),
            self.index_name,
            embeddings=embeddings.of(self.embedding_model, self.embedding_dimensions),
            fields=self.fields,
            search=Search[self.override_search_type or "SEMANTIC"],
        )

    def check(self, condition: Filter) -> None:
        opensearch_filters.check(condition)

    @property
    def fields(self) -> Fields:
        return Fields(
            vector=self.vector_field,
            text=self.text_field,
            metadata=self.metadata_field,
            source=self.source_key,
        )
