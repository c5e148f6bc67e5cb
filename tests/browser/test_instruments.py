"""What looks at pages finds what is wrong with one, or it would find nothing anywhere."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import ChromiumMissing, started
from tests.browser.looks import Looks

PAGE = """<!doctype html><html lang="en"><head><title>A page</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>A page</h1>{}</main></body></html>"""
WRONG = {
    '<p style="color: #aaa; background: #fff">pale</p>': "color-contrast",
    '<p style="width: 600px">wide</p>': "wide p: wide",
    '<p style="width: 40px; overflow: hidden; white-space: nowrap">cut off here</p>': "cut p",
    '<p style="height: 9px; overflow: hidden">cut below</p>': "cut p: cut below",
    '<p>below</p><p style="margin-top: -34px">above</p>': "overlap p: below | p: above",
    '<p style="min-width: 340px">stiff</p>': "at 320: wide p: stiff",
    '<p>behind</p><dialog id="box"><input type="text"></dialog>'
    '<script>document.getElementById("box").showModal()</script>': "label",
}


def test_what_is_wrong_with_a_page_is_found_and_what_is_behind_a_dialog_is_not(
    chromium: Browser, tmp_path: Path
) -> None:
    page = chromium.new_page()

    told = []
    for content in WRONG:
        page.set_content(PAGE.format(content))
        with pytest.raises(AssertionError) as found:
            Looks(tmp_path).compare(page, "wrong")
        told.append(str(found.value))
    page.set_content(
        PAGE.format(
            '<p>below</p><p style="margin-top: -34px">above</p>'
            '<dialog id="box" aria-label="A dialog"><p>all is well</p></dialog>'
            '<script>document.getElementById("box").showModal()</script>'
        )
    )
    Looks(tmp_path).check(page, "right")

    page.close()
    for text, problem in zip(told, WRONG.values(), strict=True):
        assert problem in text
    assert {each.name for each in tmp_path.iterdir()} == {
        f"right-{width}-{scheme}.png" for width in (375, 1440) for scheme in ("light", "dark")
    }


def test_without_a_browser_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tests.browser.chromium._PATH", tmp_path / "chromium")

    with pytest.raises(ChromiumMissing, match="make browser"), started():
        pass
