"""A catalog that is made in a browser, and a file in it."""

import re
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import expect

from stackroom.model.records import Document, DocumentStatus
from stackroom_cli.sites.site_services import SiteServices
from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn
from tests.browser.visitors import make_catalog
from tests.e2e.people import Person, eventually
from tests.support.large_catalogs import filled


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
    assert tom.said == []


def test_failed_document_among_a_thousand_is_found_and_retried(
    signed_in: SignedIn, instance: Instance
) -> None:
    tom = signed_in("tom-thousand")
    services = SiteServices(instance).use_cases
    catalog = filled(services, tom.name, "Of a thousand", 999)
    person = Person(instance, tom.name)
    person.put(f"{catalog}/zebra.txt", "Zebras stand in no harbour.")
    indexed = eventually(lambda: _settled(person, f"{catalog}/zebra.txt"), "it is indexed")
    reason = "it took too long"
    assert indexed is not None, "eventually() returns what is truthy"
    services.documents.save(
        indexed.moved(DocumentStatus.FAILED, at=datetime.now(UTC), reason=reason)
    )

    page = tom.open(f"/catalogs/{catalog}")

    rows = page.locator("#documents tbody tr")
    expect(rows).to_have_count(100)
    expect(rows.nth(0)).to_contain_text(reason)  # what failed comes first
    page.get_by_role("searchbox").fill("ZEBRA")
    expect(page.locator("#search")).to_have_css("box-shadow", "none")  # the field alone is ringed
    page.get_by_role("button", name="Search").click()
    expect(rows).to_have_count(1)
    page.get_by_role("link", name="Failed 1").click()
    page.get_by_label("Select zebra.txt").check()
    page.get_by_role("button", name="Retry", exact=True).click()
    expect(page.locator("#documents")).to_contain_text("No documents match.")
    page.get_by_role("link", name="Searchable 1,000").click()
    expect(rows.locator(".state.searchable")).to_have_text("searchable")
    added = rows.locator("time")
    expect(added).to_have_text(re.compile("just now|[0-9]+ minutes? ago"))
    assert re.fullmatch(r"[0-9-]{10} [0-9:]{8} UTC", added.get_attribute("title") or "")
    assert tom.said == []


def _settled(person: Person, path: str) -> Document | None:
    found = person.record(path)
    return found if found is not None and found.status is DocumentStatus.INDEXED else None
