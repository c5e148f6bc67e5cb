"""
Excerpts: passages with their places, joined where they overlap, and without repeats.

A store cuts a document into passages that overlap. Two passages of one document that overlap or
touch are joined into one excerpt if both have the same page or heading. Text that several documents
share is shown once, with all of them as its sources; a passage that nearly repeats another
document's comes after all others. A table of contents has the words of many questions but
answers none, so it comes last.
"""

import logging
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from threading import Lock

from cachetools import TTLCache

from stackroom.access import tenancy
from stackroom.concurrency import run_in_threads
from stackroom.model.formats import extension_of, has_places
from stackroom.model.keys import TextName
from stackroom.model.passages import Passage, Place, PlaceMapReader, Places
from stackroom.text.toc_detection import looks_like_navigation

logger = logging.getLogger(__name__)

_TABLES = {"csv", "xlsx"}
_NOWHERE = Place()


@dataclass(frozen=True, kw_only=True)
class Source:
    """
    The source of a passage: its document, page and section.

    `page` is the page with most of the passage; it begins on `page_first` and ends on `page_last`.
    The store's page number is used if our place map of the document has none. `knowledge_base_id`
    is None if the knowledge base is not named.
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
    version_id: str | None = None  # of the file; is_earlier if it has been replaced since
    is_earlier: bool = False


@dataclass(frozen=True, kw_only=True)
class Cited:
    """A passage with its source and its place in our text."""

    source: Source
    place: Place


def sources_of(passages: Sequence[Passage], place_maps: PlaceMapReader) -> tuple[Source, ...]:
    """Return the source of each passage."""
    return tuple(each.source for each in cited(passages, place_maps))


def cited(passages: Sequence[Passage], place_maps: PlaceMapReader) -> tuple[Cited, ...]:
    """Return each passage with its source and place, as far as store or place map know them."""
    names = {name for passage in passages if (name := _text_name(passage)) is not None}
    places = _places_of(names, place_maps)
    return tuple(_cited(passage, places) for passage in passages)


def is_navigation(passage: Passage) -> bool:
    """
    Return True if the text of a passage looks like a table of contents or an index.

    A table of numbers may look like one, so passages of table files never count as navigation.
    """
    is_of_tables = extension_of(_text(passage, "filename")) in _TABLES
    return not is_of_tables and looks_like_navigation(passage.text)


def _cited(passage: Passage, known: Mapping[TextName, Places]) -> Cited:
    document_id = _text(passage, "document_id")
    # The text that we ingested is not a file of the owner's, so no URI cites it.
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
    return Cited(source=source, place=place)


def _last_part(uri: str | None) -> str | None:
    """Return the file name of an object without a sidecar of ours."""
    return (uri or "").rpartition("/")[2] or None


def _text_name(passage: Passage) -> TextName | None:
    """Return the name of the text whose place map to read; None if it has no pages or headings."""
    user_id, catalog_id = _text(passage, tenancy.USER), _text(passage, tenancy.CATALOG)
    document_id = _text(passage, tenancy.DOCUMENT)
    if passage.text_id is None or not has_places(_text(passage, "filename")) or not document_id:
        return None
    return TextName(user_id, catalog_id, document_id, passage.text_id)


def _places_of(names: Collection[TextName], place_maps: PlaceMapReader) -> dict[TextName, Places]:
    ordered = sorted(names, key=lambda name: name.key)
    found = run_in_threads([partial(_places, name, place_maps) for name in ordered])
    return {name: places for name, places in zip(ordered, found, strict=True) if places is not None}


def _places(name: TextName, place_maps: PlaceMapReader) -> Places | None:
    try:
        return place_maps.get(name)
    except Exception:
        # An answer without page numbers is better than no answer.
        logger.warning("place map unreadable", exc_info=True)
        return None


def _text(passage: Passage, attribute: str) -> str:
    value = passage.attributes.get(attribute)
    return value if isinstance(value, str) else ""


class PlaceMapCache:
    """
    A `PlaceMapReader` that caches another's maps for a short time, because a removed text must be
    forgotten.
    """

    def __init__(
        self,
        place_maps: PlaceMapReader,
        *,
        size: int = 32,
        seconds: float = 60,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._place_maps = place_maps
        self._cached: TTLCache[TextName, Places] = TTLCache(size, seconds, timer=now)
        self._lock = Lock()

    def get(self, name: TextName) -> Places | None:
        with self._lock:
            cached_places = self._cached.get(name)
        if cached_places is not None:
            return cached_places
        places = self._place_maps.get(name)  # outside the lock, so that others don't wait for S3
        if places is not None:
            with self._lock:
                self._cached[name] = places
        return places


CHARACTERS_A_TOKEN = 4


def estimated_tokens(text: str) -> int:
    """
    Return about how many tokens a language model counts: a quarter of the characters, rounded up.

    AWS gives this rule of thumb for English. It is applied to every text, so that a caller can
    reproduce the count. Chinese, Japanese and Korean text has about one token a character, so a
    model may count four times as many.
    """
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)


_LEAST_OVERLAP = 40  # characters that prove by themselves that one passage continues in another
_MOST_MERGED = 3  # passages in an excerpt, so that readers find what is cited
# Three of Bedrock's default passages stay below this. Larger ones, such as parents of hierarchical
# chunks, would let one excerpt fill all of an answer's context.
_MOST_TOKENS = 1_500
_FOUND_PER_EXCERPT = 6  # passages, among which tables of contents come last
_NEARLY_THE_SAME = 0.85  # of the words of both
_EXAMINED_PER_EXCERPT = 2  # passages: some are merged, some come last


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """
    One or several passages of a document that belong together.

    `text` is all of their text, in `tokens` tokens. `other_sources` are other documents with
    exactly this text.
    """

    passage: Passage  # the best of them
    text: str
    tokens: int
    cited: Cited
    other_sources: tuple[Source, ...] = ()
    count: int = 1

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the text, computed once: each excerpt is compared with all better ones."""
        return tuple(self.text.split())

    @cached_property
    def document(self) -> str | None:
        return _document(self.source)

    @property
    def source(self) -> Source:
        return self.cited.source


