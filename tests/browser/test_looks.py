"""Every page about catalogs as people see it: all can be read, and nothing keeps anybody out."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn
from tests.browser.looks import Looks
from tests.browser.stage import Stage
from tests.browser.visitors import Visitor, arrive, sign_in

LONG = "A very long name of a catalog that somebody has pasted from elsewhere without a break"
TIDES = "Tide tables"


@pytest.fixture(scope="module")
def inhabitant(chromium: Browser, instance: Instance) -> Iterator[Visitor]:
    visitor = arrive(chromium, instance, "marta")
    sign_in(visitor)
    yield visitor
    visitor.page.context.close()


@pytest.mark.shows("/sign-in")
def test_the_sign_in_page(stranger: Visitor, looks: Looks) -> None:
    looks.check(stranger.open("/sign-in"), "sign-in")


def test_a_list_without_catalogs(signed_in: SignedIn, looks: Looks) -> None:
    looks.check(signed_in("marta-on-her-first-day").page, "catalogs-none")


@pytest.mark.shows("/catalogs/{catalog_id}")
def test_a_catalog_before_and_after_files_are_sent(stage: Stage) -> None:
    stage.make_catalog("Harbour rules", description="What holds at the quays, and who may moor.")
    stage.look("catalog-empty")

    good, bad = stage.folder / "Quay.md", stage.folder / f"Scan {'0' * 70}.pdf"
    good.write_text("# Quays\nBerth 4 is for pilots.")
    bad.write_bytes(b"%PDF-1.7 and nothing more")
    stage.page.locator("#files").set_input_files([good, bad])
    documents = stage.page.locator("#documents")
    expect(documents.locator("td .state.indexed")).to_be_visible()
    expect(documents.locator("td .state.failed")).to_be_visible()
    send_what_is_never_taken(stage)

    stage.look("catalog")


@pytest.mark.shows("/ask")
def test_a_question_and_its_answer(stage: Stage) -> None:
    tides = stage.folder / "Ostend.md"
    tides.write_text("# Ostend\nThe tide at Ostend is four metres high in spring.")
    stage.make_catalog(TIDES, tides)
    expect(stage.page.locator("#documents td .state.indexed")).to_be_visible()
    page = stage.visitor.open("/ask")
    stage.look("ask")

    page.get_by_label("Question", exact=True).fill("How high is the tide at Ostend?")
    page.get_by_role("button", name="Ask").click()

    expect(page.locator("#answer mark").first).to_be_visible()
    stage.look("answer")


@pytest.mark.shows("/catalogs")
def test_the_list_of_catalogs(stage: Stage) -> None:
    stage.make_catalog(LONG, description="What it is for takes a sentence, and that has room here.")
    stage.visitor.open("/catalogs")

    stage.look("catalogs")


@pytest.mark.shows("/catalogs/new")
def test_the_dialog_of_a_new_catalog_and_a_refusal_in_it(stage: Stage) -> None:
    stage.make_catalog("Pilots")
    opener = stage.visitor.open("/catalogs").get_by_role("button", name="New catalog")

    dialog = stage.look_at_dialog(opener, "catalog-new")
    dialog.get_by_label("Name", exact=True).fill("Pilots")
    dialog.get_by_role("button", name="Create").click()

    expect(dialog.get_by_role("alert")).not_to_be_empty()
    stage.look("catalog-new-refused")


@pytest.mark.shows("/catalogs/{catalog_id}/delete")
def test_the_dialog_of_a_catalogs_deletion(stage: Stage) -> None:
    stage.make_catalog("Dredging")

    opener = stage.page.get_by_role("button", name="Delete catalog")

    stage.look_at_dialog(opener, "catalog-delete")


@pytest.mark.shows(
    "/catalogs/{catalog_id}/documents/{document_id}/delete", "/receipts/{receipt_id}"
)
def test_the_dialog_of_a_documents_deletion_and_the_receipt(stage: Stage) -> None:
    file = stage.folder / "Summer timetable.md"
    file.write_text("# Summer\nThe boat to the island leaves each hour.")
    stage.make_catalog("Boats", file)
    page = stage.page
    expect(page.locator("#documents td .state.indexed")).to_be_visible()

    dialog = stage.look_at_dialog(
        page.get_by_role("link", name=f"Delete {file.name}"), "document-delete"
    )
    dialog.get_by_role("button", name="Delete document").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Receipt of a deletion")
    expect(page.locator("#receipt")).to_contain_text("no search finds it any more")
    stage.look("receipt")


def test_a_page_that_is_not_there(signed_in: SignedIn, looks: Looks) -> None:
    looks.check(signed_in("marta").open("/no/such/page"), "not-found")


def test_a_change_that_no_page_of_ours_asked_for(signed_in: SignedIn, looks: Looks) -> None:
    page = signed_in("marta").open("/catalogs/new")
    page.locator("[name=csrf_token]").last.evaluate("(field) => { field.value = 'of another'; }")
    page.locator("dialog form").evaluate("(form) => { form.elements.name.value = 'x'; }")

    page.locator("dialog form").evaluate("(form) => form.submit()")

    expect(page.get_by_role("heading", level=1)).to_have_text("Forbidden")
    looks.check(page, "forbidden")


def send_what_is_never_taken(stage: Stage) -> None:
    """One file that is of no type that is read, and one whose way to the bucket is broken."""
    program, lost = stage.folder / "setup.exe", stage.folder / "Mooring plan.md"
    program.write_bytes(b"MZ")
    lost.write_text("Berth 5 is for tugs.")
    uploads = stage.page.locator("#uploads")

    stage.page.route(lambda url: not url.startswith(stage.visitor.url), lambda route: route.abort())
    stage.page.locator("#files").set_input_files([program, lost])

    expect(uploads).to_contain_text("isn't supported")
    expect(uploads).to_contain_text("The connection to the store broke.")
    expect(stage.page.locator("#documents")).to_contain_text("waits for its file")
    stage.page.unroute_all()
