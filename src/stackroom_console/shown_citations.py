"""
Passages under an answer, as Ask, chats and other pages show them; `templates/parts/citation.html`
makes HTML of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, NamedTuple
from urllib.parse import quote

from stackroom.access import tenancy
from stackroom.model.formats import extension_of
from stackroom.model.passages import Passage, PlaceMapReader
from stackroom.model.records import Catalog, with_gaps
from stackroom.search.excerpts import Source, sources_of
from stackroom.search.question_words import MarkedPiece, marked_pieces
from stackroom.tools.texts import scores
from stackroom_console.messages import gettext
from stackroom_console.text_blocks import unwrapped

# Of a passage's first and last words, characters in the address of a document's text. An address
# stays short even where each takes nine (%E4%BD%A0): API Gateway bounds it. `located` looks for
# so many first words, and the passage ends with the last ones.
_FIRST, _LAST = 80, 50
_FIRST_WORDS = 12
# Characters of a passage that is shown whole, and of what is shown of a longer one.
_SHORT = 320
_SENTENCE = re.compile(
    r".+?(?:[.!?…][\"'”’)\]]*(?=\s)|[。！？][」』”’）]*|\n\s*\n|\Z)\s*", re.DOTALL
)
_LINE = re.compile(r".+?(?:\n+|\Z)", re.DOTALL)
_NUMBER = re.compile(r"\[(\d{1,4})\]")


@dataclass(frozen=True, kw_only=True)
class Stands:
    """
    A passage's place. The addresses are None where the file is not this user's to open: `href`
    shows the passage on a page of ours, `save_href` saves the file, and `pdf_href` has the browser
    show it at the page, if it is a PDF.
    """

    filename: str
    place: str
    catalog: str
    href: str | None = None
    save_href: str | None = None
    pdf_href: str | None = None


@dataclass(frozen=True, kw_only=True)
class Citation:
    """
    A cited passage. `anchor` is its id on the page. `stands` is the first source, and then others
    with the same text. `score` is empty where the numbers wouldn't be in order. `heart` is the
    sentence that matters, or all of a short text. `why` explains its rank, as far as that is known;
    `gaps` say what of the first source's document can't be found.
    """

    number: int
    anchor: str
    stands: tuple[Stands, ...]
    score: str
    before: tuple[MarkedPiece, ...]
    heart: tuple[MarkedPiece, ...]
    after: tuple[MarkedPiece, ...]
    why: str = ""
    gaps: str = ""

    @property
    def is_folded(self) -> bool:
        return bool(self.before or self.after)

    @property
    def label(self) -> str:
        """The text of its chip for people who can't see where that leads."""
        first = self.stands[0]
        return ", ".join(each for each in (first.filename, first.place) if each)


@dataclass(frozen=True, kw_only=True)
class FoundPassage:
    """
    A passage to be shown: the first of the `sources` is its own, and the `gaps` are of its
    document. `claim` is the part of an answer that stands on it, by
    `claims_by_number`.
    """

    sources: Sequence[Source]
    text: str
    score: float
    why: str = ""
    claim: str = ""
    gaps: tuple[str, ...] = ()


def claims_by_number(answer: str) -> dict[int, str]:
    """Return the text before each number where it comes first, back to the number before."""
    claims, last = dict[int, str](), ""
    texts = _NUMBER.split(answer)
    for text, number in zip(texts[::2], map(int, texts[1::2]), strict=False):
        last = text if text.strip(" .") else last
        claims.setdefault(number, last)
    return claims


def citations_of(
    question: str,
    found: Sequence[FoundPassage],
    catalogs: Mapping[str, Catalog],
    place_maps: PlaceMapReader,
    *,
    anchors: str = "passage",
) -> tuple[Citation, ...]:
    """
    Return citations, numbered from 1 in the order given. `catalogs` are the reader's own, by id;
    `anchors` is what their ids begin with, where a page shows several such lists. A PDF is opened
    at the page of the sentence that matters, if its place map in `place_maps` has that.
    """
    labels = scores([each.score for each in found])
    folded = [_folded(question, each) for each in found]
    pages = _pages(found, folded, catalogs, place_maps)
    return tuple(
        Citation(
            number=number,
            anchor=f"{anchors}-{number}",
            stands=tuple(
                _stands(
                    replace(source, page=pages.get((number, source), source.page)),
                    catalogs.get(source.catalog_id or ""),
                    each.text,
                )
                for source in each.sources
            ),
            score=score,
            before=tuple(_between(shown.pieces, 0, shown.begin)),
            heart=tuple(_between(shown.pieces, shown.begin, shown.end)),
            after=tuple(_between(shown.pieces, shown.end, len(shown.text))),
            why=each.why,
            gaps=with_gaps(each.gaps),
        )
        for number, (each, shown, score) in enumerate(zip(found, folded, labels, strict=True), 1)
    )


def source_of(kept: Mapping[str, Any]) -> Source:
    """Return the source of a mapping that a run keeps; an older one may lack later fields."""
    defaults = (None if each.default is MISSING else each.default for each in fields(Source))
    known = zip(fields(Source), defaults, strict=True)
    return Source(**{each.name: kept.get(each.name, default) for each, default in known})


def place_label(source: Source) -> str:
    parts = []
    if source.page is not None:
        first, last = source.page_first or source.page, source.page_last or source.page
        if first == last:
            parts.append(gettext("page %(page)s") % {"page": source.page})
        else:
            parts.append(gettext("pages %(first)s to %(last)s") % {"first": first, "last": last})
    if source.section:
        parts.append(gettext("section %(name)s") % {"name": source.section})
    return ", ".join(parts)


