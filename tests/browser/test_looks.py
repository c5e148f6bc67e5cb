"""Every page as people see it: nothing cut off, nothing that keeps anybody out, light and dark."""

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import SignedIn
from tests.browser.looks import Looks
from tests.browser.test_catalogs import make
from tests.browser.visitors import Visitor

LONG = "A very long name of a catalog that somebody has pasted from elsewhere without a break"


def test_the_sign_in_page(stranger: Visitor, looks: Looks) -> None:
    looks.check(stranger.open("/sign-in"), "sign-in")


def test_the_list_of_catalogs(signed_in: SignedIn, looks: Looks) -> None:
    visitor = signed_in("ida-of-looks")
    looks.check(visitor.page, "catalogs-none")

    for name in ("Harbours", LONG):
        make(visitor, name)

    looks.check(visitor.open("/catalogs"), "catalogs")


def test_the_dialog_of_a_new_catalog(signed_in: SignedIn, looks: Looks) -> None:
    visitor = signed_in("ida-of-looks")

    visitor.page.get_by_role("button", name="New catalog").click()
    expect(visitor.page.get_by_role("dialog")).to_be_visible()

    looks.check(visitor.page, "catalog-new")


def test_a_catalog(signed_in: SignedIn, looks: Looks, tmp_path: Path) -> None:
    visitor = signed_in("ida-of-looks")
    good, bad = tmp_path / "tides.txt", tmp_path / f"{'x' * 80}.pdf"
    good.write_text("The tide at Ostend is four metres.")
    bad.write_bytes(b"%PDF-1.7 and nothing more")

    make(visitor, "Tides")
    looks.check(visitor.page, "catalog-empty")
    visitor.page.locator("#files").set_input_files([good, bad])

    documents = visitor.page.locator("#documents")
    expect(documents.locator("td .state.indexed")).to_be_visible()
    expect(documents.locator("td .state.failed")).to_be_visible()
    looks.check(visitor.page, "catalog")


def test_the_dialog_of_a_deletion(signed_in: SignedIn, looks: Looks) -> None:
    visitor = signed_in("ida-of-looks")
    make(visitor, "To go")

    visitor.page.get_by_role("button", name="Delete catalog").click()
    expect(visitor.page.get_by_role("dialog")).to_be_visible()

    looks.check(visitor.page, "catalog-delete")


def test_asking_and_the_answer(signed_in: SignedIn, looks: Looks, tmp_path: Path) -> None:
    visitor = signed_in("kim-of-looks")
    send(visitor, "Crossings", tmp_path, "The ferry to Dover leaves at nine.")
    page = visitor.open("/ask")
    looks.check(page, "ask")

    page.get_by_label("Question").fill("When does the ferry leave?")
    page.get_by_role("button", name="Ask").click()

    expect(page.locator("#answer mark").first).to_be_visible()
    looks.check(page, "answer")


def test_a_page_that_is_not_there(signed_in: SignedIn, looks: Looks) -> None:
    looks.check(signed_in("ida-of-looks").open("/no/such/page"), "not-found")


def send(visitor: Visitor, catalog: str, folder: Path, text: str) -> None:
    """A catalog with one document, once it is searchable."""
    file = folder / "crossings.txt"
    file.write_text(text)
    make(visitor, catalog)
    visitor.page.locator("#files").set_input_files(file)
    expect(visitor.page.locator("#documents td .state.indexed")).to_be_visible()
