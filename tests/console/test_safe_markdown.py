"""A model's Markdown is shown as intended, and does nothing."""

import re
from html.parser import HTMLParser

import pytest

from stackroom_console.safe_markdown import markdown
from tests.browser.payloads import PAYLOADS

TAGS = {
    *("a", "br", "code", "div", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
    *("blockquote", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"),
}


class Read(HTMLParser):
    """A browser's reading of HTML: the tags with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_headings_lists_tables_code_and_emphasis_are_shown() -> None:
    shown = markdown(
        "## Prices\n\n**Two** `kinds`:\n\n- a\n- b\n\n|x|y|\n|-|-|\n|1|2|\n\n```\na<b\n```"
    )

    assert " ".join(tag for tag, _ in Read(shown).found) == (
        "h3 p strong code ul li li div table thead tr th th tbody tr td td pre code"
    )
    assert "<code>a&lt;b\n</code>" in shown


def test_columns_of_a_table_keep_their_alignment() -> None:
    shown = markdown("|a|b|c|d|\n|:-|-:|:-:|-|\n|1|2|3|4|")

    cells = [(tag, given.get("class")) for tag, given in Read(shown).found if tag in ("th", "td")]
    classes = [None, "right", "center", None]
    assert cells == [(tag, each) for tag in ("th", "td") for each in classes]
    assert "style" not in shown


def test_headings_go_down_one_step_at_a_time() -> None:
    shown = markdown("### A\n\n# B\n\n#### C\n\n# D\n\n# E\n\n## F")

    assert re.findall(r"<(h\d)>(\w)", shown) == [
        ("h3", "A"), ("h3", "B"), ("h4", "C"), ("h3", "D"), ("h3", "E"), ("h4", "F")
    ]  # fmt: skip


@pytest.mark.parametrize("url", ["http://a.example/x", "https://a.example", "mailto:a@b.example"])
def test_links_that_lead_out_are_links_without_an_opener(url: str) -> None:
    [(_, link)] = [each for each in Read(markdown(f"[x]({url})")).found if each[0] == "a"]

    assert link == {"href": url, "rel": "noopener noreferrer nofollow"}


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:attacked(1)", "JaVaScRiPt:attacked(1)", "java&#10;script:attacked(1)"),
        *("&#106;avascript:attacked(1)", "data:text/html,<script>1</script>", "vbscript:x"),
        *("/sign-out", "//a.example", "sign-out", "#main", "?x", "file:///etc/passwd", "https:x"),
        *("blob:https://a.example/1", "\u0001javascript:attacked(1)"),
    ],
)
@pytest.mark.parametrize("form", ["[x]({})", "[x](<{}>)", "<{}>", "[x][r]\n\n[r]: {}", "![x]({})"])
def test_other_links_are_text(url: str, form: str) -> None:
    shown = markdown(form.format(url), cited={1: "passage-1"})

    assert [each for each in Read(shown).found if each[0] != "p"] == []


def test_image_becomes_no_image_element() -> None:
    assert "<img" not in markdown("![x](https://a.example/seen.png)")


def test_a_number_of_a_passage_leads_to_it_and_others_stay_text() -> None:
    shown = markdown("So [2], and [1, 3], not [1, 4] nor `[1]`.", cited={1: "a", 2: "b", 3: "c"})

    links = [each["href"] for tag, each in Read(shown).found if tag == "a"]
    assert links == ["#b", "#a", "#c"]
    assert "[1, 4]" in shown
    assert "<code>[1]</code>" in shown


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
@pytest.mark.parametrize(
    "form",
    ["{}", "[{}]({})", "```{}\n{}\n```", "    {}\n\n    {}", "|{}|\n|-|\n|{}|", "# {}\n> {}"],
)
def test_hostile_markdown_becomes_no_element_or_attribute(payload: str, form: str) -> None:
    shown = Read(markdown(form.format(payload, payload), cited={1: "passage-1"}))

    allowed = {"aria-label", "class", "href", "rel", "role", "start", "tabindex"}
    assert {tag for tag, _ in shown.found} <= TAGS
    assert {name for _, attributes in shown.found for name in attributes} <= allowed
    assert not [
        each["href"]
        for _, each in shown.found
        if "href" in each and not re.match("https?://|mailto:|#passage-1$", each["href"] or "")
    ]


def test_direction_override_is_shown_as_a_replacement_character() -> None:
    assert markdown("invoice\u202etxt.exe\u0000") == "<p>invoice\ufffdtxt.exe\ufffd</p>\n"
