"""Equations of DOCX (Office Math) on one line, as they are typed: `x=(-b±√(b^2-4ac))/(2a)`."""

from collections.abc import Callable
from dataclasses import dataclass, field

# Elements inside each other; the text of deeper ones stands as it comes.
_MAX_DEPTH = 60
# What has an element's text, by the element that it is an argument of.
_ARGUMENTS = frozenset({"e", "num", "den", "sub", "sup", "deg", "lim", "fName"})
_INTEGRAL, _HAT = "∫", "\u0302"  # where no other sign is said [ECMA-376, 22.1.2.20, 22.1.2.1]
_OPENING, _CLOSING = "([{⟨", ")]}⟩"


@dataclass
class _Part:
    name: str
    texts: list[str] = field(default_factory=list)
    arguments: list[tuple[str, str]] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)

    def all_of(self, name: str) -> list[str]:
        return [text for each, text in self.arguments if each == name]

    def of(self, name: str) -> str:
        return "".join(self.all_of(name)[:1])


class Equation:
    """Gathered from the parser's calls: elements inside m:oMath, and their text."""

    def __init__(self) -> None:
        self._parts = [_Part("oMath")]
        self._deeper = 0

    def start(self, name: str, value: str | None) -> None:
        """`value` is the element's attribute `val`, if it has one."""
        if self._deeper or len(self._parts) > _MAX_DEPTH:
            self._deeper += 1
            return
        if value is not None and len(self._parts) > 1:
            self._parts[-2].properties[name] = value
        self._parts.append(_Part(name))

    def say(self, text: str) -> None:
        self._parts[-1].texts.append(text)

    def end(self) -> None:
        if self._deeper:
            self._deeper -= 1
            return
        part = self._parts.pop()
        text = _written(part)
        if part.name in _ARGUMENTS:
            self._parts[-1].arguments.append((part.name, text))
        elif part.name == "mr":
            self._parts[-1].arguments.append(("e", text))
        elif text:
            self._parts[-1].texts.append(text)

    def text(self) -> str:
        return "".join(self._parts[0].texts)


def _written(part: _Part) -> str:
    if writes := _WRITES.get(part.name):
        return writes(part)
    return "".join([*part.texts, *(text for _, text in part.arguments)])


def _fraction(part: _Part) -> str:
    above, below = part.of("num"), part.of("den")
    if part.properties.get("type") == "noBar":  # a binomial
        return f"({above}¦{below})"
    return f"{_grouped(above)}/{_grouped(below)}"


def _between(part: _Part) -> str:
    begin, end = part.properties.get("begChr", "("), part.properties.get("endChr", ")")
    return begin + part.properties.get("sepChr", "|").join(part.all_of("e")) + end


def _summed(part: _Part) -> str:
    return f"{part.properties.get('chr', _INTEGRAL)}{_scripts(part)} {part.of('e')}"


def _function(part: _Part) -> str:
    argument = part.of("e")
    return part.of("fName") + (argument if argument[:1] in _OPENING else f" {argument}")


_WRITES: dict[str, Callable[[_Part], str]] = {
    "f": _fraction,
    "d": _between,
    "nary": _summed,
    "func": _function,
    **dict.fromkeys(
        ("sSup", "sSub", "sSubSup"), lambda part: _grouped(part.of("e")) + _scripts(part)
    ),
    "sPre": lambda part: _scripts(part) + part.of("e"),
    "rad": lambda part: f"{part.of('deg')}√{_grouped(part.of('e'))}",
    "acc": lambda part: part.of("e") + part.properties.get("chr", _HAT),
    **dict.fromkeys(
        ("limLow", "limUpp"), lambda part: f"{part.of('e')}_{_grouped(part.of('lim'))}"
    ),
    **dict.fromkeys(("m", "eqArr"), lambda part: "; ".join(part.all_of("e"))),
    "mr": lambda part: ", ".join(part.all_of("e")),
}


def _scripts(part: _Part) -> str:
    low, high = part.of("sub"), part.of("sup")
    return (f"_{_grouped(low)}" if low else "") + (f"^{_grouped(high)}" if high else "")


def _grouped(text: str) -> str:
    if len(text) < 2 or text.isdecimal() or _is_bracketed(text):
        return text
    return f"({text})"


def _is_bracketed(text: str) -> bool:
    """Return True if its last character closes its first bracket."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if depth <= 0:
            return at == len(text) - 1 and at > 0 and text[0] in _OPENING
    return False
