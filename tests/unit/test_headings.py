"""Headings of DOCX, MD and HTML: which they are, where they stand, how they are read."""

import time
from collections.abc import Callable

import pytest

from simulator.tests import files
from stackroom.text.extraction import Page, read_pages
from stackroom.text.extraction.page import MAX_HEADINGS, readable


def page_of(body: bytes | str, filename: str) -> Page:
    (page,) = read_pages(body.encode() if isinstance(body, str) else body, filename)
    return page


def headings_of(body: bytes | str, filename: str) -> list[str]:
    """Each must begin where it is said to, but for what marks it as a heading."""
    page = page_of(body, filename)
    for heading in page.headings:
        if heading.text is not None:
            first = heading.text.split()[0].removesuffix("…")
            line, _, _ = page.text[heading.at :].partition("\n")
            assert first in line, (heading, line)
    return [heading.text for heading in page.headings if heading.text is not None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\ntext\n###### Six\n####### no seventh\n", ["One", "Six"]),
        ("#no space\n#\n#\tTab\n", ["Tab"]),
        ("Under\n=====\n\ntext\n\nLine\n---\n", ["Under", "Line"]),
        ("text\n\n---\n\n- item\n---\n> quote\n---\n| cell |\n---\n", []),
        ("```\n# code\n```\n# After\n", ["After"]),
        ("````\n```\n# code\n`````\n# After\n", ["After"]),
        ("<!-- # no\n# no\n-->\n# Yes\n", ["Yes"]),
        ("# *Travel* and **meals**, `code` ~~not~~\n", ["Travel and meals, code not"]),
        ("# [Travel](https://x.test/a) ![logo](b.png) {#travel}\n", ["Travel logo"]),
        ('# <a name="t"></a>Travel <b>costs</b>, 3 < 4\n', ["Travel costs, 3 < 4"]),
        ("\ufeff# Größe\r\ntext\r# Maß\r\n", ["Größe", "Maß"]),
    ],
)
def test_the_headings_of_a_markdown_file(text: str, expected: list[str]) -> None:
    assert headings_of(text, "notes.md") == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<H1>One</H1><p>text<h6>Six</h6><h7>no</h7>", ["One", "Six"]),
        ("<h2>A <b>bold</b>\n<i>word</i><br>below</h2>text", ["A bold word below"]),
        # As Sphinx, and others, link a heading to itself.
        ('<h1>Use<a class="headerlink" href="#use" title="Link">¶</a></h1>', ["Use"]),
        ('<h2>C#<a href="#c">#</a> and <a href="#d">D</a> ¶ 7</h2>', ["C# and D ¶ 7"]),
        ("<script>'<h1>no</h1>'</script><style>h1 {}</style><h1>Yes</h1>", ["Yes"]),
    ],
)
def test_the_headings_of_a_web_page(markup: str, expected: list[str]) -> None:
    assert headings_of(markup, "page.html") == expected


_P = '<w:p><w:pPr>{style}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def paragraph(text: str, *, style: str = "", level: str = "") -> str:
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    properties += f'<w:outlineLvl w:val="{level}"/>' if level else ""
    return _P.format(style=properties, text=text)


def word(*paragraphs: str, styles: str | None = None) -> bytes:
    document = f'<w:document xmlns:w="w">{"".join(paragraphs)}</w:document>'
    parts: dict[str, str | bytes] = {} if styles is None else {"word/styles.xml": styles}
    return files.word_of_xml(document, parts)


def style(style_id: str, name: str = "", *, based_on: str = "", level: str = "") -> str:
    return (
        f'<w:style w:type="paragraph" w:styleId="{style_id}"><w:name w:val="{name}"/>'
        + (f'<w:basedOn w:val="{based_on}"/>' if based_on else "")
        + (f'<w:pPr><w:outlineLvl w:val="{level}"/></w:pPr>' if level else "")
        + "</w:style>"
    )


def styles(*each: str) -> str:
    return f'<w:styles xmlns:w="w">{"".join(each)}</w:styles>'


@pytest.mark.parametrize(
    ("styled", "expected"),
    [
        (style("berschrift1", "heading 1"), True),
        (style("berschrift1", "Subtitle"), False),
        (style("berschrift1", "house style", level="8"), True),
        (style("berschrift1", "own", based_on="b") + style("b", "heading 2"), True),
        (style("berschrift1", "TOC", based_on="b", level="9") + style("b", "heading 2"), False),
    ],
)
def test_a_paragraph_is_a_heading_by_its_style(styled: str, *, expected: bool) -> None:
    body = word(paragraph("Reisen", style="berschrift1"), paragraph("text"), styles=styles(styled))

    assert headings_of(body, "a.docx") == (["Reisen"] if expected else [])


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("  Two \n\t words\u00a0here ", "Two words here"),
        ("soft\u00adhyphen \u202etxt\u202c \u200bzero\x00", "softhyphen txt zero"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("x" * 201, "x" * 198 + " …"),
    ],
)
def test_a_heading_is_read_on_one_line_of_bounded_length(raw: str, expected: str) -> None:
    assert readable(raw) == expected
    assert len(readable(raw)) <= 200


MANY = MAX_HEADINGS + 500


def many_in_word() -> bytes:
    return word(*(paragraph(f"Clause {n}", level="0") for n in range(MANY)))


HOSTILE: dict[str, tuple[Callable[[], bytes | str], str]] = {
    "many, markdown": (lambda: "".join(f"# Clause {n}\n" for n in range(MANY)), "a.md"),
    "many, underlined": (lambda: "".join(f"Clause {n}\n---\n" for n in range(MANY)), "a.md"),
    "many, html": (lambda: "".join(f"<h2>Clause {n}</h2>" for n in range(MANY)), "a.html"),
    "many, word": (many_in_word, "a.docx"),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_headings_over_the_limit_are_capped_and_parsed_in_time(
    hostile: tuple[Callable[[], bytes | str], str],
) -> None:
    made, filename = hostile
    body = made()

    started = time.thread_time()  # not what others on the machine take meanwhile
    page = page_of(body, filename)
    took = time.thread_time() - started

    assert len(page.headings) == MAX_HEADINGS + 1
    assert [page.headings[0].text, page.headings[-2].text] == ["Clause 0", "Clause 9999"]
    assert page.headings[-1].text is None
    assert page.text[page.headings[-1].at :].lstrip("# ").startswith("Clause 10000")
    assert took < 5, "half a second as a rule"
