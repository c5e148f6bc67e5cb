"""Fields of a DOCX, of which the result is text, and signs of fonts that have no letters."""

from dataclasses import dataclass, field

from stackroom.text.extraction.ooxml import Attributes
from stackroom.text.extraction.word_styles import attribute, is_on

_LONGEST_INSTRUCTION = 1_000
# Their result is another on each page.
_PAGE_FIELDS = {"PAGE", "NUMPAGES", "SECTIONPAGES"}
_CHECKED, _UNCHECKED = "☒", "☐"
# What Word's dialogs for symbols, lists and boxes put in.
_GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
# fmt: off
_SYMBOLS = {
    **dict(enumerate(_GREEK[0], 0x41)), **dict(enumerate(_GREEK[1], 0x61)),
    0xA3: "≤", 0xA5: "∞", 0xAC: "←", 0xAE: "→", 0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×",
    0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBB: "≈", 0xCE: "∈", 0xD5: "∏", 0xD6: "√",
    0xE5: "∑", 0xF2: "∫",
}
_WINGDINGS = {
    0x6C: "●", 0x6E: "■", 0x6F: "□", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xE0: "→", 0xFB: "✗",
    0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}
# fmt: on
_PRIVATE = 0xF000  # where such a font's signs stand in Unicode


def symbol(attributes: Attributes) -> str:
    """Return the sign of a w:sym; nothing for one whose look only its font knows."""
    font, code = attribute(attributes, "font").lower(), attribute(attributes, "char")
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    signs = _SYMBOLS if font == "symbol" else _WINGDINGS if font == "wingdings" else {}
    if signs or _PRIVATE <= number <= _PRIVATE + 0xFF:
        return signs.get(number % _PRIVATE, "")
    is_letter = 0x20 <= number < 0xD800 or 0xF900 <= number < 0x110000
    return chr(number) if is_letter else ""


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
    """Those that are open, one inside the other."""

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
        """One that no mark ends would hide all that follows."""
        for each in self._open:
            each.is_result = True

    def note(self, above: str, name: str, attributes: Attributes) -> None:
        """Take what a form's field is set to."""
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
        """What a box or list of a form shows."""
        if not self._open:
            return ""
        this = self._open[-1]
        if not this.entries:
            return this.value
        at = int(this.value) if this.value.isdecimal() and len(this.value) < 4 else 0
        return this.entries[at] if at < len(this.entries) else ""
