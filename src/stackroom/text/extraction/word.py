"""
DOCX: what people see of the document, with headers, footers, notes and what is embedded as text.

Headers stand above the text; footers, footnotes and endnotes below it, where no heading is theirs:
none is told for them.
"""

import email
import posixpath
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from email.message import Message
from itertools import pairwise
from xml.parsers import expat

from stackroom.errors import Unreadable
from stackroom.text.extraction import plain, webpage
from stackroom.text.extraction.archive import DAMAGE, chunks, damaged, opened
from stackroom.text.extraction.blocks import Block, joined
from stackroom.text.extraction.ooxml import Attributes, parse, relations
from stackroom.text.extraction.page import Found, Page, hidden_words, unpaged
from stackroom.text.extraction.word_numbering import Numbering
from stackroom.text.extraction.word_story import Section, Story, StoryParts
from stackroom.text.extraction.word_styles import (
    MAX_PART_BYTES,
    WordStyles,
    attribute,
    is_on,
)

FORMAT = "DOCX"
_MOVED = b"moveFromRangeStart"
_MAX_EMBEDDED = 100  # documents, charts and the like; each is read into memory
_MAX_DEPTH = 50  # of a chart's series
_LONGEST_LIST = 200  # characters
_WORDS_BESIDE_PICTURES = 30  # for each large one: with fewer, the text is in the pictures


def read(body: bytes) -> tuple[Page, ...]:
    with opened(body, FORMAT) as archive:
        try:
            document = _Document(archive, _main_part(archive))
            return unpaged(*document.text(), missing=document.missing)
        except (KeyError, expat.ExpatError) as error:
            raise Unreadable(damaged(FORMAT)) from error


def _main_part(archive: zipfile.ZipFile) -> str:
    """The document's part by the package's own relations: word/document.xml only by habit."""
    found = [each for kind, each in relations(archive, "").values() if kind == "officeDocument"]
    if not found or found[0].startswith("xl/"):
        raise Unreadable("the file is not a DOCX, whatever its name says")
    return found[0]


