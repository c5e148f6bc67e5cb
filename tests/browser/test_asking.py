"""Ask, open the source, come back: as somebody does who doesn't believe an answer yet."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import SignedIn
from tests.browser.test_catalogs import make

QUESTION = "When does the pilot boat leave Vlissingen?"
FILLER = "The harbour office keeps its records in green binders, one for each quay. " * 30
TEXT = f"# Quays\n\n{FILLER}\n\n# Pilots\n\nThe pilot boat leaves Vlissingen at six.\n\n{FILLER}\n"


def test_a_source_is_opened_at_its_passage_and_the_answer_is_there_on_the_way_back(
    signed_in: SignedIn, tmp_path: Path
) -> None:
    visitor = signed_in("nora")
    page = visitor.page
    make(visitor, "Pilots")
    file = tmp_path / "Pilots.md"
    file.write_text(TEXT)
    page.locator("#files").set_input_files(file)
    expect(page.locator("#documents td .state.searchable")).to_be_visible()

    page.get_by_role("link", name="Ask", exact=True).first.click()
    page.wait_for_url("**/ask")  # and its scripts, one of which sends by Enter
    page.get_by_label("Question", exact=True).fill(QUESTION)
    page.keyboard.press("Enter")
    chip = page.locator("#answer a.cite").first
    expect(chip).to_be_visible()
    answer, address = page.locator(".answer-text").inner_text(), page.url
    assert "q=When+does" in address

    chip.click()
    source = page.get_by_role("dialog", name="Source 1")
    expect(source.locator("mark").filter(has_text="pilot").first).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(chip).to_be_focused()
    chip.click()
    source.get_by_role("link", name="Show in the text").click()
    expect(page.locator("#passage")).to_contain_text("leaves Vlissingen at six")
    expect(page.locator("#passage")).to_be_in_viewport()

    page.go_back()
    expect(page.get_by_label("Question", exact=True)).to_have_value(QUESTION)
    assert page.url == address
    assert page.locator(".answer-text").inner_text() == answer

    page.get_by_label("Question", exact=True).fill("Which binders are kept?")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ask?q=Which**")
    page.go_back()  # within the page that htmx has changed
    expect(page.get_by_label("Question", exact=True)).to_have_value(QUESTION)
    expect(page.locator(".answer-text")).to_have_text(answer)

    page.get_by_text("Your questions").click()
    expect(page.locator("#history li a")).to_have_text([QUESTION, "Which binders are kept?"])
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#history")).to_be_hidden()
    assert visitor.said == []
