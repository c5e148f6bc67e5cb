"""Where pages are looked at: somebody who has catalogs and agents, and their browser."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from stackroom_console.routes import ROUTES
from tests.browser.looks import Looks
from tests.browser.visitors import Visitor

_PATHS = {
    each.path: re.compile(re.sub(r"\{\w+\}", "[^/]+", each.path))
    for each in sorted(ROUTES, key=lambda each: each.path.count("{"))  # /agents/new is no agent's
    if each.method == "GET"
}


@dataclass(frozen=True)
class Stage:
    """`looked_at` fills with the route table's paths of the pages that were looked at."""

    visitor: Visitor
    looks: Looks
    folder: Path
    looked_at: list[str] = field(default_factory=list)

    @property
    def page(self) -> Page:
        return self.visitor.page

    def look(self, name: str) -> None:
        self._note(self.page.url)
        self.looks.check(self.page, name)

    def look_at_dialog(self, opener: Locator, name: str) -> Locator:
        """Over its page, and as the page that it is where there is no script; it is left open."""
        href = opener.get_attribute("href")
        assert href is not None, "what opens a dialog is a link, for whom there is no script"
        apart = self.page.context.new_page()
        apart.goto(self.visitor.url + href)
        self._note(apart.url)
        self.looks.compare(apart, f"{name} as a page")
        apart.close()

        opener.click()
        dialog = self.page.locator("dialog:modal")
        expect(dialog).to_be_visible()
        self.looks.check(self.page, name)
        return dialog

    def make_catalog(self, name: str, *files: Path, description: str = "") -> str:
        """By way of the dialog; answers the path of its page, which is shown."""
        page = self.visitor.open("/catalogs")
        page.get_by_role("button", name="New catalog").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name", exact=True).fill(name)
        dialog.get_by_label("Description").fill(description)
        dialog.get_by_role("button", name="Create").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        if files:
            page.locator("#files").set_input_files(files)
        return page.url.removeprefix(self.visitor.url)

    def make_agent(self, name: str, *, description: str = "", prompt: str = "") -> str:
        """Answers the path of its page, which is shown."""
        page = self.visitor.open("/agents/new")
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("Description").fill(description)
        page.get_by_label("Prompt").fill(prompt)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        return page.url.removeprefix(self.visitor.url)

    def quick_add(self, agent: str, catalog: str) -> None:
        page = self.visitor.open(agent)
        cards = page.locator("li[data-tool]")
        before = cards.count()
        page.get_by_role("button", name="Add Knowledge Base").click()
        page.get_by_role("button", name=f"Quick Add {catalog}").click()
        expect(cards).to_have_count(before + 1)

    def _note(self, url: str) -> None:
        at = url.removeprefix(self.visitor.url).partition("?")[0]
        self.looked_at.append(next(path for path, form in _PATHS.items() if form.fullmatch(at)))