@dataclass
class _Document:
    """One that is being read, and what was found in it beside its text."""

    archive: zipfile.ZipFile
    main: str
    seen: StoryParts = field(default_factory=StoryParts)
    unread: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)
    embedded: int = 0

    def __post_init__(self) -> None:
        self.relations = relations(self.archive, self.main)
        self.styles = WordStyles()
        if not self._gathers("styles", self.styles):
            self.styles = WordStyles()
        self.numbering = Numbering(self.styles)
        if not self._gathers("numbering", self.numbering):
            self.numbering = Numbering(self.styles)

    def text(self) -> tuple[str, list[Found]]:
        self.seen.shows_background = self._is_set("displayBackgroundShape")
        story = self._story(self.main)
        above, below = self._running(self.seen.sections)
        text, found = joined([*above, *story.blocks])
        after, _ = joined([*below, *self._notes()])
        if after:
            found.append((len(text) + 1, None))
        text = "\n".join(filter(None, [text, after]))
        self.missing += self._missing(len(text.split()))
        return text, found

    def _missing(self, words: int) -> Iterator[str]:
        """
        Yield sentences about what people see and the text lacks, and about what is left out of it.
        """
        yield from hidden_words(self.seen.hidden_words)
        if part := self._part("comments"):
            count = Counter[str]()
            parse(self.archive, part, start=lambda name, _: count.update([name]))
            if comments := count["comment"]:
                yield f"{_many(comments, 'comment')} left out"
        for what, number in sorted(self.unread.items()):
            yield f"{_many(number, what)} not read"
        if symbols := self.seen.symbols:
            yield f"{_many(symbols, 'symbol')} not read"
        if objects := self.seen.objects.total():
            programs = ", ".join(sorted(filter(None, self.seen.objects)))[:_LONGEST_LIST]
            yield f"{_many(objects, 'embedded object')} not read" + (programs and f" ({programs})")
        if words < _WORDS_BESIDE_PICTURES * self.seen.pictures:
            pictures = _many(self.seen.pictures, "large picture")
            yield f"{pictures} not read, beside which there is hardly any text"

    # Parts, found by the document's relations; by their names in one whose relations are lost.

    def _part(self, kind: str) -> str | None:
        folder = posixpath.dirname(self.main)
        targets = [target for each, target in self.relations.values() if each == kind]
        names = [*targets, posixpath.join(folder, f"{kind}.xml")]
        return next((name for name in names if name in self.archive.NameToInfo), None)

    def _gathers(self, kind: str, into: WordStyles | Numbering) -> bool:
        """Never raises: a document whose styles are broken still has its text."""
        part = self._part(kind)
        if part is None or self.archive.getinfo(part).file_size > MAX_PART_BYTES:
            return False
        try:
            parse(self.archive, part, start=into.start, end=into.end)
        except (KeyError, expat.ExpatError, Unreadable, *DAMAGE):
            return False
        return True

    def _story(self, part: str) -> Story:
        own = self.relations if part == self.main else relations(self.archive, part)

        def embedded(kind: str, reference: str) -> list[Block]:
            return self._embedded(kind, own.get(reference, ("", ""))[1])

        moved = frozenset(_moved(self.archive, part))
        story = Story(self.styles, self.numbering, embedded, moved=moved, seen=self.seen)
        parse(self.archive, part, start=story.start, end=story.end, characters=story.characters)
        story.finish()
        return story

    # Headers and footers, and notes.

    def _running(self, sections: Sequence[Section]) -> tuple[list[Block], list[Block]]:
        """Return headers and footers that pages have, each line of them once."""
        kinds = ["first", "default", *["even"] * self._is_set("evenAndOddHeaders")]
        references: dict[tuple[str, str], str] = {}
        shown: dict[str, dict[str, None]] = {"headerReference": {}, "footerReference": {}}
        for section in sections:
            references |= section.references  # one that has none has those of the one before
            for where, parts in shown.items():
                for kind in kinds[not section.has_first_page :]:
                    if target := self.relations.get(references.get((where, kind), "")):
                        parts[target[1]] = None
        lines = set[str]()
        above, below = (list(self._new_lines(parts, lines)) for parts in shown.values())
        return above, below

    def _is_set(self, setting: str) -> bool:
        found = list[bool]()

        def start(name: str, attributes: Attributes) -> None:
            if name == setting:
                found.append(is_on(attributes))

        if part := self._part("settings"):
            parse(self.archive, part, start=start)
        return found[-1:] == [True]

    def _new_lines(self, parts: Iterable[str], known: set[str]) -> Iterator[Block]:
        for part in parts:
            if part not in self.archive.NameToInfo:
                continue
            for block in self._story(part).blocks:
                for line in block.text.split("\n"):
                    words = "".join(filter(str.isalnum, line))
                    if words and words not in known:
                        known.add(words)
                        yield Block(line)

    def _notes(self) -> Iterator[Block]:
        """Those that the text refers to, in its order."""
        for kind in ("footnote", "endnote"):
            part = self._part(f"{kind}s")
            ids = dict.fromkeys(note for each, note in self.seen.notes if each == kind)
            if part and ids:
                notes = self._story(part).notes
                yield from (block for note in ids for block in notes.get(note, []))

    # What is embedded.

    def _embedded(self, kind: str, part: str) -> list[Block]:
        self.embedded += 1
        if self.embedded <= _MAX_EMBEDDED and part in self.archive.NameToInfo:
            try:
                if kind == "altChunk":
                    return self._embedded_document(part)
                gathered = _Drawn()
                parse(
                    *(self.archive, part),
                    start=gathered.start,
                    end=gathered.end,
                    characters=gathered.characters,
                )
                if kind == "chart":
                    self.unread[kind] += 1  # beyond its titles
                return gathered.blocks()
            except (expat.ExpatError, Unreadable):
                pass
        names = {**dict.fromkeys(("altChunk", "subDoc"), "embedded document"), "chart": "chart"}
        self.unread[names.get(kind, "diagram")] += 1
        return []

    def _embedded_document(self, part: str) -> list[Block]:
        body = b"".join(chunks(self.archive, part))
        if (message := email.message_from_bytes(body)).is_multipart() or message.get(
            "MIME-Version"
        ):
            pages = [
                page
                for each in message.walk()
                if each.get_content_type() == "text/html"
                for page in webpage.read(_payload(each))
            ]
        elif body.startswith((b"PK", b"{\\rtf")):
            pages = []
        else:
            is_page = b"<" in body[:1_000]
            pages = list(webpage.read(body) if is_page else plain.read(body))
        if not pages:
            raise Unreadable("no reader for it")
        self.missing += [sentence for page in pages for sentence in page.missing]
        return [block for page in pages for block in _blocks_of(page)]


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s are' if count > 1 else ' is'}"


def _moved(archive: zipfile.ZipFile, part: str) -> Iterator[str]:
    """Yield the ids of ranges that text was moved from; of those that end, or all would be gone."""
    before = b""
    for chunk in chunks(archive, part):
        if _MOVED in before + chunk:
            break
        before = chunk[-len(_MOVED) :]
    else:
        return
    ended = set[str]()

    def start(name: str, attributes: Attributes) -> None:
        if name == "moveFromRangeEnd":
            ended.add(attribute(attributes, "id"))

    parse(archive, part, start=start)
    yield from ended


def _payload(message: Message) -> bytes:
    payload = message.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _blocks_of(page: Page) -> Iterator[Block]:
    bounds = [*(each.at for each in page.headings), len(page.text)]
    yield Block(page.text[: bounds[0]].rstrip("\n"))
    for heading, (begin, end) in zip(page.headings, pairwise(bounds), strict=True):
        yield Block(page.text[begin:end].rstrip("\n"), heading=heading.text)


@dataclass
class _Drawn:
    """Texts of SmartArt, or of a chart's titles."""

    path: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def start(self, name: str, _: Attributes) -> None:
        self.path.append(name)
        if name in {"p", "pt"}:
            self.lines.append("")

    def end(self, _: str) -> None:
        self.path.pop()

    def characters(self, text: str) -> None:
        if self.path[-1] == "t" and self.lines:
            self.lines[-1] += text

    def blocks(self) -> list[Block]:
        return [Block(line) for line in self.lines if line.strip()]
