"""Where a passage stands: its file, and the page or section of it."""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock

from cachetools import TTLCache

from stackroom.access import tenancy
from stackroom.access.tenancy import CatalogOf
from stackroom.documents.formats import extension_of, has_places
from stackroom.documents.keys import TextName
from stackroom.documents.passages import Passage, Place, PlaceMapReader, Places
from stackroom.inspection.context_lines import without_context
from stackroom.inspection.toc_detection import looks_like_navigation

logger = logging.getLogger(__name__)

_MAX_PARALLEL = 10  # connections that a boto3 client keeps unless told otherwise
_TABLES = {"csv", "xlsx"}
_NOWHERE = Place()


@dataclass(frozen=True, kw_only=True)
class Source:
    """
    `page` is the one that has most of the passage, `page_first` and `page_last` are where it begins
    and ends; the store's own word for a page is taken where our map of the document has none.
    `knowledge_base_id` names the knowledge base that was asked; None where it was not.
    """

    document_id: str | None
    filename: str | None
    uri: str | None
    page: int | None
    page_first: int | None
    page_last: int | None
    section: str | None
    catalog_id: str | None
    knowledge_base_id: str | None = None
    text_id: str | None = None  # of the text that the place is in
    version_id: str | None = None  # of the file, and whether another lies there by now
    is_earlier: bool = False


@dataclass(frozen=True, kw_only=True)
class Cited:
    """A passage's source, its place, and its text without context lines."""

    source: Source
    place: Place
    shown: str


def sources_of(passages: Sequence[Passage], place_maps: PlaceMapReader) -> tuple[Source, ...]:
    """Each passage's source, as the place map of its document tells it."""
    return tuple(each.source for each in cited(passages, place_maps))


def cited(passages: Sequence[Passage], place_maps: PlaceMapReader) -> tuple[Cited, ...]:
    """Each passage's source and place, as far as store or place map tell them."""
    names = {name for passage in passages if (name := _text_name(passage)) is not None}
    places = _places_of(names, place_maps)
    return tuple(_cited(passage, places) for passage in passages)


def is_navigation(passage: Passage) -> bool:
    """
    Whether its text alone tells that it is a table of contents or an index.

    A table of numbers may look like one; where nothing but tables is, none is looked for.
    """
    is_of_tables = extension_of(_text(passage, "filename")) in _TABLES
    return not is_of_tables and looks_like_navigation(passage.text)


def _cited(passage: Passage, known: Mapping[TextName, Places]) -> Cited:
    document_id = _text(passage, "document_id")
    # The text that we ingested is no file of its owner's, so it is cited by no URI.
    uri = None if tenancy.text_of(passage) is not None else passage.uri
    name = _text_name(passage)
    places = None if name is None else known.get(name)
    place = places.place_of(passage.raw_text or passage.text) if places is not None else _NOWHERE
    if is_navigation(passage):
        place = replace(place, is_navigation=True)
    source = Source(
        document_id=document_id or None,
        filename=_text(passage, "filename") or _last_part(uri) or passage.custom_id,
        uri=uri,
        page=place.page or passage.page,
        page_first=place.page_first,
        page_last=place.page_last,
        section=place.section,
        catalog_id=_text(passage, tenancy.CATALOG) or None,
        knowledge_base_id=passage.knowledge_base_id,
        text_id=passage.text_id,
        version_id=passage.version_id,
        is_earlier=passage.is_earlier,
    )
    shown = shown_text(passage)
    return Cited(source=source, place=place, shown=shown)


def shown_text(passage: Passage) -> str:
    """Return what a passage says, without the context lines of the text that was sent."""
    return passage.text if passage.sent_text_id is None else without_context(passage.text)


def _last_part(uri: str | None) -> str | None:
    """The name of a file that no sidecar of ours describes."""
    return (uri or "").rpartition("/")[2] or None


def _text_name(passage: Passage) -> TextName | None:
    """Return the text that it is looked up in; None where that has neither pages nor headings."""
    user_id, catalog_id = _text(passage, tenancy.USER), _text(passage, tenancy.CATALOG)
    document_id = _text(passage, tenancy.DOCUMENT)
    if passage.text_id is None or not has_places(_text(passage, "filename")) or not document_id:
        return None
    return TextName(user_id, catalog_id, document_id, passage.text_id)


def _places_of(names: Collection[TextName], place_maps: PlaceMapReader) -> dict[TextName, Places]:
    if not names:
        return {}
    ordered = sorted(names, key=lambda name: name.key)
    if len(ordered) == 1:
        found = [_places(ordered[0], place_maps)]
    else:
        with ThreadPoolExecutor(min(len(ordered), _MAX_PARALLEL)) as threads:
            found = list(threads.map(lambda name: _places(name, place_maps), ordered))
    return {name: places for name, places in zip(ordered, found, strict=True) if places is not None}


def _places(name: TextName, place_maps: PlaceMapReader) -> Places | None:
    try:
        return place_maps.get(name)
    except Exception:
        # Whatever ails an adapter, an answer without a place is better than none for want of one.
        logger.warning("place map unreadable", exc_info=True)
        return None


def _text(passage: Passage, attribute: str) -> str:
    value = passage.attributes.get(attribute)
    return value if isinstance(value, str) else ""


class PlaceMapCache:
    """
    A `PlaceMaps` in front of another: the maps that were used last, kept between the searches that
    one process serves, for a short while.

    Short, because a text that is removed should be forgotten. That there is no map is remembered
    for a moment, since the text may be written anew; an error is not.
    """

    def __init__(
        self,
        place_maps: PlaceMapReader,
        *,
        size: int = 32,
        seconds: float = 60,
        seconds_of_none: float = 2,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._place_maps = place_maps
        self._kept: TTLCache[TextName, Places] = TTLCache(size, seconds, timer=now)
        self._none: TTLCache[TextName, None] = TTLCache(size, seconds_of_none, timer=now)
        self._lock = Lock()

    def get(self, name: TextName) -> Places | None:
        with self._lock, suppress(KeyError):
            return self._kept[name]
        with self._lock, suppress(KeyError):
            return self._none[name]
        places = self._place_maps.get(name)  # outside the lock: others needn't wait for S3
        with self._lock:
            if places is None:
                self._none[name] = None
            else:
                self._kept[name] = places
        return places


def located(
    proven: Iterable[Passage], *, catalog_of: CatalogOf, uri_of: Callable[[str], str]
) -> tuple[Passage, ...]:
    """
    With the URIs of their objects, as far as there are any; `uri_of` makes one of a key.

    A knowledge base tells the uploaded object of a passage only if an ingestion job has crawled it.
    What was ingested directly has an id of ours, or the URI of our text; catalog and file name say
    the rest. These are attributes, so only what is proven is located: a passage's URI is what tells
    whose it is.
    """

    def key_of(passage: Passage) -> str | None:
        catalog_id = passage.attributes.get(tenancy.CATALOG)
        filename = passage.attributes.get("filename")
        if not isinstance(catalog_id, str) or not isinstance(filename, str):
            return None
        catalog = catalog_of(catalog_id)
        return None if catalog is None else catalog.s3_prefix + filename

    def of(passage: Passage) -> Passage:
        is_located = passage.uri is not None and tenancy.text_of(passage) is None
        key = None if is_located else key_of(passage)
        return passage if key is None else replace(passage, uri=uri_of(key))

    return tuple(map(of, proven))
