"""
Styles of a web page, as far as they hide text: which rules an element has, and what they do.

Rules are those in the page itself, for a screen of usual size, without what a pointer or a script
would change. Sheets that the page only links to are not in the file: what they say isn't known.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import tinycss2
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError
from tinycss2 import color4

from stackroom.errors import Unreadable
from stackroom.text.extraction.colours import WHITE, Colour, are_alike, of_hex

_MAX_SHEETS = 5_000_000  # characters, without embedded fonts and pictures
_MAX_MATCHES = 5_000_000  # elements that selectors match, those of several counted as often
_MAX_LOOKED_AT = 2_000_000_000  # elements, times selectors: half a minute's work
_MAX_DEPTH = 10  # of rules in rules
_LONGEST_SELECTOR = 1_000  # characters
_MAX_VARIABLES = 10_000
_EMBEDDED = re.compile(r"url\((?:\"[^\"]*\"|'[^']*'|[^)\"']*)\)", re.IGNORECASE)
# fmt: off
_PROPERTIES = frozenset({
    "display", "visibility", "content-visibility", "opacity", "filter", "transform", "scale",
    "translate", "zoom",
    "font", "font-size", "color", "fill", "-webkit-text-fill-color", "background",
    "background-color", "background-image", "background-clip", "-webkit-background-clip",
    "position", "left", "top", "right", "bottom", "inset", "margin", "margin-left", "margin-top",
    "padding", "padding-left", "padding-top", "padding-bottom", "text-indent", "clip", "clip-path",
    "width", "height", "max-width", "max-height", "overflow", "overflow-x", "overflow-y",
})
# States that a page is not in when it is opened, and parts that are no elements.
_STATES = re.compile(
    r":(?:hover|focus\b|focus-within|focus-visible|active|visited|target|before|after|first-line|"
    r"first-letter|:)"
)
# fmt: on
_NAME = re.compile(r"(?<!\\)([.#])(-?[A-Za-z_][\w-]*)")
_NEGATED = re.compile(r":(?:not|is|where|has)\([^()]*\)")
_PSEUDO = re.compile(r"\[[^\]]*\]|(?<!:):[\w-]+|\.")
_TYPE = re.compile(r"(?:^|[\s>+~(,])[A-Za-z][\w-]*")
_VARIABLE = re.compile(r"var\(\s*(--[\w-]{1,100})\s*(?:,([^()]{0,200}))?\)")
_UNKNOWN = "?"  # a value that can't be told, such as a colour that themes set
_NUMBER = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))([a-z%]*)", re.IGNORECASE)
_FONT_SIZE = re.compile(r"(?:^|\s)(\d*\.?\d+(?:px|pt|em|rem|%)?)(?:\s*/|\s)")
_WIDE, _HIGH = 1_280, 800  # pixels, of a screen
_PIXELS = {
    "": 1, "px": 1, "pt": 4 / 3, "em": 16, "rem": 16, "ex": 8, "ch": 8, "in": 96, "cm": 37.8,
    "mm": 3.78, "vw": _WIDE / 100, "%": _WIDE / 100, "vh": _HIGH / 100,
}  # fmt: skip
_FAR = 900  # pixels outside a page's left or upper edge
_TINY = 1  # pixels, of letters or of a box
_FAINT = 0.05  # opacity
_CONDITION = re.compile(r"\((?:(min|max)-)?width\s*(:|[<>]=?)\s*([\d.]+[a-z]*)\s*\)")
# Names of sides that depend on the direction of writing, as most of it has them.
_LOGICAL = {"block-size": "height", "inline-size": "width", "inline-start": "left"}
_LOGICAL |= {"inline-end": "right", "block-start": "top", "block-end": "bottom"}
_LOGICAL_NAME = re.compile("(?:inset-)?(" + "|".join(_LOGICAL) + ")$")

Declared = Mapping[str, str]
_Priority = tuple[bool, tuple[int, int, int], int]  # important, specificity, order


@dataclass(frozen=True)
class Appearance:
    """The look of text in an element; a colour is None if it is unknown."""

    is_gone: bool = False  # with all that is in it
    is_invisible: bool = False
    size: float = 16
    ink: Colour | None = (0.0, 0.0, 0.0)
    alpha: float = 1
    paper: Colour | None = WHITE

    def hides(self) -> bool:
        if self.is_gone or self.is_invisible or self.size <= _TINY or self.alpha <= _FAINT:
            return True
        if self.ink is None or self.paper is None:
            return False
        return are_alike(_blended(self.ink, self.alpha, self.paper), self.paper)


class PageStyles:
    """The declarations that apply to each element, by the rules of the page's style sheets."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._declared: dict[int, dict[str, tuple[_Priority, str]]] = defaultdict(dict)
        self._variables: dict[str, str] = {}
        self._order = self._matches = self._looked_at = 0
        self._tree = tree
        sheets = [_EMBEDDED.sub("url()", node.text()) for node in tree.css("style")]
        if sum(map(len, sheets)) > _MAX_SHEETS:
            raise _too_many()
        if sheets:
            self._names = _names_in(tree)
            self._elements = len(tree.css("*"))
        for sheet in sheets:
            parsed = tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True)
            self._apply(parsed, depth=0)

    def of(self, node: LexborNode) -> Declared:
        attributes = node.attributes
        own = dict(_presented(node.tag or "", attributes))
        found = self._declared.get(node.mem_id, {})
        inline = _declarations(attributes.get("style") or "")
        for name, (priority, value) in found.items():
            if name not in inline or (priority[0] and not inline[name][1]):
                own[name] = self._resolved(value)
        for name, (value, is_important) in inline.items():
            if is_important or name not in found or not found[name][0][0]:
                own[name] = self._resolved(value)
        return own

    def _resolved(self, value: str) -> str:
        return _VARIABLE.sub(
            lambda each: self._variables.get(each[1], (each[2] or _UNKNOWN).strip()), value
        )

    def _apply(self, rules: Sequence[Any], depth: int) -> None:
        if depth > _MAX_DEPTH:
            return
        for rule in rules:
            if rule.type == "qualified-rule":
                with suppress(RecursionError):  # brackets in brackets, without an end
                    self._apply_rule(rule)
            elif rule.type == "at-rule" and rule.content is not None and _holds(rule):
                inner = tinycss2.parse_rule_list(
                    rule.content, skip_comments=True, skip_whitespace=True
                )
                self._apply(inner, depth + 1)

    def _apply_rule(self, rule: Any, outer: str = "") -> None:
        """Match what a rule declares, and the rules in it."""
        selectors = list(_parted(tinycss2.serialize(rule.prelude)))
        if outer:
            selectors = [
                each.replace("&", outer) if "&" in each else f"{outer} {each}" for each in selectors
            ]
        selectors = [each for each in selectors if self._may_match(each)]
        if not selectors:
            return
        parsed = tinycss2.parse_blocks_contents(
            rule.content, skip_comments=True, skip_whitespace=True
        )
        named = [each for each in parsed if each.type == "declaration"]
        self._note_variables(named)
        if declared := dict(_expanded(named)):
            for selector in selectors:
                self._match(selector, declared)
        inner = f":is({', '.join(selectors)})"
        for each in parsed:
            if each.type == "qualified-rule":
                self._apply_rule(each, inner)

    def _note_variables(self, declarations: Sequence[Any]) -> None:
        for each in declarations:
            if each.name.startswith("--") and len(self._variables) < _MAX_VARIABLES:
                value = tinycss2.serialize(each.value).strip()[:200]
                is_same = self._variables.setdefault(each.name, value) == value
                self._variables[each.name] = value if is_same else _UNKNOWN

    def _may_match(self, selector: str) -> bool:
        if len(selector) > _LONGEST_SELECTOR or _STATES.search(selector):
            return False
        names = {name for _, name in _NAME.findall(_NEGATED.sub("", selector))}
        return "\\" in selector or names <= self._names

    def _match(self, selector: str, declared: Mapping[str, tuple[str, bool]]) -> None:
        self._order += 1
        try:
            nodes = self._tree.css(selector)
        except SelectolaxError:
            return
        self._matches += len(nodes)
        self._looked_at += self._elements
        if self._matches > _MAX_MATCHES or self._looked_at > _MAX_LOOKED_AT:
            raise _too_many()
        specificity = _specificity(selector)
        for node in nodes:
            of = self._declared[node.mem_id]
            for name, (value, is_important) in declared.items():
                priority = (is_important, specificity, self._order)
                if name not in of or of[name][0] <= priority:
                    of[name] = (priority, value)


