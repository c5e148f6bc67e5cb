"""
Where a passage comes from, by the store's own word instead of its attributes.

Of an S3 data source's documents the store tells the object's URI. Of those that were ingested
directly it tells the id that we gave them, which is a hash of catalog and file name; or no more
than their data source, since Bedrock was seen to leave that id out. Then the hash is to be found
among the attributes, which we alone write there, and a catalog's record names the data source.
"""

from dataclasses import dataclass

from stackroom.documents.keys import document_id_of
from stackroom.documents.model import Catalog, DataSourceType
from stackroom.documents.passages import Passage


@dataclass(frozen=True)
class Origin:
    """Of a document that was ingested directly."""

    catalog_id: str
    filename: str


def is_told(passage: Passage) -> bool:
    """Whether the store says anything of where it is from."""
    told = (passage.uri, passage.custom_id, passage.data_source_id)
    return any(each is not None for each in told)


def document_id_in(passage: Passage) -> str | None:
    """
    The id that it was ingested under: the store's word, or else that of an attribute of ours.

    None of what has the URI of an object in its place.
    """
    if passage.custom_id is not None:
        return passage.custom_id
    noted = passage.attributes.get("document_id")
    return noted if passage.uri is None and isinstance(noted, str) else None


def origin_of(passage: Passage) -> Origin | None:
    """
    Catalog and file, if the id that it was ingested under proves what its attributes say.

    Where that id is an attribute itself, it proves no more than that they agree.
    """
    catalog_id = str(passage.attributes.get("catalog_id"))
    filename = str(passage.attributes.get("filename"))
    is_proven = document_id_of(catalog_id, filename) == document_id_in(passage)
    return Origin(catalog_id, filename) if is_proven else None


def is_ingested_into(catalog: Catalog, passage: Passage) -> bool:
    """
    Whether it is from where the catalog's documents are ingested directly, by us alone.

    An id of ours that the store tells proves that, unless the data source is another; without such
    an id it must be the one that the record names.
    """
    told, recorded = passage.data_source_id, catalog.data_source_id
    if passage.custom_id is not None and None in (told, recorded):
        return True
    is_direct = catalog.data_source_type is DataSourceType.CUSTOM
    return told is not None and told == recorded and is_direct


def key_of(uri: str) -> str:
    """The key of the object that an `s3://` URI names."""
    return uri.partition("://")[2].partition("/")[2]
