"""The console by keyboard alone, from signing in to the last deletion; no pointer is ever used."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as TooLate

from tests.browser.visitors import PATIENCE, Visitor

QUESTION = "When does the night boat leave?"

_FURTHEST = 60  # presses of Tab: more than any page here has places

# What has the focus must show it: otherwise nobody knows where they are. Of a field for files,
# which is hidden, its button shows it.
_IS_SHOWN = """() => {
  const at = document.activeElement;
  const isHidden = at.matches("input[type=file].unseen");
  const shown = isHidden ? at.closest(".button") : at;
  const style = getComputedStyle(shown);
  const box = shown.getBoundingClientRect();
  const isRinged = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return isRinged && box.width > 2 && box.height > 2 && box.left >= 0;
}"""
_IS_ON_PAGE = "() => document.activeElement !== document.body"
_TOLD = "() => document.activeElement.outerHTML.slice(0, 200)"


@dataclass(frozen=True)
class Keys:
    page: Page

    def press(self, role: Literal["button", "link"], name: str, *, within: str = "body") -> None:
        self.reach(self.page.locator(within).get_by_role(role, name=name, exact=True))
        self.page.keyboard.press("Enter")

    def type(self, name: str, text: str) -> None:
        """Into a field, in place of what is there."""
        self.reach(self.page.get_by_role("textbox", name=name, exact=True))
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def reach_element(self, selector: str) -> None:
        self.reach(self.page.locator(selector))

    def reach(self, wanted: Locator) -> None:
        """Press Tab until the focus is on it, and see on the way that it always shows."""
        self.page.wait_for_load_state()  # before its scripts, a page has other ways
        expect(wanted.first).to_be_attached()
        for _ in range(_FURTHEST):
            self.page.keyboard.press("Tab")
            if self.is_on_page():
                assert self.page.evaluate(_IS_SHOWN), f"unseen: {self.focused()}"
            if wanted.and_(self.page.locator(":focus")).count():
                return
        raise AssertionError(f"Tab doesn't lead to {wanted}")

    def is_on_page(self) -> bool:
        """And not on the browser's own bar, which comes after the last place of a page."""
        return bool(self.page.evaluate(_IS_ON_PAGE))

    def focused(self) -> str:
        return str(self.page.evaluate(_TOLD))

    def expect_heading(self, text: str) -> None:
        """Wait for the heading of a new page and for its scripts."""
        expect(self.page.get_by_role("heading", level=1)).to_have_text(text)
        self.page.wait_for_load_state()


def test_whole_console_can_be_used_by_keyboard(stranger: Visitor, tmp_path: Path) -> None:
    page = stranger.open("/")
    keys = Keys(page)

    sign_in(keys)
    make_catalog(keys, "Night boats")
    send(keys, tmp_path / "Night boat.md", "# Night boat\nThe night boat leaves at eleven.")
    read_passages(keys)
    ask(keys)
    make_agent(keys)
    edit_tool(keys)
    chat(keys)
    delete_all(keys)
    keys.reach_element("nav summary")
    page.keyboard.press("Enter")
    keys.press("button", "Sign out")

    expect(page.get_by_text("You are signed out of Stackroom")).to_be_visible()
    stranger.expect_no_errors()


def sign_in(keys: Keys) -> None:
    keys.press("button", "Sign in")
    expect(keys.page.get_by_label("User")).to_be_focused()
    keys.page.keyboard.type("nobody")
    keys.page.keyboard.press("Enter")
    keys.expect_heading("Catalogs")


def make_catalog(keys: Keys, name: str) -> None:
    keys.press("button", "New catalog")
    expect(keys.page.get_by_label("Name", exact=True)).to_be_focused()
    keys.page.keyboard.type(name)
    keys.page.keyboard.press("Enter")
    keys.expect_heading(name)


def send(keys: Keys, file: Path, text: str) -> None:
    """Until it is searchable, and told so to who doesn't see it."""
    file.write_text(text)
    keys.reach_element("#files")
    choose(keys, file)
    expect(keys.page.locator("#upload-summary")).to_have_text("1 of 1 uploaded")
    expect(keys.page.locator("#documents td .state.searchable")).to_be_visible()
    expect(keys.page.locator("#announced")).to_contain_text("ready 1 searchable")


