"""One document's page: the PDF beside its passages, each leading to its page there."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import SignedIn
from tests.browser.visitors import make_catalog

HANDBOOK = Path("examples/alice/handbook/employee-handbook.pdf")


def test_passages_lead_to_their_page_of_the_file_beside_them_and_come_anew(
    signed_in: SignedIn,
) -> None:
    """The frame leads by a redirect to the bucket, whose origin alone the page's policy lets in."""
    visitor = signed_in("petra")
    page = visitor.page
    make_catalog(visitor, "Handbook")
    page.locator("#files").set_input_files(HANDBOOK)
    expect(page.locator("#documents td .state.searchable")).to_be_visible()

    page.get_by_role("link", name="employee-handbook.pdf", exact=True).click()
    last = page.locator(".cut header a").last
    wanted = re.findall("#page=[0-9]+$", last.get_attribute("href") or "")
    expect(page.locator("#preview iframe")).to_be_visible()
    last.click()

    expect(page.locator(".cut article")).to_have_count(8)
    page.wait_for_function("name => window.frames.length === 1", arg="preview")
    frame = page.frame("preview")
    assert frame is not None
    frame.wait_for_url(lambda url: url.endswith(wanted[0]) and not url.startswith(visitor.url))
    assert wanted != ["#page=1"]
    wide = page.viewport_size
    assert wide is not None
    page.set_viewport_size({"width": 600, "height": 500})
    page.locator(".cut header a").first.click()
    expect(page.locator("#preview iframe")).to_be_in_viewport()
    page.set_viewport_size(wide)
    without_script = page.context.new_page()
    without_script.route("**/document.js*", lambda route: route.fulfill(body=""))
    without_script.goto(page.url)
    without_script.locator(".cut header a").last.click()
    without_script.wait_for_url(
        lambda url: url.endswith(wanted[0]) and not url.startswith(visitor.url)
    )
    without_script.close()

    state = page.locator("#document .standing .state")
    page.get_by_role("button", name="Re-index").click()
    expect(state).not_to_have_text("searchable")
    expect(state).to_have_text("searchable")
    expect(page.locator(".cut article")).to_have_count(8)
    visitor.expect_no_errors()
