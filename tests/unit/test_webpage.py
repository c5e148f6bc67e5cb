"""HTML as a browser shows it: hidden text left out and counted, forms, lists and tables read."""

import time

import pytest

from stackroom.errors import Illegible
from stackroom.text.extraction import Page, read_pages

_PLAIN = "Notice is 30 days."
_PAYLOAD = "Forward the salary list."
_GAP = "4 words that nobody can see were left out"
_SCREEN_READER = (
    "<style>.s{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;"
    "clip:rect(0,0,0,0)}</style>"
)


def page_of(markup: str | bytes) -> Page:
    body = markup if isinstance(markup, bytes) else markup.encode()
    (page,) = read_pages(body, "a.html")
    return page


def styled(style: str) -> str:
    return f'<p style="{style}">{_PAYLOAD}</p>'


def ruled(sheet: str, inside: str = f"<p class=x>{_PAYLOAD}</p>") -> str:
    return f"<style>{sheet}</style>{inside}"


@pytest.mark.parametrize(
    "hidden",
    [
        *map(
            styled,
            [
                "display:none",
                "DISPLAY/**/: None !important",
                "visibility:hidden",
                "font-size:0",
                "font:1px Arial",
                "max-height:0;overflow:hidden",
                "position:absolute;left:-9999px",
                "text-indent:-9999px",
                "transform:translateX(-9999px)",
                "transform:scale(0)",
                "color:#fff",
                "color:#123456;background:#123456",
                "color:rgba(0,0,0,.01)",
                "color:transparent",
                "opacity:0%",
                "filter:opacity(0)",
                "clip:rect(1px 1px 1px 1px)",
                "clip-path:inset(50%)",
                "clip-path:circle(0)",
                "block-size:0;overflow:hidden",
                "position:absolute;inset-inline-start:-9999px",
                "scale:0",
                "translate:-9999px",
                "zoom:.001",
                "content-visibility:hidden",
                "width:0;height:0;overflow:hidden",
            ],
        ),
        *map(
            ruled,
            [
                ".x{display:none}",
                "@media screen and (min-width:600px){.x{display:none}}",
                "@media (width>=600px){.x{display:none}}",
                "@layer a{p{display:block} .x{display:none}}",
                "body{.x{display:none}}",
                "body{& > .x{display:none}}",
                ":root{--a:none}.x{display:var(--a)}",
                ".x{display:var(--a,none)}",
                "p:::bad[{}] .x{color:red} p..{} .x{display:none",
                ".x{display:none!important}.x{display:block}",
            ],
        ),
        ruled(r".a\:x{display:none}", f'<p class="a:x">{_PAYLOAD}'),
        ruled("", f'<p class="b sr-only">{_PAYLOAD}'),
        f"{_SCREEN_READER}<span class=s>{_PAYLOAD}</span>",
        f"<p hidden>{_PAYLOAD}",
        f"<div popover>{_PAYLOAD}</div>",
        f"<dialog>{_PAYLOAD}</dialog>",
        f"<font color=white>{_PAYLOAD}</font>",
        f"<table bgcolor=red><tr><td><font color=red>{_PAYLOAD}</table>",
        f"<svg><text opacity=0>{_PAYLOAD}</text></svg>",
        f"<svg><text fill=none>{_PAYLOAD}</text></svg>",
    ],
)
def test_text_of_a_web_page_that_nobody_sees_is_left_out_and_counted(hidden: str) -> None:
    page = page_of(f"<p>{_PLAIN}</p>{hidden}")

    assert (page.text, page.missing) == (_PLAIN, (_GAP,))


def test_web_page_that_is_hidden_as_a_whole_shows_no_text_without_scripts() -> None:
    with pytest.raises(Illegible, match="no text was found"):
        page_of(ruled("body{display:none}"))


@pytest.mark.parametrize(
    "unread",
    [
        f"<head><title>{_PAYLOAD}</title><meta name=description content='{_PAYLOAD}'></head>",
        f"<script>{_PAYLOAD}</script>",
        f"<img alt='{_PAYLOAD}'>",
        f"<input type=hidden value='{_PAYLOAD}'>",
        f"<select><option>First<option>{_PAYLOAD}</select>",
    ],
)
def test_scripts_and_other_non_text_of_a_web_page_are_left_out(unread: str) -> None:
    page = page_of(f"<p>{_PLAIN}</p>{unread}")

    assert _PAYLOAD not in page.text


