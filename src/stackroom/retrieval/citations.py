"""Where a passage stands: its file, and the page of it."""

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from stackroom import tenancy
from stackroom.ports.retrieval import PageMaps, Pages, Passage

logger = logging.getLogger(__name__)

_MAX_PARALLEL = 10  # connections that a boto3 client keeps unless told otherwise
_IN_SOURCE = {tenancy.USER, tenancy.CATALOG, "document_id", "filename"}


@dataclass(frozen=True, kw_only=True)
class Source:
    document_id: str | None
    filename: str | None
    uri: str | None
    page: int | None
    catalog_id: str | None


def sources_of(passages: Sequence[Passage], page_maps: PageMaps) -> tuple[Source, ...]:
    """Each passage's source; a page that the store doesn't tell is looked up in the page map."""
    pages = _pages_of(
        {_text(passage, "document_id") for passage in passages if _is_unpaged(passage)}, page_maps
    )
    return tuple(_source(passage, pages) for passage in passages)


def attributes_of(passage: Passage) -> dict[str, object]:
    """What its owner attached to the document, and when it was uploaded; nothing of ours."""
    return {
        name: value
        for name, value in passage.attributes.items()
        if name not in _IN_SOURCE and not name.startswith(tenancy.STORE_PREFIX)
    }


def _source(passage: Passage, pages: Mapping[str, Pages]) -> Source:
    document_id = _text(passage, "document_id")
    page = passage.page
    if page is None and document_id in pages:
        page = pages[document_id].page_of(passage.text)
    return Source(
        document_id=document_id or None,
        filename=_text(passage, "filename") or None,
        uri=passage.uri,
        page=page,
        catalog_id=_text(passage, tenancy.CATALOG) or None,
    )


def _is_unpaged(passage: Passage) -> bool:
    is_pdf = _text(passage, "filename").lower().endswith(".pdf")  # nothing else has page maps
    return passage.page is None and is_pdf and bool(_text(passage, "document_id"))


def _pages_of(document_ids: set[str], page_maps: PageMaps) -> dict[str, Pages]:
    if not document_ids:
        return {}
    ordered = sorted(document_ids)
    if len(ordered) == 1:
        found = [_pages(ordered[0], page_maps)]
    else:
        with ThreadPoolExecutor(min(len(ordered), _MAX_PARALLEL)) as threads:
            found = list(threads.map(lambda document_id: _pages(document_id, page_maps), ordered))
    return {key: pages for key, pages in zip(ordered, found, strict=True) if pages is not None}


def _pages(document_id: str, page_maps: PageMaps) -> Pages | None:
    try:
        return page_maps.get(document_id)
    except Exception:
        # Whatever ails an adapter, an answer without a page is better than none for want of one.
        logger.warning("page map unreadable", exc_info=True)
        return None


def _text(passage: Passage, attribute: str) -> str:
    value = passage.attributes.get(attribute)
    return value if isinstance(value, str) else ""
