"""List everything in bucket, tables and knowledge bases, page by page."""

from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from stackroom.aws.bedrock.bedrock_data_sources import prefix_in, to_source, type_in
from stackroom.aws.bedrock.document_details import ids, most_listed, to_detail
from stackroom.aws.dynamodb.catalog_records import METADATA, USER_INDEX, key_of, to_catalog
from stackroom.aws.dynamodb.document_items import to_document
from stackroom.aws.dynamodb.items import cursor_in, from_item, get_all, start_at
from stackroom.aws.error_mapping import knowledge_base_errors, store_errors
from stackroom.model.records import Catalog, DataSource, Document
from stackroom.model.repositories import ListingPage
from stackroom.runs.inventory import KnownSource, ListedDocument, ListedObject, ListingExpired

if TYPE_CHECKING:
    from types_boto3_bedrock_agent.type_defs import (
        DataSourceTypeDef,
        KnowledgeBaseDocumentDetailTypeDef,
    )


@dataclass(frozen=True, kw_only=True)
class AwsInventory:
    """
    An `Inventory` of AWS. `page` bounds the objects and records of a page; S3 gives at most 1,000
    objects. `managed` are the MANAGED knowledge bases.
    """

    s3: Any
    dynamodb: Any
    bedrock_agent: Any
    bucket: str
    catalog_table: str
    page: int = 1000
    managed: Container[str] = frozenset()

    def objects(self, *, after: str = "", prefix: str = "") -> ListingPage[ListedObject]:
        with store_errors():
            answer = self.s3.list_objects_v2(
                Bucket=self.bucket, Prefix=prefix, StartAfter=after, MaxKeys=self.page
            )
        items = [
            ListedObject(
                key=each["Key"],
                size=each["Size"],
                etag=each["ETag"].strip('"'),
                last_modified=each["LastModified"],
            )
            for each in answer.get("Contents", [])
        ]
        return ListingPage(
            items=items, next=items[-1].key if items and answer["IsTruncated"] else None
        )

    def records(self, cursor: str | None) -> ListingPage[Catalog | Document]:
        with store_errors():
            answer = self.dynamodb.scan(
                TableName=self.catalog_table, Limit=self.page, **start_at(cursor)
            )
        items: list[Catalog | Document] = []
        malformed: list[str] = []
        for values in map(from_item, answer["Items"]):
            try:
                is_catalog = values["sk"] == METADATA
                items.append(to_catalog(values) if is_catalog else to_document(values))
            except (ValidationError, KeyError, TypeError) as error:
                why = " ".join(str(error).split())
                malformed.append(f"{values['catalog_id']} {values['sk']}: {why}")
        return ListingPage(items=items, next=cursor_in(answer), malformed=malformed)

    def all_catalogs(self, cursor: str | None) -> ListingPage[Catalog]:
        with store_errors():
            answer = self.dynamodb.scan(
                TableName=self.catalog_table,
                IndexName=USER_INDEX,
                Limit=self.page,
                **start_at(cursor),
            )
        keys = [key_of(from_item(each)["catalog_id"]) for each in answer["Items"]]
        items: list[Catalog] = []
        for values in get_all(self.dynamodb, self.catalog_table, keys):
            with suppress(ValidationError):  # the records' own audit tells of it
                items.append(to_catalog(values))
        return ListingPage(items=items, next=cursor_in(answer))

    def source_ids(self, knowledge_base_id: str) -> list[str]:
        with knowledge_base_errors():
            # All of them: a page holds 1,000, a knowledge base 200 at most.
            answer = self.bedrock_agent.list_data_sources(knowledgeBaseId=knowledge_base_id)
        return [str(each["dataSourceId"]) for each in answer["dataSourceSummaries"]]

    def source(self, knowledge_base_id: str, data_source_id: str) -> KnownSource | None:
        try:
            with knowledge_base_errors():
                answer = self.bedrock_agent.get_data_source(
                    knowledgeBaseId=knowledge_base_id, dataSourceId=data_source_id
                )
        except self.bedrock_agent.exceptions.ResourceNotFoundException:
            return None  # its deletion has just ended
        return _to_source(answer["dataSource"])

    def indexed(self, source: DataSource, cursor: str | None) -> ListingPage[ListedDocument] | None:
        more = {"nextToken": cursor} if cursor is not None else {}
        try:
            with knowledge_base_errors():
                answer = self.bedrock_agent.list_knowledge_base_documents(
                    **ids(source), maxResults=most_listed(source, self.managed), **more
                )
        except self.bedrock_agent.exceptions.ValidationException as error:
            if cursor is not None:
                # The token was valid before; AWS doesn't document for how long.
                raise ListingExpired(source.data_source_id) from error
            # The request itself is well-formed; so it is the data source, which was never synced
            # [user guide: kb-direct-ingestion-view] and can list nothing yet.
            return None
        items = [_to_listed(each) for each in answer["documentDetails"]]
        return ListingPage(items=items, next=answer.get("nextToken"))


def _to_source(found: "DataSourceTypeDef") -> KnownSource | None:
    configuration = found["dataSourceConfiguration"]
    if type_in(configuration) is None:
        return None
    return KnownSource(
        source=to_source(found),
        name=found["name"],
        status=found["status"],
        prefix=prefix_in(configuration),
        reasons=tuple(found.get("failureReasons", ())),
    )


def _to_listed(detail: "KnowledgeBaseDocumentDetailTypeDef") -> ListedDocument:
    identifier = detail["identifier"]
    named = identifier.get("s3", {}).get("uri") or identifier.get("custom", {}).get("id")
    return ListedDocument(identifier=str(named), detail=to_detail(detail))
