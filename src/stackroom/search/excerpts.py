"""
What is shown of the passages that were found: nothing twice, and no piece of a whole.

A store cuts a document into passages that overlap. Two of one document that overlap or touch become
one excerpt again, if both are cited by the same page or heading. What several documents say in the
same words is shown once, with all of them as its sources; what another document says in nearly the
same words comes behind everything else. A table of contents has the words of many
questions and the answer to none, so it comes last.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stackroom.documents.passages import Passage, PlaceMapReader
from stackroom.search.citations import Cited, Source, cited, is_navigation

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

    `text` is all that they say, `shown` the same without context lines. Other
    documents that say exactly this are `other_sources`.
    """

    passage: Passage  # the best of them
    text: str
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
        Excerpt(passage=passage, text=passage.text, cited=each)
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
    whole = replace(known.passage, text=text, raw_text="")
    return replace(known, text=text, cited=cited([whole], place_maps)[0], count=known.count + 1)


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
