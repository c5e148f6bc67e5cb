"""
The story that a part of a DOCX tells: paragraphs and tables in order, as people see them.

Tracked changes count as accepted: what was deleted, or moved away from here, is not there. Text
that nobody sees is left out, and its words are counted.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from stackroom.text.extraction.blocks import MAX_ACROSS, Block, Cell, Row, table_blocks
from stackroom.text.extraction.ooxml import Attributes
from stackroom.text.extraction.page import RAW_CHARACTERS
from stackroom.text.extraction.word_drawing import Drawing, colour_of, letters_of
from stackroom.text.extraction.word_fields import Fields
from stackroom.text.extraction.word_numbering import Numbering
from stackroom.text.extraction.word_styles import (
    UNKNOWN,
    Properties,
    WordStyles,
    attribute,
    is_flat,
    is_hidden,
    is_on,
    note,
    shading,
)

# fmt: off
# Breaks and hyphens that are elements of their own.
_MARKS = {
    "tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": "",
}
# What was here before a change, and what has tabs or texts that nobody sees there.
_PASSED_OVER = frozenset({
    "delText", "delInstrText", "pPrChange", "rPrChange", "sectPrChange", "tblPrChange",
    "tblPrExChange", "tcPrChange", "trPrChange", "numberingChange", "tabs", "sdtPr",
})
# Of whom these are properties, they say that it is gone; else they have what is gone in them.
_DELETIONS = frozenset({"del", "moveFrom"})
_PROPERTIES = frozenset({"rPr", "pPr", "numPr", "tblPr", "trPr", "tcPr", "sectPr"})
_MOST_NOTES = 100_000
# What Wingdings has for boxes to tick, by the code of the sign.
_BOXES = {"F06F": "☐", "F0A8": "☐", "F0FC": "✓", "F0FD": "☒", "F0FE": "☒"}
# Before and after the parts of an equation, which stands on one line: (a+b)/(2) and x^(2).
_OPENINGS = {"num": "(", "den": "/(", "sup": "^(", "sub": "_(", "d": "("}
# fmt: on


@dataclass
class _Paragraph:
    properties: Properties = field(default_factory=dict)  # what it says itself
    joins: bool = False  # goes on in the next one: its mark was deleted
    said: list[str] = field(default_factory=list)
    beside: list[Block] = field(default_factory=list)  # of text boxes that hang on it


@dataclass
class _Table:
    style: str = ""
    rows: list[Row] = field(default_factory=list)
    headers: int = 0
    row: Row = field(default_factory=list)


@dataclass
class Section:
    references: dict[tuple[str, str], str] = field(default_factory=dict)
    has_first_page: bool = False


@dataclass
class StoryParts:
    """The parts of a story beside its text."""

    shows_background: bool = False
    backdrop: str = ""  # the colour of all pages
    hidden_words: int = 0
    sections: list[Section] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)  # kind and id, as they are named
    pictures: int = 0  # large ones
    symbols: int = 0  # of fonts that have no letters
    objects: Counter[str] = field(default_factory=Counter)  # by their program


Embedded = Callable[[str, str], list[Block]]  # of a kind, by the id of its relation


@dataclass
class _Place:
    """A place for text, in the page, a cell or a box, with the colour behind it."""

    blocks: list[Block]
    paper: str = ""  # empty: that of what is below
    run: Properties = field(default_factory=dict)  # the one that a box hangs on
    joined: _Paragraph | None = None


class Story:
    """Gathered from the parser's calls. `moved` are ids of ranges that text was moved from."""

    def __init__(
        self,
        styles: WordStyles,
        numbering: Numbering,
        embedded: Embedded,
        *,
        moved: frozenset[str],
        seen: StoryParts,
    ) -> None:
        self.blocks = list[Block]()
        self.notes = dict[str, list[Block]]()  # of a part of notes, by their ids
        self.seen = seen
        self._styles, self._numbering, self._embedded = styles, numbering, embedded
        self._moved, self._moving = moved, set[str]()
        self._path = list[str]()
        self._passed_over = 0  # depth of an element that is passed over; 0 for none
        self._concealed = list[int]()  # depths of those that nobody sees
        self._places = [_Place(self.blocks, paper=seen.backdrop)]
        self._paragraphs, self._tables = list[_Paragraph](), list[_Table]()
        self._run = Properties()
        self._is_hidden: bool | None = None  # the run; None until it is asked
        self._alternatives = list[bool]()  # of which one was read
        self._fields, self._drawing, self._section = Fields(), Drawing(), Section()

    # The parser's calls.

    def start(self, name: str, attributes: Attributes) -> None:
        above = self._path[-1] if self._path else ""
        self._path.append(name)
        if self._passed_over:
            return
        if name in _PASSED_OVER or (name in _DELETIONS and above not in {"rPr", "trPr"}):
            self._passed_over = len(self._path)
        elif above in _PROPERTIES:
            self._note(above, name, attributes)
        elif starts := _STARTS.get(name):
            starts(self, attributes)
        elif name in _MARKS:
            self._say(_MARKS[name])
        elif name in _OPENINGS:
            self._say(_OPENINGS[name])
        else:
            self._fields.note(above, name, attributes)

    def end(self, name: str) -> None:
        depth = len(self._path)
        self._path.pop()
        if self._passed_over and depth > self._passed_over:
            return
        if ends := _ENDS.get(name):
            ends(self)
        elif name in _OPENINGS and not self._passed_over:
            self._say(")")
        self._passed_over = 0
        if self._concealed and self._concealed[-1] == depth:
            self._concealed.pop()

    def characters(self, text: str) -> None:
        if self._passed_over or not self._path:
            return
        if self._path[-1] == "t":
            self._say(text)
        elif self._path[-1] == "instrText":
            self._fields.instruct(text)

    def finish(self) -> None:
        """Write what is still open once the part is read."""
        while self._paragraphs:
            self._end_paragraph()
        self._end_joined()

    # Properties: of runs, paragraphs and their marks, sections, tables, rows and cells.

    def _note(self, above: str, name: str, attributes: Attributes) -> None:
        paragraph = self._paragraphs[-1] if self._paragraphs else None
        if above == "rPr" and self._path[-3:-2] == ["pPr"]:
            if paragraph and name in _DELETIONS:
                paragraph.joins = True
        elif above == "rPr":
            note(self._run, name, attributes)
        elif above == "sectPr":
            self._note_section(name, attributes)
        elif above in {"pPr", "numPr"}:
            if paragraph:
                note(paragraph.properties, name, attributes)
        elif self._tables:
            self._note_table(self._tables[-1], above, name, attributes)

    def _note_section(self, name: str, attributes: Attributes) -> None:
        if name in {"headerReference", "footerReference"}:
            kind = attribute(attributes, "type") or "default"
            self._section.references[name, kind] = attribute(attributes, "id")
        elif name == "titlePg":
            self._section.has_first_page = is_on(attributes)

    def _note_table(self, table: _Table, above: str, name: str, attributes: Attributes) -> None:
        value, of = attribute(attributes, "val"), len(self._path) - 2
        match name:
            case "tblStyle":
                table.style = value
                if self._styles.shades_tables(value):
                    self._places[-1].paper = UNKNOWN
            case "shd" if above != "trPr":
                self._places[-1].paper = shading(attributes).replace("auto", "")
            case "tblHeader" if is_on(attributes) and table.headers == len(table.rows):
                table.headers += 1
            case "del" | "moveFrom" | "cellDel":
                self._passed_over = of
                del table.row[-1 if name == "cellDel" else 0 :]
            case "hidden" if is_on(attributes):
                self._concealed.append(of)
            case "trHeight" if attribute(attributes, "hRule") == "exact" and is_flat(value):
                self._concealed.append(of)
            case "gridSpan" if table.row and value.isdecimal():
                table.row[-1].across = max(1, min(int(value[:4]), MAX_ACROSS))
            case "vMerge" if table.row and value != "restart":
                table.row[-1].continues = True
                self._concealed.append(of)

    def _end_section(self) -> None:
        self.seen.sections.append(self._section)
        self._section = Section()
        self._places[0].paper = self.seen.backdrop

    def _set_backdrop(self, attributes: Attributes) -> None:
        if self.seen.shows_background:
            self.seen.backdrop = self._places[0].paper = attribute(attributes, "color")

    # Paragraphs and runs.

    def _start_paragraph(self, _: Attributes) -> None:
        place = self._places[-1]
        paragraph = place.joined or _Paragraph()
        place.joined, paragraph.joins, paragraph.properties = None, False, {}
        self._paragraphs.append(paragraph)
        self._fields.end_instructions()

    def _end_paragraph(self) -> None:
        if not self._paragraphs:
            return
        paragraph = self._paragraphs.pop()
        if paragraph.joins:
            self._places[-1].joined = paragraph
        else:
            self._write(paragraph)

    def _end_joined(self) -> None:
        """Write what would have gone on in a paragraph that doesn't come."""
        if paragraph := self._places[-1].joined:
            self._places[-1].joined = None
            self._write(paragraph)

    def _write(self, paragraph: _Paragraph) -> None:
        text, blocks = "".join(paragraph.said), self._places[-1].blocks
        style_id = paragraph.properties.get("pStyle", "")
        properties = self._styles.of_paragraph(style_id) | paragraph.properties
        label = "" if self._is_out_of_sight() else self._numbering.label(properties, style_id)
        if text.strip():
            text = f"{label} {text.strip()}" if label.strip() else text.rstrip()
            if self._styles.is_heading(style_id, paragraph.properties.get("outlineLvl", "")):
                text = text.strip()
                blocks.append(Block(text, heading=text[:RAW_CHARACTERS]))
            else:
                blocks.append(Block(text))
        blocks.extend(paragraph.beside)

    def _start_run(self, _: Attributes) -> None:
        self._run, self._is_hidden = {}, None

    def _say(self, text: str) -> None:
        if self._moving or not self._fields.is_shown():
            return
        if self._is_hidden is None:
            self._is_hidden = self._hides()
        if self._is_hidden or self._concealed:
            self.seen.hidden_words += len(text.split())
        else:
            self._paragraph().said.append(text)

    def _paragraph(self) -> _Paragraph:
        if not self._paragraphs:
            self._start_paragraph({})
        return self._paragraphs[-1]

    def _hides(self) -> bool:
        own = self._paragraphs[-1].properties if self._paragraphs else {}
        style_id = own.get("pStyle", "")
        paragraph = self._styles.of_paragraph(style_id) | own
        if is_flat(paragraph.get("line", "")):
            return True
        papers = [each.paper for each in self._places]
        papers.append(paragraph.get("shd", "").replace("auto", ""))
        behind = next((paper for paper in reversed(papers) if paper), "")
        table = self._tables[-1].style if self._tables else ""
        return is_hidden(self._styles.properties(table, style_id, self._run), behind)

    def _is_out_of_sight(self) -> bool:
        return bool(self._concealed or self._moving)

    def _start_moved(self, attributes: Attributes) -> None:
        if (moved := attribute(attributes, "id")) in self._moved:
            self._moving.add(moved)

    def _end_moved(self, attributes: Attributes) -> None:
        self._moving.discard(attribute(attributes, "id"))

    # Tables; one in a cell stands in the cell.

    def _start_table(self, _: Attributes) -> None:
        self._end_joined()
        self._tables.append(_Table())
        self._places.append(_Place(self._places[-1].blocks))

    def _start_row(self, _: Attributes) -> None:
        if self._tables:
            self._tables[-1].row = []

    def _start_cell(self, _: Attributes) -> None:
        cell = Cell()
        if self._tables:
            self._tables[-1].row.append(cell)
        self._places.append(_Place(cell.blocks))

    def _end_place(self) -> None:
        if len(self._places) > 1:
            self._end_joined()
            self._places.pop()

    def _end_row(self) -> None:
        if self._tables and any(cell.blocks for cell in self._tables[-1].row):
            self._tables[-1].rows.append(self._tables[-1].row)
        if self._tables:
            self._tables[-1].row = []

    def _end_table(self) -> None:
        if self._tables:
            table = self._tables.pop()
            self._end_place()
            blocks = table_blocks(table.rows, headers=min(table.headers, len(table.rows)))
            self._places[-1].blocks.extend(blocks)

    # Drawings, and text in boxes.

    def _draw(self, attributes: Attributes) -> None:
        name = self._path[-1]
        if "textFill" in self._path[-4:]:
            self._run |= letters_of(name, attributes)
            return
        if self._path[-3:-1] == ["textOutline", "solidFill"]:
            self._run["outline"] = colour_of(name, attributes)
            return
        self._drawing.note(self._path[-4:], attributes)
        if self._drawing.hides(name, attributes):
            self._concealed.append(len(self._path) - (name in {"docPr", "extent"}))
        if self._drawing.is_backdrop(name):
            self._places[0].paper = UNKNOWN
        elif name in {"blip", "imagedata"} and self._drawing.is_large():
            self.seen.pictures += not self._is_out_of_sight()
        elif name == "textpath":
            self._say(attribute(attributes, "string"))

    def _start_box(self, _: Attributes) -> None:
        if self._styles.properties("", "", self._run)["vanish"] and not self._concealed:
            self._concealed.append(len(self._path))
        paper = self._drawing.fill or (UNKNOWN if self._drawing.is_coloured else "")
        self._places.append(_Place(self._paragraph().beside, paper=paper, run=self._run))

    def _end_box(self) -> None:
        self._run, self._is_hidden = self._places[-1].run, None
        self._end_place()

    def _start_alternatives(self, _: Attributes) -> None:
        self._alternatives.append(False)

    def _end_alternatives(self) -> None:
        self._alternatives.pop()

    def _start_alternative(self, _: Attributes) -> None:
        """The first is read; others are the same again, for programs that don't know the first."""
        if self._alternatives:
            if self._alternatives[-1]:
                self._passed_over = len(self._path)
            self._alternatives[-1] = True

    # What else stands in text.

    def _start_equation(self, _: Attributes) -> None:
        said = self._paragraph().said
        if said and not said[-1][-1:].isspace():
            said.append(" ")

    def _start_operand(self, _: Attributes) -> None:
        if self._path[-2:-1] == ["rad"]:
            self._say("√(")

    def _end_operand(self) -> None:
        if self._path[-1:] == ["rad"]:
            self._say(")")

    def _say_operator(self, attributes: Attributes) -> None:
        if self._path[-2:-1] == ["naryPr"]:
            self._say(attribute(attributes, "val"))

    def _refer(self, attributes: Attributes) -> None:
        if not self._is_out_of_sight() and not self._hides() and len(self.seen.notes) < _MOST_NOTES:
            kind = self._path[-1].removesuffix("Reference")
            self.seen.notes.append((kind, attribute(attributes, "id")))

    def _start_note(self, attributes: Attributes) -> None:
        blocks = self.notes.setdefault(attribute(attributes, "id"), [])
        self._places.append(_Place(blocks))

    def _embed(self, attributes: Attributes) -> None:
        name = self._path[-1]
        if not self._is_out_of_sight():
            blocks = self._embedded(name, attribute(attributes, "dm" if name == "relIds" else "id"))
            beside = self._paragraphs[-1].beside if self._paragraphs else self._places[-1].blocks
            beside.extend(blocks)

    def _count_object(self, attributes: Attributes) -> None:
        if not self._is_out_of_sight():
            self.seen.objects[attribute(attributes, "ProgID")] += 1

    def _say_symbol(self, attributes: Attributes) -> None:
        is_box = attribute(attributes, "font").lower() == "wingdings"
        box = _BOXES.get(attribute(attributes, "char").upper(), "") if is_box else ""
        self.seen.symbols += not (box or self._is_out_of_sight())
        self._say(box)

    def _start_ruby(self, _: Attributes) -> None:
        self._say(" (")

    def _end_ruby(self) -> None:
        self._say(")")

    def _end_form_field(self) -> None:
        if (value := self._fields.form_value()) and not self._is_out_of_sight():
            self._paragraph().said.append(value)


