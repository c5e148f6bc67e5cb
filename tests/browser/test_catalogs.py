"""A catalog that is made in a browser, and a file in it."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import SignedIn
from tests.browser.visitors import make_catalog


def test_a_file_that_is_chosen_is_sent_and_seen_as_it_comes(
    signed_in: SignedIn, tmp_path: Path
) -> None:
    tom = signed_in("tom")
    tide = tmp_path / "Fluth und Ebbe – 潮汐.txt"
    tide.write_text("The tide at Ostend is four metres.", "utf-8")

    make_catalog(tom, "Sent by hand")
    tom.page.locator("#files").set_input_files(tide)

    documents = tom.page.locator("#documents")
    expect(documents.get_by_text(tide.name, exact=True)).to_be_visible()
    expect(documents.locator("td .state.searchable")).to_be_visible()
    tom.expect_no_errors()
