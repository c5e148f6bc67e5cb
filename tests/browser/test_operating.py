"""The commands that Operations shows, typed as they stand there."""

import subprocess

from playwright.sync_api import expect

from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn
from tests.e2e.people import Person


def test_commands_on_operations_pause_and_resume_ingestion(
    signed_in: SignedIn, instance: Instance
) -> None:
    visitor = signed_in("operates-pause", "operators")
    page, person = visitor.open("/operations"), Person(instance, visitor.name)
    page.get_by_text("Pause or retry ingestion").click()
    pause, resume = (page.locator(f"#{name}").inner_text() for name in ("pause", "resume"))

    run(pause)
    try:
        dropped = person.put("Tides/Ostend.txt", "The tide at Ostend is four metres high.")
        person.await_unread("Tides/Ostend.txt")
        visitor.open(f"/catalogs/{person.catalog('Tides').catalog_id}")
        expect(page.locator("#documents td.state-cell")).to_contain_text("pending")
        expect(page.locator("#documents td.state-cell")).to_contain_text("Reading")
    finally:
        run(resume)

    person.settle([dropped])
    expect(page.locator("#documents td .state.searchable")).to_be_visible()
    visitor.expect_no_errors()


def run(lines: str) -> None:
    """Type the lines into a new shell, which knows nothing of this process's keys."""
    environment = {"PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-euc", lines], env=environment, check=True, timeout=120)
