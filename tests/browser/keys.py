"""Hands on a keyboard, and eyes that see where the focus is: a page without a pointer."""

from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Locator, Page, expect

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
_IS_WITHIN = "(selector) => document.activeElement.closest(selector) !== null"


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
                assert self.page.evaluate(_IS_SHOWN), f"unseen: {self.told()}"
            if wanted.and_(self.page.locator(":focus")).count():
                return
        raise AssertionError(f"Tab doesn't lead to {wanted}")

    def is_on_page(self) -> bool:
        """And not on the browser's own bar, which comes after the last place of a page."""
        return bool(self.page.evaluate(_IS_ON_PAGE))

    def is_within(self, selector: str) -> bool:
        return bool(self.page.evaluate(_IS_WITHIN, selector))

    def told(self) -> str:
        return str(self.page.evaluate(_TOLD))

    def expect_heading(self, text: str) -> None:
        """What a new page begins with, once its scripts are there."""
        expect(self.page.get_by_role("heading", level=1)).to_have_text(text)
        self.page.wait_for_load_state()
