"""A catalog that is made in a browser, and a file in it."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import SignedIn
from tests.browser.visitors import Visitor


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