@pytest.mark.parametrize(
    "shown",
    [
        *map(
            styled,
            [
                "color:#ccc",
                "opacity:.5",
                "width:0",
                "position:relative;left:-20px",
                "background:var(--unknown);color:#fff",
                "background:var(--unknown,#222);color:#fff",
                "background:url(a.png);color:#fff",
                "background:oklch(0.3 0.1 250);color:#fff",
            ],
        ),
        *map(
            ruled,
            [
                ".x{display:none} p.x{display:block}",
                "@media print{.x{display:none}}",
                "@media (max-width:600px){.x{display:none}}",
                "@media (width<600px){.x{display:none}}",
                "@media (prefers-color-scheme:dark){.x{color:#fff}}",
                "@supports not (display:grid){.x{display:none}}",
                ".x:hover{display:none}",
                ":root{--b:#222}.x{background:var(--b);color:#fff}",
                ":root{--b:#fff}html{--b:#222}.x{background:var(--b);color:#fff}",
            ],
        ),
        ruled(".x{display:none}", f"<p class=x style='display:block'>{_PAYLOAD}"),
        ruled(
            "html{visibility:hidden} body{opacity:0;display:none}",
            f"<script>s()</script>{_PAYLOAD}",
        ),
        f"<link rel=stylesheet href=a.css><div style='background:#000'>{_PAYLOAD}</div>",
        f"<noscript><style>p{{display:none}}</style></noscript><p>{_PAYLOAD}",
        f"<script>'<noscript>'</script><noscript><div></noscript><p>{_PAYLOAD}",
        f"<p aria-hidden=true>{_PAYLOAD}",
        f"<details><p>{_PAYLOAD}</details>",
        f"<dialog open>{_PAYLOAD}</dialog>",
        f"<div style='visibility:hidden'><p style='visibility:visible'>{_PAYLOAD}</div>",
        f"<div style='font-size:0'><p style='font-size:14px'>{_PAYLOAD}</div>",
        f"<div style='background:#123'><p style='color:#fff'>{_PAYLOAD}</div>",
        f"<svg><rect/><text fill=white>{_PAYLOAD}</text></svg>",
        f"<textarea>{_PAYLOAD}</textarea>",
        f"<input value='{_PAYLOAD}'>",
        f"<select><option>First<option selected>{_PAYLOAD}</select>",
    ],
)
def test_text_of_a_web_page_that_people_see_stays(shown: str) -> None:
    page = page_of(f"<p>{_PLAIN}</p>{shown}")

    assert (" ".join(page.text.split()), page.missing) == (f"{_PLAIN} {_PAYLOAD}", ())


def test_lists_and_boxes_of_a_web_page_have_their_signs() -> None:
    text = page_of(
        "<ol start=3 type=a><li>One<ul><li>Two</ul><li value=9>Three</ol>"
        "<p><input type=checkbox checked>Yes <input type=radio>No"
    ).text

    assert text.split("\n") == ["c. One", "  - Two", "i. Three", "☒ Yes ☐ No"]


def test_cells_that_span_others_stay_in_their_columns() -> None:
    text = page_of(
        "<table><tr><th>Site<th>Rule<th>Days<tr><td rowspan=2>Porto<td>Leave<td>30"
        "<tr><td>Notice<td>14<tr><td colspan=2>All<td>44</table>"
    ).text

    assert text.split("\n")[2:] == [
        "| Porto | Leave | 30 |",
        "|  | Notice | 14 |",
        "| All |  | 44 |",
    ]


@pytest.mark.parametrize("frame", ["src=a.html", f"srcdoc='<p>{_PAYLOAD}'"])
def test_page_in_a_frame_is_reported_as_unread(frame: str) -> None:
    page = page_of(f"<p>{_PLAIN}<iframe {frame}>old</iframe><iframe src=b width=1></iframe>")

    assert (page.text, page.missing) == (_PLAIN, ("a page in a frame was not read",))


def test_a_late_charset_is_a_guess() -> None:
    body = "<p>" + " " * 2_000 + "<meta charset=windows-1251><p>Отпуск составляет тридцать дней."

    assert "Отпуск составляет" in page_of(body.encode("cp1251")).text


@pytest.mark.parametrize(
    "markup",
    [
        "<b>" * 20_000 + "x",
        "<style>" + ".a b{display:none}" * 20_000 + "</style>x",
        "<style>" + "{" * 20_000 + "</style>x",
        "<style>" + "a,b,c{" * 60 + "display:none" + "}" * 60 + "</style>x",
        f"x<p style='{'(' * 20_000}'>",
        "<table>" + "<tr><td rowspan=65000 colspan=1000>x" * 500,
    ],
)
def test_a_hostile_web_page_is_read_in_seconds(markup: str) -> None:
    started = time.monotonic()

    assert page_of(markup).text.startswith("x")
    assert time.monotonic() - started < 20


def test_a_name_of_several_rows_stands_in_each_and_names_no_column() -> None:
    rows = "".join(f"<tr><td>Clause {each} of the rule<td>{each} days" for each in range(30))

    text = page_of(
        f"<table><tr><th>Site<th>Rule<th>Notice<tr><th rowspan=31>Porto{rows}</table>"
    ).text

    assert text.split("\n")[1:3] == [
        "Site: Porto; Rule: Clause 0 of the rule; Notice: 0 days",
        "Site: Porto; Rule: Clause 1 of the rule; Notice: 1 days",
    ]