def _too_many() -> Unreadable:
    return Unreadable(
        "the HTML has too many style rules to tell which of its text is shown; print it to PDF, "
        "or save it as text, and upload that"
    )


def _names_in(tree: LexborHTMLParser) -> set[str]:
    """Return classes and ids of all elements; most rules of a large sheet name none of them."""
    names = set[str]()
    for node in tree.css("[class], [id]"):
        names.update((node.attributes.get("class") or "").split())
        names.add(node.attributes.get("id") or "")
    # Without a document type, letters' case doesn't count.
    return names | {name.lower() for name in names} | {name.upper() for name in names}


def _parted(selectors: str) -> Iterator[str]:
    depth, start = 0, 0
    for at, sign in enumerate(selectors):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and not depth:
            yield selectors[start:at].strip()
            start = at + 1
    yield selectors[start:].strip()


def _specificity(selector: str) -> tuple[int, int, int]:
    """Return how many ids, classes and the like, and elements it names [Selectors 4, 16]."""
    return (selector.count("#"), len(_PSEUDO.findall(selector)), len(_TYPE.findall(selector)))


def _holds(rule: Any) -> bool:
    """Return True for a block of rules that counts on a screen."""
    name, prelude = rule.lower_at_keyword, tinycss2.serialize(rule.prelude).lower()
    if name in {"supports", "layer", "scope", "container"}:
        return not prelude.strip().startswith("not")
    return name == "media" and any(map(_is_screen, prelude.split(",")))


