"""How the console looks is what somebody chose: light, dark, or as their system is."""

import re

from tests.console.browser import Browser
from tests.console.conftest import NewBrowser

# Contrast that WCAG 2.2 asks for: 1.4.3 of text, 1.4.11 of what a control is known by.
TEXT, BORDER = 4.5, 3.0


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


def test_no_other_theme_is_taken_and_nobody_is_led_elsewhere(alice: Browser) -> None:
    refused = alice.post("/theme", theme='dark" onload="alert(1)')
    led = alice.post("/theme", theme="dark", return_to="https://example.com/")

    assert refused.status_code == 400
    assert "Allowed: system, light, dark" in refused.text
    assert led.headers["location"] == "/catalogs"
    alice.client.cookies.set("__Host-stackroom-theme", '"><script>', domain="console.test")
    assert "data-theme" not in alice.get("/sign-in").text
