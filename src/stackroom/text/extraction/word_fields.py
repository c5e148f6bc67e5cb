"""Fields of a DOCX, of which the result is text."""

from dataclasses import dataclass, field

from stackroom.text.extraction.ooxml import Attributes
from stackroom.text.extraction.word_styles import attribute, is_on

_LONGEST_INSTRUCTION = 1_000
# Their result is another on each page.
_PAGE_FIELDS = {"PAGE", "NUMPAGES", "SECTIONPAGES"}
_CHECKED, _UNCHECKED = "☒", "☐"


@dataclass
class _Field:
    instruction: str = ""
    is_result: bool = False
    entries: list[str] = field(default_factory=list)  # of a list to choose from
    value: str = ""  # which of them, or whether a box is checked

    def is_shown(self) -> bool:
        return self.is_result and self.instruction.split()[:1] not in ([n] for n in _PAGE_FIELDS)


@dataclass
class Fields:
    """The open fields, one inside the other."""

    _open: list[_Field] = field(default_factory=list)

    def is_shown(self) -> bool:
        return all(each.is_shown() for each in self._open)

    def start_simple(self, attributes: Attributes) -> None:
        self._open.append(_Field(attribute(attributes, "instr"), is_result=True))

    def mark(self, attributes: Attributes) -> None:
        kind = attribute(attributes, "fldCharType")
        if kind == "begin":
            self._open.append(_Field())
        elif kind == "separate" and self._open:
            self._open[-1].is_result = True
        elif kind == "end":
            self.end()

    def end(self) -> None:
        if self._open:
            self._open.pop()

    def instruct(self, text: str) -> None:
        if self._open and len(self._open[-1].instruction) < _LONGEST_INSTRUCTION:
            self._open[-1].instruction += text

    def end_instructions(self) -> None:
        """End the instructions of a field: one that no mark ends would hide all that follows."""
        for each in self._open:
            each.is_result = True

    def note(self, above: str, name: str, attributes: Attributes) -> None:
        """Record the value that a form's field is set to."""
        if not self._open:
            return
        this, value = self._open[-1], attribute(attributes, "val")
        match above, name:
            case "checkBox", "default" | "checked":
                this.value = _CHECKED if is_on(attributes) else _UNCHECKED
            case "ddList", "default" | "result":
                this.value = value
            case "ddList", "listEntry":
                this.entries.append(value)

    def form_value(self) -> str:
        """Return the visible value of a form's box or list."""
        if not self._open:
            return ""
        this = self._open[-1]
        if not this.entries:
            return this.value
        at = int(this.value) if this.value.isdecimal() and len(this.value) < 4 else 0
        return this.entries[at] if at < len(this.entries) else ""
