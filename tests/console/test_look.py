"""How the console looks is what somebody chose: light, dark, or as their system is."""

import re

import pytest

from stackroom_console.rendering import STATIC
from tests.console.browser import Browser
from tests.console.conftest import NewBrowser

# Contrast that WCAG 2.2 asks for: 1.4.3 of text, 1.4.11 of what a control is known by.
TEXT, BORDER = 4.5, 3.0
GROUNDS = ("ground", "surface", "sunk")
PAIRS = (
    *(
        (text, ground, TEXT)
        for text in (
            "ink",
            "ink-muted",
            "accent",
            "accent-hover",
            "good",
            "under-way",
            "gaps",
            "bad",
        )
        for ground in (*GROUNDS, "accent-soft")
    ),
    *((state, f"{state}-background", TEXT) for state in ("good", "under-way", "gaps", "bad")),
    *(
        ("accent-ink", f"{ground}{hover}", TEXT)
        for ground in ("accent-background", "danger-background")
        for hover in ("", "-hover")
    ),
    ("mark-ink", "mark", TEXT),
    *(("line-strong", ground, BORDER) for ground in ("ground", "surface")),
    *(("accent", ground, BORDER) for ground in GROUNDS),
)


def test_theme_is_set_with_the_page_and_kept_in_the_browser(
    alice: Browser, new_browser: NewBrowser
) -> None:
    answer = alice.post("/theme", theme="dark", return_to="/ask?catalog=cat-1")

    assert (answer.status_code, answer.headers["location"]) == (303, "/ask?catalog=cat-1")
    for page in ("/agents", "/no/such/page"):
        text = alice.get(page).text
        assert '<html lang="en" data-theme="dark">' in text
        assert 'name="color-scheme" content="dark"' in text
    pressed = re.findall(r'value="(\w+)" aria-pressed="true"', alice.get("/agents").text)
    assert pressed == ["dark"]
    assert "data-theme" not in new_browser().get("/sign-in").text
    alice.post("/sign-out")
    assert 'data-theme="dark"' in alice.get("/sign-in").text


def test_system_theme_sets_no_theme_attribute(alice: Browser) -> None:
    alice.post("/theme", theme="dark")

    alice.post("/theme", theme="system")

    text = alice.get("/agents").text
    assert "data-theme" not in text
    assert 'name="color-scheme" content="light dark"' in text


def test_no_other_theme_is_taken_and_nobody_is_led_elsewhere(alice: Browser) -> None:
    refused = alice.post("/theme", theme='dark" onload="alert(1)')
    led = alice.post("/theme", theme="dark", return_to="https://example.com/")

    assert refused.status_code == 400
    assert "Allowed: system, light, dark" in refused.text
    assert led.headers["location"] == "/catalogs"
    alice.client.cookies.set("__Host-stackroom-theme", '"><script>', domain="console.test")
    assert "data-theme" not in alice.get("/sign-in").text


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_text_has_enough_contrast_in_both_themes(theme: int) -> None:
    sheet = (STATIC / "console.css").read_text("utf-8")
    colours = dict(re.findall(r"--([a-z-]+): (.+?);", sheet))

    def luminance(name: str) -> float:
        """https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""
        found = re.findall("#[0-9a-f]{3,6}", colours[name])
        digits = found[theme if len(found) > 1 else 0][1:]
        pairs = (
            [digits[i : i + 2] for i in (0, 2, 4)] if len(digits) == 6 else [c * 2 for c in digits]
        )
        shares = [int(each, 16) / 255 for each in pairs]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return sum(
            weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
        )

    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    assert [
        (text, ground, round(contrast(text, ground), 2))
        for text, ground, least in PAIRS
        if contrast(text, ground) < least
    ] == []
