"""What looks at pages finds what is wrong with one, or it would find nothing anywhere."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import ChromiumMissing, started
from tests.browser.looks import Looks

PAGE = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>A page</h1>{}</main></body></html>"""


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ('<p style="color: #aaa; background: #fff">pale</p>', "color-contrast"),
        ('<input type="text">', "label"),
        ('<p style="width: 600px">wide</p>', "wide p: wide"),
        ('<p style="width: 40px; overflow: hidden; white-space: nowrap">cut off here</p>', "cut p"),
        ('<p style="height: 9px; overflow: hidden">cut below</p>', "cut p: cut below"),
        ('<p>below</p><p style="margin-top: -34px">above</p>', r"overlap p: below \| p: above"),
        ('<p>below <input aria-label="a" style="margin-left: -3rem"></p>', "overlap p: below"),
        ('<p style="min-width: 340px">stiff</p>', "at 320: wide p: stiff"),
        (
            '<p>behind</p><dialog id="box"><input type="text"></dialog>'
            '<script>document.getElementById("box").showModal()</script>',
            "label",
        ),
    ],
)
def test_what_is_wrong_with_a_page_is_found(
    chromium: Browser, tmp_path: Path, content: str, found: str
) -> None:
    page = chromium.new_page()
    page.set_content(PAGE.format(content))

    with pytest.raises(AssertionError, match=found):
        Looks(tmp_path).check(page, "wrong")

    page.close()


def test_of_what_is_behind_a_dialog_nothing_is_said(chromium: Browser, tmp_path: Path) -> None:
    page = chromium.new_page()
    page.set_content(
        PAGE.format(
            '<p>below</p><p style="margin-top: -34px">above</p>'
            '<dialog id="box" aria-label="A dialog"><p>all is well</p></dialog>'
            '<script>document.getElementById("box").showModal()</script>'
        )
    )

    Looks(tmp_path).check(page, "right")

    page.close()


def test_a_page_is_looked_at_in_each_way_and_kept(chromium: Browser, tmp_path: Path) -> None:
    page = chromium.new_page()
    page.set_content(PAGE.format('<p style="overflow-x: auto"><b>all is well</b></p>'))

    Looks(tmp_path).check(page, "right")

    page.close()
    assert {each.name for each in tmp_path.iterdir()} == {
        f"right-{width}-{scheme}.png" for width in (375, 1440) for scheme in ("light", "dark")
    }


def test_without_a_browser_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tests.browser.chromium._PATH", tmp_path / "chromium")

    with pytest.raises(ChromiumMissing, match="make browser"), started():
        pass
