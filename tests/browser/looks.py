"""How a page looks, to people as to what reads it out: at two widths, light and dark."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WIDTHS = (375, 1440)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_HEIGHT = 900

# Colours that fade from one scheme to the other are those of neither.
_AT_REST = "() => Promise.allSettled(document.getAnimations().map((each) => each.finished))"

# Wider than the page, or with text that is cut off and no way to scroll to it.
_OVERFLOWING = """() => {
  const width = document.documentElement.clientWidth;
  const told = (element) =>
    element.tagName.toLowerCase() + (element.id ? "#" + element.id : "") + ": " +
    (element.textContent || "").trim().slice(0, 60);
  const shown = (element) => element.checkVisibility({ checkOpacity: true });
  const scrolls = (element) => {
    for (let each = element; each; each = each.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(each).overflowX)) return true;
    }
    return false;
  };
  const wide = [...document.body.querySelectorAll("*")].filter(
    (element) => shown(element) && element.getBoundingClientRect().right > width + 1 &&
      !scrolls(element));
  const cut = [...document.body.querySelectorAll("*")].filter((element) => {
    const style = getComputedStyle(element);
    return shown(element) && style.overflowX === "hidden" && style.textOverflow !== "ellipsis" &&
      element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1;
  });
  return [...wide.map((each) => "wide " + told(each)), ...cut.map((each) => "cut " + told(each))];
}"""


@dataclass(frozen=True)
class Looks:
    """`folder` is where pictures go: docs/console by `make screenshots`, else one of the run."""

    folder: Path

    @classmethod
    def kept_in(cls, otherwise: Path) -> "Looks":
        return cls(Path(os.environ.get("SCREENSHOTS") or otherwise))

    def check(self, page: Page, name: str) -> None:
        """Fails for what axe-core finds, and for what is cut off; leaves a picture of each look."""
        self.folder.mkdir(parents=True, exist_ok=True)
        found = []
        for look in _each_look(page):
            page.screenshot(path=self.folder / f"{name}-{look}.png", full_page=True)
            found += [f"{name} at {look}: {each}" for each in [*_cut_off(page), *_barriers(page)]]
        assert not found, "\n".join(found)


def _each_look(page: Page) -> Iterator[str]:
    before = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": _HEIGHT})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(_AT_REST)
            yield f"{width}-{scheme}"
    page.emulate_media(color_scheme="null", reduced_motion="null")
    if before:
        page.set_viewport_size(before)


def _cut_off(page: Page) -> list[str]:
    found: list[str] = page.evaluate(_OVERFLOWING)
    return found


def _barriers(page: Page) -> list[str]:
    """What keeps people out, by every rule of axe-core and in its words."""
    answer = Axe().run(page).response
    return [
        f"{each['id']} ({each['impact']}) {node['target']}: {node['failureSummary']}"
        for each in answer["violations"]
        for node in each["nodes"]
    ]