def excerpts_of(
    passages: Sequence[Passage], place_maps: PlaceMapReader, *, limit: int
) -> tuple[Excerpt, ...]:
    """
    Return at most `limit` excerpts, in the order of the best passage of each.

    Passages that follow soon after the last one can still extend these excerpts, but don't become
    excerpts of their own. Those far behind were found for other reasons and are ignored.
    """
    # Check the text first, because that needs no place map; a map may show more.
    candidates = sorted(passages[: _FOUND_PER_EXCERPT * limit], key=is_navigation)
    examined = candidates[: _EXAMINED_PER_EXCERPT * limit]
    found = [
        Excerpt(
            passage=passage, text=passage.text, tokens=estimated_tokens(passage.text), cited=each
        )
        for passage, each in zip(examined, cited(examined, place_maps), strict=True)
    ]
    found.sort(key=lambda excerpt: excerpt.cited.place.is_navigation)
    excerpts: list[Excerpt] = []
    repetitions: list[Excerpt] = []
    for each in found:
        if _merge_into(each, excerpts, place_maps):
            continue
        if any(_is_nearly_the_same(each, known) for known in excerpts):
            repetitions.append(each)
        elif len(excerpts) < limit:
            excerpts.append(each)
    return tuple([*excerpts, *repetitions][:limit])


def source_of_beginning(excerpt: Excerpt, beginning: str, place_maps: PlaceMapReader) -> Source:
    """
    Return the source of the beginning of an excerpt if the whole spans three pages or more.

    A document that is a single passage is such an excerpt; pages that aren't shown would mislead.
    """
    place = excerpt.cited.place
    if (place.page_last or 0) - (place.page_first or 0) < 2:
        return excerpt.source
    source = cited([replace(excerpt.passage, text=beginning, raw_text="")], place_maps)[0].source
    return excerpt.source if source.page is None and source.section is None else source


def _is_nearly_the_same(one: Excerpt, other: Excerpt) -> bool:
    """Return True if two documents have almost the same words, as yearly reports do."""
    if one.document == other.document:
        return False
    words, others = frozenset(one.words), frozenset(other.words)
    return len(words & others) >= _NEARLY_THE_SAME * len(words | others)


def _merge_into(found: Excerpt, excerpts: list[Excerpt], place_maps: PlaceMapReader) -> bool:
    """Merge a passage into an excerpt that has or continues its text; return False if none does."""
    for at, known in enumerate(excerpts):
        both = _united(known, found, place_maps)
        if both is not None:
            excerpts[at] = both
            return True
    return False


def _united(known: Excerpt, found: Excerpt, place_maps: PlaceMapReader) -> Excerpt | None:
    if known.words == found.words:
        return _with_source(known, found.source)
    if known.document is None or known.document != found.document:
        return None
    if found.text in known.text:
        return known
    if _cites(known) != _cites(found):
        return None
    text = _joined(known, found) or _joined(found, known)
    if text is None or known.count == _MOST_MERGED or estimated_tokens(text) > _MOST_TOKENS:
        return None
    return replace(
        known,
        text=text,
        tokens=estimated_tokens(text),
        cited=cited([replace(known.passage, text=text, raw_text="")], place_maps)[0],
        count=known.count + 1,
    )


def _cites(excerpt: Excerpt) -> tuple[int | None, str | None]:
    """Return page and heading. An excerpt can name only one page or section."""
    return excerpt.source.page, excerpt.source.section


def _document(source: Source) -> str | None:
    """Return a key of the document: in other knowledge bases than ours, its location."""
    return source.document_id or source.uri


def _with_source(known: Excerpt, source: Source) -> Excerpt:
    documents = {_document(each) for each in (known.source, *known.other_sources)}
    if _document(source) in documents:
        return known
    return replace(known, other_sources=(*known.other_sources, source))


def _joined(first: Excerpt, second: Excerpt) -> str | None:
    """Return the text of both, if the second begins within the first or where it ends."""
    shared = _shared(first.text, second.text)
    before, after = first.cited.place.span, second.cited.place.span
    if before is None or after is None:
        return first.text + second.text[shared:] if shared >= _LEAST_OVERLAP else None
    if not before[0] < after[0] <= before[1] < after[1]:
        return None
    if shared:
        return first.text + second.text[shared:]
    return f"{first.text}\n{second.text}" if after[0] == before[1] else None


def _shared(first: str, second: str) -> int:
    """Return how many characters at the end of the first are the beginning of the second."""
    longest = min(len(first), len(second)) - 1
    return next((n for n in range(longest, 0, -1) if first.endswith(second[:n])), 0)
