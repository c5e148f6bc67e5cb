"""Somebody new: a sample, an answer from it, an address to copy, and the theme they like."""

from urllib.parse import urlsplit

from playwright.sync_api import expect

from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn

QUESTION = "Which kinds of files does Stackroom read?"
BACKGROUND = "() => getComputedStyle(document.documentElement).backgroundColor"


def test_new_user_gets_an_answer_after_two_clicks(signed_in: SignedIn) -> None:
    page = signed_in("newcomer").page
    steps = page.get_by_role("region", name="Three steps to your first answer")
    expect(steps.get_by_role("heading", level=3)).to_have_text(
        ["Create a catalog", "Add your files", "Ask"]
    )

    page.get_by_role("button", name="Add a sample catalog").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("About Stackroom")
    expect(page.locator("#documents td .state.searchable")).to_have_count(4)
    page.get_by_role("link", name=QUESTION).click()

    expect(page.locator("#answer")).to_contain_text("PDF, Word (docx), Excel (xlsx)")
    page.get_by_role("link", name="Catalogs").first.click()
    expect(page.get_by_role("link", name="About Stackroom", exact=True)).to_be_visible()
    expect(steps).to_have_count(0)


def test_an_address_is_copied_by_a_press(signed_in: SignedIn, instance: Instance) -> None:
    visitor = signed_in("connected")
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.open("/connect")

    page.get_by_role("button", name="Copy the address").click()

    expect(page.locator("#announced")).to_have_text("Copied")
    assert page.evaluate("() => navigator.clipboard.readText()") == instance.mcp_url


def test_a_theme_counts_at_once_and_nothing_typed_is_lost(signed_in: SignedIn) -> None:
    visitor = signed_in("owl")
    page = visitor.open("/ask")
    page.emulate_media(color_scheme="light")
    light = page.evaluate(BACKGROUND)
    question = page.get_by_label("Question", exact=True)
    question.fill("Is it late?")

    page.locator(".account summary").click()
    page.get_by_role("button", name="Dark").click()

    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    dark = page.evaluate(BACKGROUND)
    assert dark != light
    expect(question).to_have_value("Is it late?")
    visitor.open("/agents")
    assert page.evaluate(BACKGROUND) == dark
    page.emulate_media(color_scheme="dark")
    page.locator(".account summary").click()
    page.get_by_role("button", name="Light").click()
    expect(page.get_by_role("button", name="Light")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(BACKGROUND) == light
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Light")).to_be_hidden()
    assert urlsplit(page.url).path == "/agents"
    assert visitor.said == []
