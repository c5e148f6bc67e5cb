"""
A model's Markdown as safe HTML: headings, lists, tables, code and links, and nothing else.

A renderer that knows no HTML makes it of the Markdown, and a sanitiser that knows only these tags
reads what was made: what one of them overlooks the other doesn't let through.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup, escape

from stackroom.access.tool import is_plain

_SCHEMES = frozenset({"http", "https", "mailto"})
# Of an anchor on the page, as `cited` names them.
_ANCHOR = re.compile(r"#[A-Za-z][A-Za-z0-9_-]*")
_TAGS = {
    *("a", "br", "code", "div", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
    *("blockquote", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"),
}
_ATTRIBUTES: dict[str, set[str]] = {
    "*": set(),  # where nothing is said, the sanitiser lets titles through
    "a": {"aria-label", "href"},
    "div": {"aria-label", "role", "tabindex"},
    "ol": {"start"},
    "pre": {"tabindex"},
}
_ALIGNED = {"center", "right"}  # columns of a table; to the left is where all others stand
_CLASSES = {"a": {"cite"}, "div": {"wide"}, "td": _ALIGNED, "th": _ALIGNED}
_NUMBERS = re.compile(r"\[(\d{1,4}(?:\s{0,3},\s{0,3}\d{1,4}){0,20})\](?![(:])")
_TOP = 3  # of the headings: above them are the page's own


def markdown(text: str, *, cited: Mapping[int, str] | None = None) -> Markup:
    """
    Return safe HTML, without images and without links but to http, https and mailto. `[3]` leads to
    the anchor that `cited` has for 3, as `<a class="cite">`; a number that isn't there stays text.
    """
    # Safe is what the sanitiser let through, and all of it is tested with hostile texts.
    made = _RENDERER.render(_plain(text), {"cited": cited or {}})
    return Markup(_SANITISER.clean(made))  # noqa: S704


def _plain(text: str) -> str:
    """Return the text with U+FFFD for invisible characters and those that reverse a line."""
    shown = (each if is_plain(each) or each in "\t\r\n" else "\ufffd" for each in text)
    return "".join(shown)


class _Markdown(MarkdownIt):
    # The name is the renderer's.
    def validateLink(self, url: str) -> bool:  # noqa: N802
        return _leads_out(url)


def _leads_out(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in _SCHEMES and bool(parts.netloc or parts.scheme == "mailto")


def _cite(state: StateInline, silent: bool) -> bool:
    """A rule of the renderer: `[3]` or `[1, 3]` where all of them are known."""
    if state.src[state.pos] != "[" or state.linkLevel:
        return False
    found = _NUMBERS.match(state.src, state.pos)
    cited: Mapping[int, str] = state.env.get("cited", {})
    if found is None or state.pos + len(found[0]) > state.posMax:
        return False
    numbers = [int(each) for each in found[1].split(",")]
    if not all(each in cited for each in numbers):
        return False
    if not silent:
        for number in numbers:
            state.push("cite", "", 0).meta = {"number": number, "anchor": cited[number]}
    state.pos += len(found[0])
    return True


class _Renderer(RendererHTML):
    def cite(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        meta = tokens[idx].meta
        number = meta["number"]
        anchor = escape(f"#{meta['anchor']}")
        return f'<a class="cite" href="{anchor}" aria-label="Source {number}">{number}</a>'

    def table_open(self, *_: Any) -> str:
        """Open a table that scrolls where it is too wide, by keyboard too."""
        return '<div class="wide" role="region" aria-label="Table" tabindex="0"><table>\n'

    def table_close(self, *_: Any) -> str:
        return "</table></div>\n"

    def fence(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return f'<pre tabindex="0"><code>{escape(tokens[idx].content)}</code></pre>\n'

    def code_block(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        return self.fence(tokens, idx)


def _outline(state: Any) -> None:
    """A rule of the renderer: headings go down one step at a time, whatever was written."""
    above: list[str] = []
    for token in state.tokens:
        if token.type == "heading_open":
            while above and above[-1] >= token.tag:
                above.pop()
            above.append(token.tag)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_TOP - 1 + len(above), 6)}"


def _align(state: Any) -> None:
    """A rule of the renderer: a column's alignment is a class, since no style is let through."""
    for token in state.tokens:
        if token.type in ("td_open", "th_open"):
            style = str(token.attrs.pop("style", ""))
            if (to := style.removeprefix("text-align:")) in _ALIGNED:
                token.attrs["class"] = to


def _let_through(tag: str, attribute: str, value: str) -> str | None:
    if (tag, attribute) == ("a", "href"):
        return value if _leads_out(value) or _ANCHOR.fullmatch(value) else None
    return value


def _made() -> MarkdownIt:
    made = _Markdown("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
    made.enable(["table", "strikethrough"]).disable("image")
    made.inline.ruler.before("link", "cite", _cite)
    made.core.ruler.push("outline", _outline)
    made.core.ruler.push("align", _align)
    return made


_RENDERER = _made()
_SANITISER = nh3.Cleaner(
    tags=_TAGS,
    attributes=_ATTRIBUTES,
    attribute_filter=_let_through,
    allowed_classes=_CLASSES,
    url_schemes=set(_SCHEMES),
    link_rel="noopener noreferrer nofollow",
)
