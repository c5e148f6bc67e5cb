"""
Where a passage comes from, by the store's own word instead of its attributes.

Of an S3 data source's documents the store tells the object's URI. Of those that were ingested
directly it tells the id that we gave them, which is a hash of catalog and file name.
"""

from dataclasses import dataclass

from stackroom.keys import document_id_of
from stackroom.ports.retrieval import Passage


@dataclass(frozen=True)
class Origin:
    """Of a document that was ingested directly."""

    catalog_id: str
    filename: str


def origin_of(passage: Passage) -> Origin | None:
    """Catalog and file, if the id that it was ingested under proves what its attributes say."""
    catalog_id = str(passage.attributes.get("catalog_id"))
    filename = str(passage.attributes.get("filename"))
    is_proven = document_id_of(catalog_id, filename) == passage.custom_id
    return Origin(catalog_id, filename) if is_proven else None


def key_of(uri: str) -> str:
    """The key of the object that an `s3://` URI names."""
    return uri.partition("://")[2].partition("/")[2]
