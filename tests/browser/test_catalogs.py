"""Catalogs in a browser: one's own and nobody else's, whatever names they have."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import SignedIn
from tests.browser.visitors import Visitor


def test_a_list_shows_ones_own_catalogs_and_no_others(signed_in: SignedIn) -> None:
    tom, ann = signed_in("tom"), signed_in("ann")

    make(tom, "Toms tides")
    make(ann, "Anns anchors")

    tom.open("/catalogs")
    ann.open("/catalogs")
    expect(tom.page.get_by_role("link", name="Toms tides", exact=True)).to_be_visible()
    expect(ann.page.get_by_role("link", name="Anns anchors", exact=True)).to_be_visible()
    assert "Anns anchors" not in tom.page.content()
    assert "Toms tides" not in ann.page.content()


def test_a_file_that_is_chosen_is_sent_and_seen_as_it_comes(
    signed_in: SignedIn, tmp_path: Path
) -> None:
    tom = signed_in("tom")
    tide = tmp_path / "Fluth und Ebbe – 潮汐.txt"
    tide.write_text("The tide at Ostend is four metres.", "utf-8")

    make(tom, "Sent by hand")
    tom.page.locator("#files").set_input_files(tide)

    documents = tom.page.locator("#documents")
    expect(documents.get_by_text(tide.name, exact=True)).to_be_visible()
    expect(documents.locator("td .state.indexed")).to_be_visible()
    assert tom.said == []


def make(visitor: Visitor, name: str) -> str:
    """A new catalog by way of the dialog; answers its page, which is shown."""
    page = visitor.open("/catalogs")
    page.get_by_role("button", name="New catalog").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    return page.url
