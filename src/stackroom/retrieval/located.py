"""
Where the documents of CUSTOM data sources lie in the bucket.

A knowledge base tells the object of a passage only if an ingestion job has crawled it. What was
ingested directly has an id of ours; catalog and file name say the rest. These are attributes, so
only what is proven is located: a passage's URI is what tells whose it is.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from stackroom import tenancy
from stackroom.ports.retrieval import Passage
from stackroom.tenancy import CatalogOf


def located(
    proven: Iterable[Passage], *, catalog_of: CatalogOf, uri_of: Callable[[str], str]
) -> tuple[Passage, ...]:
    """With the URIs of their objects, as far as there are any; `uri_of` makes one of a key."""

    def key_of(passage: Passage) -> str | None:
        catalog_id = passage.attributes.get(tenancy.CATALOG)
        filename = passage.attributes.get("filename")
        if not isinstance(catalog_id, str) or not isinstance(filename, str):
            return None
        catalog = catalog_of(catalog_id)
        return None if catalog is None else catalog.s3_prefix + filename

    def of(passage: Passage) -> Passage:
        key = key_of(passage) if passage.uri is None else None
        return passage if key is None else replace(passage, uri=uri_of(key))

    return tuple(map(of, proven))