def _is_screen(query: str) -> bool:
    words = set(re.findall(r"[a-z-]+", _CONDITION.sub("", query)))
    if words <= {"print", "speech", "only", "and"} and words & {"print", "speech"}:
        return False
    if words - {"screen", "all", "only", "and", "not", "print"}:
        return False  # such as a dark scheme
    return all(
        (_pixels(width) or 0) <= _WIDE
        if side == "min" or sign.startswith(">")
        else (_pixels(width) or 0) >= _WIDE
        for side, sign, width in _CONDITION.findall(query)
    )


@lru_cache(maxsize=10_000)
def _declarations(style: str) -> dict[str, tuple[str, bool]]:
    if not style:
        return {}
    with suppress(RecursionError):
        parsed = tinycss2.parse_blocks_contents(
            _EMBEDDED.sub("url()", style), skip_comments=True, skip_whitespace=True
        )
        return dict(_expanded([each for each in parsed if each.type == "declaration"]))
    return {}


def _expanded(declarations: Sequence[Any]) -> Iterator[tuple[str, tuple[str, bool]]]:
    """Yield what is of interest, with the parts of what sets several at once."""
    for each in declarations:
        name = _LOGICAL_NAME.sub(lambda found: _LOGICAL[found[1]], each.lower_name)
        if name not in _PROPERTIES:
            continue
        value = tinycss2.serialize(each.value).strip().lower()[:1_000]
        for part, text in _parts(name, value):
            yield part, (text, bool(each.important))


def _parts(name: str, value: str) -> Iterator[tuple[str, str]]:
    sides = value.split()
    if name == "font":
        if size := _FONT_SIZE.search(value):
            yield "font-size", size[1]
    elif name == "background":
        is_image = "url(" in value or "gradient" in value
        yield "background-image", "url()" if is_image else "none"
        # Whether a function that isn't known gives a colour isn't known either.
        yield "background-color", next(filter(_may_be_colour, _words(value)), "transparent")
    elif name in {"margin", "padding", "inset"} and sides:
        prefix = "" if name == "inset" else f"{name}-"
        yield f"{prefix}top", sides[0]
        yield f"{prefix}left", sides[3 % len(sides)] if len(sides) != 3 else sides[1]
        if name != "margin":
            yield f"{prefix}bottom", sides[2] if len(sides) > 2 else sides[0]
    else:
        yield name.removeprefix("-webkit-").replace("text-fill-", ""), value