def text_path(
    catalog_id: str,
    document_id: str,
    passage: str = "",
    *,
    version: str | None = None,
    page: int | None = None,
) -> str:
    """
    The address of a document's text on a page of ours, in that version of the file, and at the
    passage if one is given; of a PDF, beside that page.
    """
    words = " ".join(passage.split())
    first = " ".join(words[:_FIRST].split(" ")[:_FIRST_WORDS])
    last = words[len(first) :][-_LAST:]
    at_page = str(page) if page else ""
    asked = {"from": first, "to": last, "page": at_page, "version": version or ""}
    queried = "&".join(f"{name}={quote(each, safe='')}" for name, each in asked.items() if each)
    at = f"{queried and '?'}{queried}{words and '#passage'}"
    return f"/catalogs/{catalog_id}/documents/{document_id}/text{at}"


class _Folded(NamedTuple):
    """A text as it is shown, what is marked in it, and where its heart begins and ends."""

    text: str
    pieces: Sequence[MarkedPiece]
    begin: int
    end: int


def _folded(question: str, found: FoundPassage) -> _Folded:
    is_pdf = extension_of(found.sources[0].filename or "") == "pdf"
    text = unwrapped(found.text.split("\n")) if is_pdf else found.text
    pieces = marked_pieces(question, text)
    asked = marked_pieces(found.claim, text) if found.claim else pieces
    return _Folded(text, pieces, *_heart(text, asked))


def _pages(
    found: Sequence[FoundPassage],
    folded: Sequence[_Folded],
    catalogs: Mapping[str, Catalog],
    place_maps: PlaceMapReader,
) -> dict[tuple[int, Source], int]:
    """
    Return the page of the sentence, by a passage's number and source, for passages of several
    pages.
    """
    asked = {
        (number, source): Passage(
            text=shown.text[shown.begin : shown.end],
            score=each.score,
            attributes={
                tenancy.USER: catalogs[source.catalog_id].user_id,
                tenancy.CATALOG: source.catalog_id,
                tenancy.DOCUMENT: source.document_id,
                "filename": source.filename,
            },
            text_id=source.text_id,
        )
        for number, (each, shown) in enumerate(zip(found, folded, strict=True), 1)
        for source in each.sources
        if source.page_first != source.page_last
        and source.catalog_id is not None
        and source.catalog_id in catalogs
    }
    placed = zip(asked, sources_of(list(asked.values()), place_maps), strict=True)
    return {
        (number, source): at.page
        for (number, source), at in placed
        if at.page and (source.page_first or 0) <= at.page <= (source.page_last or 0)
    }


def _stands(source: Source, catalog: Catalog | None, text: str) -> Stands:
    filename = source.filename or gettext("an unnamed file")
    place = place_label(source)
    if catalog is None or source.document_id is None:
        name = gettext("shared with you") if catalog is None else catalog.name
        return Stands(filename=filename, place=place, catalog=name)
    named_by, version = (catalog.catalog_id, source.document_id), source.version_id
    file = f"/catalogs/{catalog.catalog_id}/documents/{source.document_id}/file"
    of_version = f"version={quote(version, safe='')}" if version else ""
    is_pdf = extension_of(filename) == "pdf"
    # Browsers' PDF viewers open it there: RFC 8118, 3.
    at = f"#page={source.page}" if source.page else ""
    return Stands(
        filename=filename,
        place=place,
        catalog=catalog.name,
        href=text_path(*named_by, text, version=version, page=source.page if is_pdf else None),
        save_href=f"{file}?save{of_version and '&'}{of_version}",
        pdf_href=f"{file}{of_version and '?'}{of_version}{at}" if is_pdf else None,
    )


def _heart(text: str, asked: Iterable[MarkedPiece]) -> tuple[int, int]:
    """
    Return the bounds of the sentence with the most words that are marked in `asked`, or of the
    first; of all, if the text is short.
    """
    if len(text) <= _SHORT:
        return 0, len(text)
    marks = list(_marks(asked))

    def telling(span: tuple[int, int]) -> tuple[int, int]:
        within = [word for at, word in marks if span[0] <= at < span[1]]
        return len(set(within)), len(within)

    return max(_sentences(text), key=telling)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """
    Yield the bounds of each sentence, without white space around it; a long one is split at lines.
    """
    for sentence in _SENTENCE.finditer(text):
        parts = [sentence] if len(sentence[0]) <= _SHORT else _LINE.finditer(sentence[0])
        offset = 0 if parts == [sentence] else sentence.start()
        for part in parts:
            words = part[0].strip()
            if words:
                begin = offset + part.start() + part[0].index(words[0])
                yield begin, begin + min(len(words), 2 * _SHORT)


def _marks(pieces: Iterable[MarkedPiece]) -> Iterator[tuple[int, str]]:
    at = 0
    for piece in pieces:
        if piece.is_marked:
            yield at, piece.text.casefold()
        at += len(piece.text)


def _between(pieces: Iterable[MarkedPiece], begin: int, end: int) -> Iterator[MarkedPiece]:
    at = 0
    for piece in pieces:
        cut = piece.text[max(0, begin - at) : max(0, end - at)]
        if cut:
            yield MarkedPiece(cut, is_marked=piece.is_marked)
        at += len(piece.text)
