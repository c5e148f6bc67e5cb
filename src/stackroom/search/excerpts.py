"""
Where passages stand, and what is shown of them: nothing twice, and no piece of a whole.

A store cuts a document into passages that overlap. Two of one document that overlap or touch become
one excerpt again, if both are cited by the same page or heading. What several documents say in the
same words is shown once, with all of them as its sources; what another document says in nearly the
same words comes behind everything else. A table of contents has the words of many
questions and the answer to none, so it comes last.
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
from stackroom.concurrency import in_threads
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
    """A passage's source and its place."""

    source: Source
    place: Place


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
    return Cited(source=source, place=place)


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
    ordered = sorted(names, key=lambda name: name.key)
    found = in_threads([partial(_places, name, place_maps) for name in ordered])
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
    one process serves, for a short while, because a text that is removed should be forgotten.
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
        self._kept: TTLCache[TextName, Places] = TTLCache(size, seconds, timer=now)
        self._lock = Lock()

    def get(self, name: TextName) -> Places | None:
        with self._lock:
            kept = self._kept.get(name)
        if kept is not None:
            return kept
        places = self._place_maps.get(name)  # outside the lock: others needn't wait for S3
        if places is not None:
            with self._lock:
                self._kept[name] = places
        return places


CHARACTERS_A_TOKEN = 4


def estimated_tokens(text: str) -> int:
    """
    About how many tokens a language model makes of it, without knowing the model: a quarter of its
    characters, rounded up.

    That is the rule of thumb that AWS gives for English, and it is taken for every character, so
    that anybody can count an answer again. Of Chinese, Japanese and Korean text, where a character
    is about a token, a model makes up to four times as many.
    """
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)


_LEAST_OVERLAP = 40  # characters that show by themselves that one passage goes on in another
_MOST_MERGED = 3  # passages in an excerpt: what is cited should be easy to find
# Nor do they grow beyond this: three of Bedrock's default passages do not, and of larger ones, as
# parents of hierarchical chunks are, one excerpt would take all of an answer's context.
_MOST_TOKENS = 1_500
_CANDIDATES = 6  # passages for each excerpt asked for, among which tables of contents come last
_NEARLY_THE_SAME = 0.85  # of the words of both
_LOOKED_AT = 2  # passages for each excerpt asked for: some are merged, some come last


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """
    One or several passages of a document that belong together.

    `text` is all that they say, in `tokens`. Other documents that say exactly this are
    `other_sources`.
    """

    passage: Passage  # the best of them
    text: str
    tokens: int
    cited: Cited
    other_sources: tuple[Source, ...] = ()
    count: int = 1

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Made once: each excerpt is compared with all that are better."""
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
    At most `limit` of them, in the order of the best passage of each.

    Passages that come soon behind the last of them still complete them, and are shown by no other
    way: a few are looked at, since what is far behind was found for other reasons.
    """
    # By its text first, for that takes no place map; a map may tell more.
    candidates = sorted(passages[: _CANDIDATES * limit], key=is_navigation)
    looked_at = candidates[: _LOOKED_AT * limit]
    found = [
        Excerpt(
            passage=passage, text=passage.text, tokens=estimated_tokens(passage.text), cited=each
        )
        for passage, each in zip(looked_at, cited(looked_at, place_maps), strict=True)
    ]
    found.sort(key=lambda excerpt: excerpt.cited.place.is_navigation)
    excerpts: list[Excerpt] = []
    repetitions: list[Excerpt] = []
    for each in found:
        if _is_taken_up(each, excerpts, place_maps):
            continue
        if any(_is_nearly_the_same(each, known) for known in excerpts):
            repetitions.append(each)
        elif len(excerpts) < limit:
            excerpts.append(each)
    return tuple([*excerpts, *repetitions][:limit])


def source_of_beginning(excerpt: Excerpt, beginning: str, place_maps: PlaceMapReader) -> Source:
    """
    Return where the beginning of an excerpt stands, if all of it is over three pages or more.

    So is a document that is one passage: the pages of what isn't shown would mislead.
    """
    place = excerpt.cited.place
    if (place.page_last or 0) - (place.page_first or 0) < 2:
        return excerpt.source
    source = cited([replace(excerpt.passage, text=beginning, raw_text="")], place_maps)[0].source
    return excerpt.source if source.page is None and source.section is None else source


def _is_nearly_the_same(one: Excerpt, other: Excerpt) -> bool:
    """Whether two documents say it in almost the same words, as last year's report does."""
    if one.document == other.document:
        return False
    words, others = frozenset(one.words), frozenset(other.words)
    return len(words & others) >= _NEARLY_THE_SAME * len(words | others)


def _is_taken_up(found: Excerpt, excerpts: list[Excerpt], place_maps: PlaceMapReader) -> bool:
    """Whether one of the excerpts says it, or does from now on."""
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
    """Page and heading. Of two pages or sections in one excerpt, only one could be told."""
    return excerpt.source.page, excerpt.source.section


def _document(source: Source) -> str | None:
    """Other knowledge bases than ours know documents by where they lie alone."""
    return source.document_id or source.uri


def _with_source(known: Excerpt, source: Source) -> Excerpt:
    documents = {_document(each) for each in (known.source, *known.other_sources)}
    if _document(source) in documents:
        return known
    return replace(known, other_sources=(*known.other_sources, source))


def _joined(first: Excerpt, second: Excerpt) -> str | None:
    """The text of both, if the second goes on where the first ends, or begins within it."""
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
    """How many characters at the end of the first are those at the beginning of the second."""
    longest = min(len(first), len(second)) - 1
    return next((n for n in range(longest, 0, -1) if first.endswith(second[:n])), 0)
