"""Ask, open the source, come back: as somebody does who doesn't believe an answer yet."""

from pathlib import Path

from playwright.sync_api import expect

from stackroom_local.state import Instance
from tests.browser.builders import MODEL, script, stocked
from tests.browser.conftest import SignedIn
from tests.browser.visitors import make_catalog

QUESTION = "When does the pilot boat leave Vlissingen?"
BINDERS = [f"The binder of quay {number} is green, in room {number + 40}. " for number in range(40)]
FILLER = "".join(BINDERS)
BEFORE = "".join(f"The chart of quay {number} hangs in hall {number}. " for number in range(15))
TEXT = (
    f"# Quays\n\n{FILLER}\n\n"
    f"# Pilots\n\n{BEFORE}The pilot boat leaves Vlissingen at six.\n\n{FILLER}\n"
)


def test_source_opens_at_its_passage_and_going_back_restores_the_answer(
    signed_in: SignedIn, tmp_path: Path
) -> None:
    visitor = signed_in("nora")
    page = visitor.page
    make_catalog(visitor, "Pilots")
    file = tmp_path / "Pilots.md"
    file.write_text(TEXT)
    page.locator("#files").set_input_files(file)
    expect(page.locator("#documents td .state.searchable")).to_be_visible()

    page.get_by_role("link", name="Ask", exact=True).first.click()
    page.wait_for_url("**/ask")  # and its scripts, one of which sends by Enter
    page.get_by_label("Question", exact=True).fill(QUESTION)
    page.get_by_text("Search in all catalogs").click()
    page.get_by_label("Number of passages").fill("3")
    page.get_by_label("Similarity threshold").fill("0.01")
    page.get_by_label("Question", exact=True).press("Enter")
    chip = page.locator("#answer a.cite").first
    expect(chip).to_be_visible()
    answer, address = page.locator(".answer-text").inner_text(), page.url
    assert "q=When+does" in address

    wide = page.viewport_size
    page.set_viewport_size({"width": 375, "height": 400})
    chip.click()
    source = page.get_by_role("dialog", name="Source 1")
    expect(source.locator("mark").filter(has_text="Vlissingen").first).to_be_in_viewport()
    assert wide is not None
    page.set_viewport_size(wide)
    page.keyboard.press("Escape")
    expect(chip).to_be_focused()
    chip.click()
    source.get_by_role("link", name="Show in the text").click()
    expect(page.locator("#passage")).to_contain_text("leaves Vlissingen at six")
    expect(page.locator("#passage")).to_be_in_viewport()

    for come_back in (page.go_back, page.reload):
        come_back()
        expect(page.get_by_label("Question", exact=True)).to_have_value(QUESTION)
        expect(page.get_by_label("Number of passages")).to_have_value("3")
        expect(page.locator("[name=threshold]")).to_have_value("0.01")
        expect(page.locator(".answer-text")).to_have_text(answer)
        assert page.url == address

    page.get_by_label("Question", exact=True).fill("Which binders are kept?")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ask?q=Which**")
    page.go_back()  # within the page that htmx has changed
    expect(page.get_by_label("Question", exact=True)).to_have_value(QUESTION)
    expect(page.locator(".answer-text")).to_have_text(answer)

    page.get_by_text("Your questions").click()
    expect(page.locator("#history li a")).to_have_text([QUESTION, "Which binders are kept?"])
    expect(page.locator("#history li small").first).to_have_text("3 passages, from 0.01")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#history")).to_be_hidden()
    visitor.expect_no_errors()


def test_an_answer_grows_is_copied_and_goes_on_as_a_chat(
    signed_in: SignedIn, instance: Instance
) -> None:
    visitor = signed_in("nora-chats")
    stocked(
        instance, visitor.name, "Boats", {"Boats.md": "# Colours\n\nThe pilot boat is orange.\n"}
    )
    page, question = visitor.open("/ask"), "Which colour does the pilot boat have, and why?"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    says = "It is orange [1]. "
    turn = {"text": says * 40 + "\n\n```\norange\n```", "pace": 0.05}
    script(instance, question, turn, {"text": "In"}, {"text": "In the harbour."}, model=MODEL)

    example = page.get_by_role("link", name="What does Boats say about colours?")
    expect(example).to_be_visible()
    page.get_by_label("Question", exact=True).fill(question)
    page.keyboard.press("Enter")
    expect(page.locator("#growing .prose")).to_contain_text("It is orange. It is orange")
    expect(example).to_have_count(0)
    answer = page.locator(".answer-text")
    expect(answer.locator("a.cite").first).to_be_visible()
    expect(page.locator("#growing")).to_be_empty()

    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator("#announced")).to_have_text("Copied")
    assert str(page.evaluate("navigator.clipboard.readText()")).startswith("It is orange [1]. It")
    page.get_by_role("button", name="Copy code").click()
    page.wait_for_function("async () => await navigator.clipboard.readText() === 'orange\\n'")
    page.get_by_role("button", name="Edit question").click()
    expect(page.get_by_label("Question", exact=True)).to_be_focused()

    page.get_by_role("button", name="Continue in chat").click()
    page.wait_for_url("**/chat/chat-**")
    first = page.locator("[data-run]").first
    expect(first.locator(".answer")).to_contain_text("It is orange")
    first.locator(".answer a.cite").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("The pilot boat is orange.")
    page.keyboard.press("Escape")
    page.get_by_label("Question", exact=True).fill("Where is the pilot boat?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-state=succeeded]")).to_have_count(2)
    page.get_by_role("button", name="Try again").last.click()
    expect(page.locator("[data-state=succeeded]")).to_have_count(3)
    visitor.expect_no_errors()