def read_passages(keys: Keys) -> None:
    """Read the document's passages, have it ingested again, and wait for its new passages."""
    keys.press("link", "Night boat.md")
    keys.expect_heading("Night boat.md")
    keys.reach_element("#find")
    keys.page.keyboard.type("eleven")
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator(".cut mark")).to_have_text("eleven")
    keys.press("button", "Re-index")
    expect(keys.page.locator("#document .state.searchable")).to_have_count(0)
    expect(keys.page.locator("#document .state.searchable")).to_be_visible()
    expect(keys.page.locator(".cut mark")).to_have_count(0)
    expect(keys.page.locator(".cut article")).to_contain_text("eleven")


def choose(keys: Keys, file: Path) -> None:
    """A browser that is busy opens its chooser late, or not at all; then one presses again."""
    for patience in (10_000, 30_000, PATIENCE):
        try:
            with keys.page.expect_file_chooser(timeout=patience) as opened:
                keys.page.keyboard.press("Enter")
        except TooLate:
            continue
        opened.value.set_files(file)
        return
    raise AssertionError("Enter opens no chooser of files")


def ask(keys: Keys) -> None:
    keys.press("link", "Ask")
    keys.expect_heading("Ask")
    keys.type("Question", QUESTION)
    keys.press("button", "Ask")
    expect(keys.page.locator("#answer mark").first).to_be_visible()
    keys.press("button", "Helpful")
    keys.press("button", "Keep as a test question")
    expect(keys.page.get_by_role("status").filter(has_text="Kept as a test")).to_be_focused()
    keys.press("link", "Source 1")
    expect(keys.page.get_by_role("dialog", name="Source 1")).to_be_visible()
    keys.press("link", "Show in the text")
    keys.expect_heading("Night boat.md")
    expect(keys.page.locator("#passage")).to_contain_text("leaves at eleven")


def make_agent(keys: Keys) -> None:
    keys.press("link", "Agents")
    keys.press("button", "New agent")
    keys.expect_heading("New agent")
    keys.type("Name", "Night porter")
    keys.press("button", "Save")
    keys.expect_heading("Night porter")
    keys.press("button", "Add Knowledge Base")
    keys.press("button", "Quick Add Night boats")
    expect(keys.page.locator("li[data-tool]")).to_contain_text("search_night_boats")


def edit_tool(keys: Keys) -> None:
    keys.press("link", "Edit search_night_boats")
    keys.type("Tool name", "night_boats")
    keys.press("button", "Save")
    expect(keys.page.locator("li[data-tool] strong")).to_have_text("night_boats")
    keys.type("Test question", QUESTION)
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator("#test [data-state=succeeded]")).to_be_visible()
    expect(keys.page.locator("#announced")).to_contain_text("leaves at eleven")


def chat(keys: Keys) -> None:
    keys.press("button", "Chat")
    keys.expect_heading("Chat with Night porter")
    keys.type("Question", QUESTION)
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator("[data-state=succeeded]")).to_be_visible()
    expect(keys.page.locator("#announced")).to_contain_text("leaves at eleven")
    keys.press("button", "Not helpful")
    expect(keys.page.locator(".run")).to_contain_text("Marked as not helpful")
    keys.reach_element(".steps summary")
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator(".steps blockquote").first).to_be_visible()


def delete_all(keys: Keys) -> None:
    """The tool, the agent, the document, the catalog."""
    keys.press("link", "Night porter")
    keys.expect_heading("Night porter")
    keys.press("link", "Delete night_boats")
    keys.press("button", "Delete", within="dialog")
    expect(keys.page.locator("li[data-tool]")).to_have_count(0)
    keys.press("button", "Delete")
    keys.press("button", "Delete", within="dialog")
    keys.expect_heading("Agents")
    keys.press("link", "Catalogs")
    keys.press("link", "Night boats")
    keys.reach(keys.page.get_by_label("Actions for Night boat.md"))
    keys.page.keyboard.press("Enter")
    keys.press("link", "Delete Night boat.md")
    keys.press("button", "Delete document")
    keys.expect_heading("Deletion receipt")
    keys.press("link", "Catalogs")
    keys.reach(keys.page.get_by_label("Actions for Night boats"))
    keys.page.keyboard.press("Enter")
    keys.press("link", "Delete Night boats")
    keys.press("button", "Delete catalog")
    expect(keys.page.locator("body")).not_to_contain_text("Night boats")
