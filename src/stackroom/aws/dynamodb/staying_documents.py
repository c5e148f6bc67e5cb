"""Which documents stay, by a BatchGetItem of their records and of their catalogs'."""

from collections.abc import Iterable

from stackroom.aws.dynamodb.catalog_records import METADATA, key_of
from stackroom.aws.dynamodb.document_items import DOCUMENT, document_key
from stackroom.aws.dynamodb.items import get_all
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.documents.model import CatalogStatus, DocumentStatus
from stackroom.documents.repositories import DocumentKey

_GOING = frozenset({str(CatalogStatus.DELETING), str(DocumentStatus.DELETING)})


class DynamoStayingDocuments(DynamoTable):
    """Apart from `DynamoDocuments`: a search has no use for what writes."""

    def staying(self, keys: Iterable[DocumentKey]) -> dict[DocumentKey, str]:
        asked = set(keys)
        items = [document_key(*each) for each in asked]
        items += [key_of(each) for each in {catalog_id for catalog_id, _ in asked}]
        found = get_all(self.client, self.table, items, consistent=True)
        titles = {
            (each["catalog_id"], each["sk"]): each.get("title_words", "")
            for each in found
            if each["status"] not in _GOING
        }
        return {
            (catalog_id, document_id): titles[catalog_id, DOCUMENT + document_id]
            for catalog_id, document_id in asked
            if {(catalog_id, METADATA), (catalog_id, DOCUMENT + document_id)} <= titles.keys()
        }
