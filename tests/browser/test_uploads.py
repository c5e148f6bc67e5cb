"""Files sent into a catalog by hand: many, large ones, of any name, in folders, and wrong ones."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn
from tests.browser.visitors import Visitor, make_catalog
from tests.e2e.people import Person


def test_a_folder_is_walked_and_its_files_are_called_by_their_path(
    signed_in: SignedIn, instance: Instance, tmp_path: Path
) -> None:
    zoe = signed_in("zoe-folders")
    folder = tmp_path / "Harbour 港"
    names = ("top.txt", "2026/Q1/deep.txt", "2026/other.md")
    written(folder, *names, ".hidden", "2026/.DS_Store", "2026/Thumbs.db", "~$plan.docx")
    make_catalog(zoe, "Folders")

    zoe.page.locator("#folder").set_input_files(folder)

    expect(zoe.page.locator("#upload-summary")).to_have_text("3 of 3 uploaded, 4 files left out")
    paths = {f"Harbour 港/{name}" for name in names}
    expect(documents(zoe.page).locator(".state.searchable")).to_have_count(3)
    kept = {each.filename for each in Person(instance, zoe.name).records().values()}
    assert kept == paths
    deep = documents(zoe.page).get_by_role("link", name="Harbour 港/2026/Q1/deep.txt")
    year = zoe.page.get_by_role("button", name="2026", exact=True)
    year.click()
    expect(deep).to_be_hidden()
    expect(documents(zoe.page).get_by_role("link", name="Harbour 港/top.txt")).to_be_visible()
    year.click()
    expect(deep).to_be_visible()


def test_folder_dropped_again_sends_changed_files_only_after_confirmation(
    signed_in: SignedIn, tmp_path: Path
) -> None:
    zoe = signed_in("zoe-twice")
    folder = tmp_path / "Harbour"
    names = ("a.txt", "b.txt", "c.txt", "d.txt")
    written(folder, *names)
    make_catalog(zoe, "Twice")
    summary, tray = zoe.page.locator("#upload-summary"), zoe.page.locator("#tray")
    zoe.page.locator("#folder").set_input_files(folder)
    expect(summary).to_have_text("4 of 4 uploaded")
    expect(tray).not_to_have_attribute("open", "")  # all is done: it folds
    for name in names[:2]:
        (folder / name).write_text("The text of another day.", "utf-8")
    (folder / "setup.exe").write_bytes(b"MZ")

    zoe.page.locator("#folder").set_input_files(folder)

    expect(summary).to_have_text("0 of 5 uploaded, 2 skipped, 3 refused")
    first = zoe.page.locator("#uploads li").nth(0)  # problems stand on top
    expect(first).to_have_class("refused")
    expect(zoe.page.locator("#uploads li:not(.refused)").first).to_contain_text(
        "Skipped: this file is already in the catalog"
    )
    expect(zoe.page.get_by_role("button", name="Dismiss all (3)")).to_be_visible()
    zoe.page.get_by_role("button", name="Replace all (2)").click()
    expect(summary).to_have_text("2 of 5 uploaded, 2 skipped, 1 refused")
    zoe.page.get_by_role("button", name="Dismiss Harbour/setup.exe").click()
    expect(summary).to_have_text("2 of 5 uploaded, 3 skipped")
    expect(tray).not_to_have_attribute("open", "")


def test_running_and_queued_uploads_are_cancelled_and_leave_no_document(
    signed_in: SignedIn, instance: Instance, tmp_path: Path
) -> None:
    zoe = signed_in("zoe-cancels")
    page, names = zoe.page, [f"{number}.txt" for number in range(6)]
    make_catalog(zoe, "Cancelled")
    page.route(f"{instance.aws_endpoint}/**", lambda _: None)  # they never come to an end
    choose(zoe, *written(tmp_path, *names))
    summary = page.locator("#upload-summary")
    expect(summary).to_have_text("0 of 6 uploaded, 3 queued")
    expect(page.locator("#documents tbody tr")).to_have_count(3)

    page.get_by_role("button", name="Cancel 0.txt").click()
    page.get_by_role("button", name="Cancel 5.txt").click()
    expect(summary).to_have_text("0 of 6 uploaded, 2 cancelled, 1 queued", timeout=1000)
    page.get_by_role("button", name="Cancel all").click()

    expect(summary).to_have_text("0 of 6 uploaded, 6 cancelled", timeout=1000)
    expect(page.get_by_text("No documents yet.")).to_be_visible()
    page.unroute(f"{instance.aws_endpoint}/**")
    choose(zoe, tmp_path / "0.txt")
    expect(summary).to_have_text("1 of 1 uploaded")
    zoe.expect_no_errors()


def written(folder: Path, *names: str) -> list[Path]:
    files = [folder / name for name in names]
    for each in files:
        each.parent.mkdir(parents=True, exist_ok=True)
        each.write_text(f"The text of {each.name}.", "utf-8")
    return files


def choose(visitor: Visitor, *files: Path) -> None:
    visitor.page.locator("#files").set_input_files(files)


def documents(page: Page) -> Locator:
    """The rows of the list of documents."""
    return page.locator("#documents tbody tr")