_STARTS: dict[str, Callable[[Story, Attributes], None]] = {
    "p": Story._start_paragraph,
    "r": Story._start_run,
    "background": Story._set_backdrop,
    "tbl": Story._start_table,
    "tr": Story._start_row,
    "tc": Story._start_cell,
    "txbxContent": Story._start_box,
    "AlternateContent": Story._start_alternatives,
    "Choice": Story._start_alternative,
    "Fallback": Story._start_alternative,
    "moveFromRangeStart": Story._start_moved,
    "moveFromRangeEnd": Story._end_moved,
    "fldChar": lambda story, attributes: story._fields.mark(attributes),
    "fldSimple": lambda story, attributes: story._fields.start_simple(attributes),
    "oMath": Story._start_equation,
    "e": Story._start_operand,
    "chr": Story._say_operator,
    "footnote": Story._start_note,
    "endnote": Story._start_note,
    "footnoteReference": Story._refer,
    "endnoteReference": Story._refer,
    "altChunk": Story._embed,
    "chart": Story._embed,
    "relIds": Story._embed,
    "subDoc": Story._embed,
    "OLEObject": Story._count_object,
    "sym": Story._say_symbol,
    "rt": Story._start_ruby,
    **dict.fromkeys(
        (
            *("anchor", "inline", "extent", "docPr", "wsp", "solidFill", "gradFill", "blipFill"),
            *("pattFill", "grpFill", "noFill", "srgbClr", "schemeClr", "fillRef", "blip"),
            *("alpha", "lumMod", "lumOff", "shade", "tint"),
            *("shape", "rect", "roundrect", "oval", "fill", "imagedata", "textpath"),
        ),
        Story._draw,
    ),
}
_ENDS: dict[str, Callable[[Story], None]] = {
    "p": Story._end_paragraph,
    "tbl": Story._end_table,
    "tr": Story._end_row,
    "tc": Story._end_place,
    "txbxContent": Story._end_box,
    "AlternateContent": Story._end_alternatives,
    "fldSimple": lambda story: story._fields.end(),
    "ffData": Story._end_form_field,
    "e": Story._end_operand,
    "sectPr": Story._end_section,
    "footnote": Story._end_place,
    "endnote": Story._end_place,
    "rt": Story._end_ruby,
}
