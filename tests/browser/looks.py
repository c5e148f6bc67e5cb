"""How a page looks, to people as to what reads it out: at two widths, light and dark."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page

WIDTHS = (375, 1440)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_HEIGHT = 900
# Without a picture. To 320 pixels a page must reflow (WCAG 2.2, 1.4.10); its text must grow to
# twice its size (1.4.4), which at 1,440 pixels leaves 720; from 1,024 on tables have columns.
_REFLOWED = (320, 720, 1024)
# Each width and each scheme once: what axe-core finds takes longest, and hangs on one of the two.
_AXE = ("375-dark", "1440-light")
_COLOURS = 256  # of a picture that is kept: more than a page has, but for the edges of letters

# Colours that fade from one scheme to the other are those of neither. An animation isn't waited
# for: in a dialog that has been swapped for another it may never end.
_AT_REST = """() => {
  for (const each of document.getAnimations()) {
    if (Number.isFinite(each.effect.getComputedTiming().endTime)) each.finish();
  }
}"""
_FAULTS = (Path(__file__).parent / "looks.js").read_text("utf-8")


@dataclass(frozen=True)
class Looks:
    """Checks of pages; `make screenshots` also keeps a picture of each in `folder`."""

    folder: Path | None

    @classmethod
    def asked_for(cls) -> "Looks":
        asked = os.environ.get("SCREENSHOTS")
        return cls(Path(asked) if asked else None)

    def check(self, page: Page, name: str) -> None:
        """Fails as `compare` does, and leaves a picture of each look where that is asked for."""
        self.compare(page, name, self.folder)

    def compare(self, page: Page, name: str, folder: Path | None = None) -> None:
        """Fails for what axe-core finds, and for what is cut off or lies over something else."""
        found = []
        page.wait_for_load_state()  # with its style sheets, without which links have no contrast
        for look in _each_look(page):
            if folder is not None:
                is_whole = page.locator("dialog:modal").count() == 0
                _keep(page.screenshot(full_page=is_whole), folder / f"{name}-{look}.png")
            found += [f"{name} at {look}: {each}" for each in _faults(page)]
            if look in _AXE:
                found += [f"{name} at {look}: {each}" for each in _barriers(page)]
        for width in _each_width(page, _REFLOWED):
            found += [f"{name} at {width}: {each}" for each in _faults(page)]
        assert not found, "\n".join(found)


def _keep(picture: bytes, path: Path) -> None:
    """A third of the size that Chromium gives it, and no difference that is seen."""
    with Image.open(BytesIO(picture)) as image:
        image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def _each_look(page: Page) -> Iterator[str]:
    for width in _each_width(page, WIDTHS):
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(_AT_REST)
            yield f"{width}-{scheme}"
    page.emulate_media(color_scheme="null", reduced_motion="null")


def _each_width(page: Page, widths: Sequence[int]) -> Iterator[int]:
    before = page.viewport_size
    for width in widths:
        page.set_viewport_size({"width": width, "height": _HEIGHT})
        yield width
    if before:
        page.set_viewport_size(before)


def _faults(page: Page) -> list[str]:
    found: list[str] = page.evaluate(_FAULTS)
    return found


def _barriers(page: Page) -> list[str]:
    """Return the violations of axe-core's rules, in its words."""
    answer = Axe().run(page).response
    return [
        f"{each['id']} ({each['impact']}) {node['target']}: {node['failureSummary']}"
        for each in answer["violations"]
        for node in each["nodes"]
    ]
