"""Somebody new: a sample, an answer from it, an address to copy, and the theme they like."""

from playwright.sync_api import expect

from tests.browser.conftest import SignedIn

QUESTION = "Which kinds of files does Stackroom read?"


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