def _words(value: str) -> list[str]:
    return re.findall(r"[^\s()]+(?:\((?:[^()]|\([^()]*\))*\))?", value)


def _may_be_colour(word: str) -> bool:
    is_picture = word.startswith("url(") or "gradient" in word
    return _colour(word) is not None or ("(" in word and not is_picture)


# What screen readers alone say, by the rules of Bootstrap, WordPress and others, which pages link
# to.
_UNSEEN_CLASSES = frozenset(
    {"sr-only", "visually-hidden", "screen-reader-text", "screenreader-only"}
)


def _presented(tag: str, attributes: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Yield what attributes other than `style` say of the look."""
    is_named_so = not _UNSEEN_CLASSES.isdisjoint((attributes.get("class") or "").split())
    if "hidden" in attributes or "popover" in attributes or is_named_so:
        yield "display", "none"
    if colour := attributes.get("bgcolor"):
        yield "background-color", colour
    if attributes.get("background"):
        yield "background-image", "url()"
    if tag in {"font", "body"} and (colour := attributes.get("color" if tag == "font" else "text")):
        yield "color", colour
    if tag in _DRAWN:
        for name in ("fill", "opacity", "display", "visibility", "font-size"):
            if value := attributes.get(name):
                is_empty = (name, value) == ("fill", "none") and not attributes.get("stroke")
                yield name, "transparent" if is_empty else value
        if opacity := attributes.get("fill-opacity"):
            yield "opacity", opacity


_DRAWN = frozenset({"svg", "g", "text", "tspan", "textpath", "a", "foreignobject"})


def looked(outer: Appearance, declared: Declared) -> Appearance:
    """Return how text looks in an element of an element."""
    if not declared or outer.is_gone:
        return outer
    get = declared.get
    look = replace(
        outer,
        is_gone=_is_gone(declared),
        is_invisible=_is_invisible(outer, get("visibility", "")),
        size=_size(outer.size, get("font-size", "")),
    )
    if "fill" in declared and "color" not in declared:
        declared = {**declared, "color": declared["fill"]}
    return _coloured(look, declared)


def _is_invisible(outer: Appearance, value: str) -> bool:
    if value in {"hidden", "collapse"}:
        return True
    return outer.is_invisible and value != "visible"


def _size(outer: float, value: str) -> float:
    found = _NUMBER.fullmatch(value)
    if not found:
        return outer
    number, unit = float(found[1]), found[2]
    if unit in {"em", "%"}:
        return outer * number / (100 if unit == "%" else 1)
    return number * _PIXELS.get(unit, 16)


def _coloured(look: Appearance, declared: Declared) -> Appearance:
    paper, ink, alpha = look.paper, look.ink, look.alpha
    if (image := declared.get("background-image", "none")) not in {"none", ""}:
        paper = None if "url(" in image or "gradient" in image else paper
    elif background := _colour(value := declared.get("background-color", "")):
        paper = _blended(background[:3], background[3], paper) if paper else None
        paper = background[:3] if background[3] >= 1 else paper
    elif "(" in value or _UNKNOWN in value:
        paper = None  # of a space of colours that isn't known here, or set by a theme
    if colour := _colour(declared.get("color", "")):
        ink, alpha = colour[:3], colour[3]
    elif "color" in declared and declared["color"] not in {"inherit", "currentcolor"}:
        ink, alpha = None, 1
    if declared.get("background-clip") == "text":
        ink, alpha = None, 1  # letters cut out of a picture
    return replace(look, paper=paper, ink=ink, alpha=alpha)


@lru_cache(maxsize=10_000)
def _colour(value: str) -> tuple[float, float, float, float] | None:
    with suppress(NotImplementedError, ValueError, RecursionError):
        parsed = color4.parse_color(value)
        if parsed is not None and not isinstance(parsed, str):
            red, green, blue = parsed.to("srgb").coordinates
            return (red, green, blue, parsed.alpha)
    plain = of_hex(value)  # bgcolor, without its sign
    return (*plain, 1.0) if plain else None


def _blended(colour: Sequence[float], alpha: float, paper: Sequence[float]) -> Colour:
    red, green, blue = (
        alpha * each + (1 - alpha) * below for each, below in zip(colour, paper, strict=True)
    )
    return (red, green, blue)


def _pixels(value: str) -> float | None:
    found = _NUMBER.search(value)
    if not found or found[2].lower() not in _PIXELS:
        return None
    return float(found[1]) * _PIXELS[found[2].lower()]


def _is_gone(declared: Declared) -> bool:
    get = declared.get
    return (
        get("display", "").startswith("none")
        or get("content-visibility") == "hidden"
        or _is_faint(get("opacity", ""))
        or _is_faint(get("zoom", ""))
        or _is_filtered(get("filter", ""), _transforms(declared))
        or _is_clipped(get("clip", ""), get("clip-path", ""))
        or _is_off_page(declared)
        or _has_no_room(declared)
    )


def _is_faint(value: str) -> bool:
    found = _NUMBER.fullmatch(value)
    return found is not None and float(found[1]) / (100 if found[2] == "%" else 1) <= _FAINT


def _transforms(declared: Declared) -> str:
    own = (f"{name}({declared[name]})" for name in ("scale", "translate") if name in declared)
    return " ".join([declared.get("transform", ""), *own])


def _is_filtered(effect: str, transform: str) -> bool:
    if (faint := re.search(r"opacity\(([^()]*)\)", effect)) and _is_faint(faint[1].strip()):
        return True
    if scaled := re.search(r"scale[xy3d]*\(([^()]*)\)", transform):
        return any(abs(float(each[1])) <= _FAINT for each in _NUMBER.finditer(scaled[1]))
    moved = re.search(r"translate[xy3d]*\(([^()]*)\)", transform)
    ways = re.split(r"[,\s]+", moved[1]) if moved else []
    return any(_is_far(each) for each in ways if "%" not in each)  # a share is of the element


def _is_clipped(clip: str, path: str) -> bool:
    numbers = [float(each[1]) for each in _NUMBER.finditer(clip)]
    if clip.startswith("rect") and len(numbers) == 4:
        top, right, bottom, left = numbers
        return (right - left) * (bottom - top) <= 1 or right <= left
    values = [(float(each[1]), each[2]) for each in _NUMBER.finditer(path)]
    if path.startswith("inset"):
        return any(number >= 50 and unit == "%" for number, unit in values)
    if path.startswith(("circle", "ellipse")):
        return bool(values) and values[0][0] == 0
    return path.startswith("polygon") and not any(number for number, _ in values)


def _is_far(value: str) -> bool:
    pixels = _pixels(value)
    if pixels is None:
        return False
    is_share = value.strip().endswith(("%", "vw", "vh"))
    return pixels <= -_FAR or (is_share and pixels <= -_HIGH)


def _is_off_page(declared: Declared) -> bool:
    get = declared.get
    if get("position", "static") != "static" and any(
        _is_far(get(side, "")) for side in ("left", "top", "right", "bottom")
    ):
        return True
    is_beside = get("position") in {"absolute", "fixed"} and (_pixels(get("left", "")) or 0) > 5_000
    indent = get("text-indent", "")
    is_pushed_out = _has_overflow_cut(declared) and (_pixels(indent) or 0) >= _FAR
    return (
        is_beside
        or is_pushed_out
        or _is_far(indent)
        or any(
            # A band across a page has as much on its inside.
            _is_far(get(f"margin-{side}", "")) and (_pixels(get(f"padding-{side}", "")) or 0) < _FAR
            for side in ("left", "top")
        )
    )


def _has_overflow_cut(declared: Declared) -> bool:
    cut = " ".join(declared.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    return any(word in cut for word in ("hidden", "clip", "auto", "scroll"))


def _has_no_room(declared: Declared) -> bool:
    if not _has_overflow_cut(declared):
        return False
    sides = [
        _pixels(declared.get(side, "")) for side in ("width", "height", "max-width", "max-height")
    ]
    if not any(side is not None and side <= _TINY for side in sides):
        return False
    # A box of a picture's shape has its room in there.
    padding = [
        _pixels(declared.get(f"padding-{side}", "")) or 0 for side in ("top", "left", "bottom")
    ]
    return max(padding) <= _TINY
