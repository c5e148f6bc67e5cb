"""
A document's one text: what a knowledge base ingests, passages are found in, and people read.

Made of the pages that were read from a file: in order, headings marked, lines that come back on
each page left out after the first time, contents left out, and context lines between. All of its
letters stand in its places, too.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, pairwise

from stackroom.model.formats import MAX_FILE_BYTES, extension_of
from stackroom.text.context_lines import context_line, escaped, without_context
from stackroom.text.extraction.page import Heading, Page
from stackroom.text.gaps import gaps_of
from stackroom.text.place_map import Piece, PlaceMap
from stackroom.text.running_lines import normalise, running_lines
from stackroom.text.toc_detection import listed_lines

__all__ = ["DocumentText", "text_of", "unseen_in_title", "without_context"]

_CUT = "the text is cut at 50 MB; what follows can't be found"
_TABLES = {"csv", "xlsx"}
# Programs write the file's date into a title, or its number in a register: a question for another
# year would find it by those.
_DIGIT = re.compile(r"\d")
_TITLE_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, kw_only=True)
class DocumentText:
    """
    A document's text. `gaps` are sentences on content of the file that the text lacks; `tokens` is
    an estimate.
    """

    markdown: str
    tokens: int
    places: PlaceMap
    gaps: tuple[str, ...]


def text_of(pages: Sequence[Page], filename: str) -> DocumentText:
    """Return the text of a file, at most as much as Bedrock takes of a file."""
    extension = extension_of(filename)
    kept = pages if extension in _TABLES else _without_contents(_without_running_lines(pages))
    title = "".join(page.title for page in pages[:1])
    writer = _Writer(
        filename,
        extension,
        title="" if _DIGIT.search(title) or unseen_in_title(pages) else title,
        bytes_left=MAX_FILE_BYTES,
        repeats=_repeats(kept),
    )
    is_whole = all(writer.write(page, is_last=page is kept[-1]) for page in kept)
    markdown = "".join(writer.written)
    if len(writer.written) == 1 and not any(page.title for page in pages[:1]):
        markdown = markdown.partition("\n")[2]  # the passage is the whole document
    return DocumentText(
        markdown=markdown,
        tokens=sum(1 for _ in _TOKEN.finditer(markdown)),
        places=PlaceMap(text="".join(writer.letters), pieces=tuple(writer.pieces)),
        gaps=gaps_of(pages) if is_whole else (*gaps_of(pages), _CUT),
    )


def unseen_in_title(pages: Sequence[Page]) -> frozenset[str]:
    """
    Return the words of what a file calls itself, in lower case, that none of its pages shows:
    hardly anybody sees a title, so that they could speak to a model behind people's backs.
    """
    unseen = {word for page in pages[:1] for word in _TITLE_WORD.findall(page.title.lower())}
    for page in pages if unseen else ():
        text = page.text.lower()
        unseen -= set(_TITLE_WORD.findall(text))
        # Many scripts have no spaces between words.
        unseen = {each for each in unseen if each.isascii() or each not in text}
        if not unseen:
            break
    return frozenset(unseen)


# What is left out.


def _without_running_lines(pages: Sequence[Page]) -> list[Page]:
    """
    Leave out running lines. Each of them stays where it stands first: a contract's number may stand
    nowhere else.
    """
    numbered = [page for page in pages if page.number is not None]
    lines = [page.text.split("\n") for page in numbered]
    kept, known = list[Page](), {""}
    for page, texts, running in zip(numbered, lines, running_lines(lines), strict=True):
        dropped = set[int]()
        for number in sorted(running):
            words = _words(texts[number])
            if words in known:
                dropped.add(number)
            known.add(words)
        kept.append(_without(page, dropped))
    return [*kept, *(page for page in pages if page.number is None)]


def _words(line: str) -> str:
    return "".join(filter(str.isalpha, normalise(line)))


_LEAST_ENTRIES = 5  # of contents that are left out
_LEAST_RISING = 0.9  # of the steps from one entry's page to the next
_LEAST_ELSEWHERE = 2 / 3  # of the entries that are looked up
_SAMPLED = 24  # entries of a list
_MOST_LISTS = 500  # in a file; where there are more, all stay
_GAP = 3  # lines from one entry of a list to the next
_LEAST_LETTERS = 4  # of an entry that says something
_LINK = re.compile(r"\]\(#.*")
_LAST_NUMBER = re.compile(r"(\d+)\W*$")


def _without_contents(pages: Sequence[Page]) -> list[Page]:
    """
    Leave out contents and indexes: lists of pages whose entries stand elsewhere in the text.

    Other lists look like them: bonds by the year in which they are due, amounts behind dotted
    leaders. Those have no pages at their ends, or say what nothing else does.
    """
    lines = [page.text.split("\n") for page in pages]
    listed = [listed_lines(each) for each in lines]
    lists = [(at, run) for at, found in enumerate(listed) for run in _runs(sorted(found))]
    if not lists or len(lists) > _MOST_LISTS:
        return list(pages)
    elsewhere = "".join(
        normalise(line)
        for texts, found in zip(lines, listed, strict=True)
        for number, line in enumerate(texts)
        if number not in found
    )
    dropped: dict[int, set[int]] = {at: set() for at, _ in lists}
    for at, run in lists:
        entries = [lines[at][number] for number in run]
        last = len(pages) if pages[at].number else None
        if _names_pages(entries, last) and _stand_in(elsewhere, entries):
            dropped[at].update(run)
    return [_without(page, dropped.get(at, set())) for at, page in enumerate(pages)]


def _runs(numbers: Sequence[int]) -> Iterator[list[int]]:
    run = list[int]()
    for number in numbers:
        if run and number - run[-1] > _GAP:
            yield run
            run = []
        run.append(number)
    if run:
        yield run


def _names_pages(entries: Sequence[str], last: int | None) -> bool:
    """Return True if the entries end with page numbers up to the last page; links need none."""
    if all(_LINK.search(entry) for entry in entries):
        return len(entries) >= _LEAST_ENTRIES
    found = [_LAST_NUMBER.search(entry) for entry in entries]
    numbers = [int(each[1]) for each in found if each]
    if len(numbers) < max(_LEAST_ENTRIES, len(entries) / 2):
        return False
    if last is not None and max(numbers) > last:
        return False
    steps = [after - before for before, after in pairwise(numbers)]
    is_rising = sum(step >= 0 for step in steps) >= _LEAST_RISING * len(steps)
    return is_rising or (last is not None and all("," in entry for entry in entries))


def _stand_in(text: str, entries: Sequence[str]) -> bool:
    sample = entries[:: len(entries) // _SAMPLED + 1]
    words = [normalise(_LINK.sub("", entry)).strip("0123456789") for entry in sample]
    found = sum(len(each) >= _LEAST_LETTERS and each in text for each in words)
    return found >= _LEAST_ELSEWHERE * len(words)


def _without(page: Page, dropped: set[int]) -> Page:
    """Leave out lines, unless nothing else is on the page."""
    if not dropped:
        return page
    lines = page.text.split("\n")
    if not any(normalise(line) for at, line in enumerate(lines) if at not in dropped):
        return page
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    gone = list(
        accumulate(
            (len(line) + 1 if at in dropped else 0 for at, line in enumerate(lines)), initial=0
        )
    )

    def moved(at: int) -> int:
        number = bisect_right(starts, at, hi=len(lines)) - 1
        return (starts[number] if number in dropped else at) - gone[number]

    return replace(
        page,
        text="\n".join(line for at, line in enumerate(lines) if at not in dropped),
        headings=tuple(Heading(moved(each.at), each.text) for each in page.headings),
    )


# What is written, with context lines.

_TOKENS = 220  # about, from one context line to the next, itself included
_LEAST_TOKENS = 60  # of them for text, however long the line is
_LAST_TOKENS = 60  # of a text: its last passage may have little more than what overlaps another
# About a token each, rather less: four characters are more than one in tables, whose numbers and
# signs are parted, and in any script but the Latin.
_TOKEN = re.compile(
    r"[\u2e80-\ud7ff\uf900-\ufaff]|[A-Za-z\u00c0-\u024f]{1,5}|[^\W\d_]{1,2}|\d{1,2}|[^\w\s]|_"
)
_LINE_END = re.compile(r"\n")
_SENTENCE_END = re.compile(r"[.!?]\s+|[。！？]")
_SPACE = re.compile(r"\s+")


@dataclass
class _Writer:
    filename: str
    extension: str
    title: str  # until it is written
    bytes_left: int
    repeats: frozenset[int]
    written: list[str] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    position: int = 0  # in the letters
    section: str | None = None

    def write(self, page: Page, *, is_last: bool) -> bool:
        """Return False where the text is cut, since it has no room for what follows."""
        sections = list(self._sections(page))
        text = "".join(each for _, each in sections)
        starts = list(accumulate((len(each) for _, each in sections), initial=0))
        alike = [_is_alike(each, self.repeats) for _, each in sections]
        begin, length = 0, len(text.rstrip())
        if not length:
            self._place(page.number, self.section, "")
        while begin < length:
            first = bisect_right(starts, begin, hi=len(sections)) - 1
            place = (page.number, sections[first][0]) if alike[first] else (None, None)
            line = self._line(*place)
            room = _TOKENS - len(_TOKEN.findall(line))
            end = min(self._end(text, begin, room, is_last=is_last), length)
            written = self._put(line, text[begin:end])
            for number in range(first, bisect_left(starts, begin + written)):
                low, high = max(begin, starts[number]), min(begin + written, starts[number + 1])
                self._place(page.number, sections[number][0], text[low:high])
            if written < end - begin:
                return False
            begin = end
        return True

    def _sections(self, page: Page) -> Iterator[tuple[str | None, str]]:
        """Yield the text above the first heading, and below each, with the heading it is below."""
        bounds = [0, *(each.at for each in page.headings), len(page.text)]
        yield self.section, escaped(page.text[: bounds[1]])
        for heading, (begin, end) in zip(page.headings, pairwise(bounds[1:]), strict=True):
            self.section = heading.text
            is_line = begin == 0 or page.text[begin - 1] == "\n"
            is_marked = self.extension == "md" or not is_line or heading.text is None
            yield heading.text, ("" if is_marked else "## ") + escaped(page.text[begin:end])

    def _line(self, page: int | None, section: str | None) -> str:
        title, self.title = self.title, ""
        return context_line(self.filename, title=title, section=section, page=page)

    def _end(self, text: str, begin: int, room: int, *, is_last: bool) -> int:
        room = max(room, _LEAST_TOKENS)
        starts = [found.start() for found in islice(_TOKEN.finditer(text, begin), room + 1)]
        if len(starts) > room:
            limit = starts[room]
        elif is_last and self.written and len(starts) > _LAST_TOKENS:
            limit = starts[-_LAST_TOKENS // 2]
        else:
            return len(text)
        if self.extension in _TABLES and (end := text.rfind("\n", begin, limit) + 1) > begin:
            limit = end
        return _start_of_table(text, begin, _end_of_words(text, begin, limit))

    def _put(self, line: str, text: str) -> int:
        """Return how many characters of the text there is room for."""
        ending = "" if text.endswith("\n") else "\n"
        room = self.bytes_left - len(f"{line}\n{ending}".encode())
        body = text.encode()
        if len(body) > room:
            body = body[: max(room, 0)]
            text = body.decode(errors="ignore")
        if text:
            self.written.append(f"{line}\n{text}{ending}")
        self.bytes_left = room - len(body)
        return len(text)

    def _place(self, page: int | None, section: str | None, text: str) -> None:
        last = self.pieces[-1] if self.pieces else None
        if last is None or (last.page, last.section) != (page, section):
            self.pieces.append(Piece(page=page, section=section, at=self.position))
        self.letters.append(normalise(text))
        self.position += len(self.letters[-1])


_OPENING = 250  # letters, of about a quarter of a passage; shorter ones come back in many tables


def _repeats(pages: Sequence[Page]) -> frozenset[int]:
    """Return, as hashes, how lines open of which several pages or sections have the same."""
    found, repeated = set[int](), set[int]()
    for page in pages if len(pages) > 1 or any(page.headings for page in pages) else ():
        bounds = [0, *(each.at for each in page.headings), len(page.text)]
        for begin, end in pairwise(bounds):
            openings = set(_openings(page.text[begin:end]))
            repeated |= openings & found
            found |= openings
    return frozenset(repeated)


def _is_alike(text: str, repeats: frozenset[int]) -> bool:
    return bool(repeats) and not repeats.isdisjoint(_openings(text))


def _openings(text: str) -> Iterator[int]:
    lines = [normalise(line) for line in text.split("\n")]
    letters = "".join(lines)
    starts = set(accumulate(map(len, lines), initial=0))
    return (hash(letters[at : at + _OPENING]) for at in starts if at + _OPENING <= len(letters))


def _end_of_words(text: str, begin: int, limit: int) -> int:
    """
    Return the last line's end in the second half of the room, else a sentence's, else a word's.
    """
    low = (begin + limit) // 2
    for boundary in (_LINE_END, _SENTENCE_END, _SPACE):
        if ends := [found.end() for found in boundary.finditer(text, low, limit)]:
            return ends[-1]
    while unicodedata.combining(text[limit]) and limit > low:
        limit -= 1
    return limit


def _start_of_table(text: str, begin: int, end: int) -> int:
    """Return where the table begins that would be parted at the end, else the end itself."""
    start = end
    while text.startswith("|", start) and text[start - 1] == "\n":
        above = text.rfind("\n", 0, start - 1) + 1
        if above <= begin or not text.startswith("|", above):
            break
        start = above
    return start
