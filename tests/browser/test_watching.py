"""Live status: asked for the more seldom the less happens, and by nobody who doesn't look."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import SignedIn
from tests.browser.visitors import Visitor, make_catalog

_MINUTE = 60_000  # milliseconds of the page's own clock, which the tests turn

# A tab that somebody can put behind another by a call of ours.
HIDEABLE = """
  let isHidden = false;
  Object.defineProperty(document, "hidden", { get: () => isHidden });
  window.hide = (hidden) => {
    isHidden = hidden;
    document.dispatchEvent(new Event("visibilitychange"));
  };
"""


class Polls:
    """Each time that the page asked what is new: how often in a row nothing had been."""

    def __init__(self, page: Page) -> None:
        self.quiet: list[int] = []
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.path.endswith("/part"):
            self.quiet.append(int(parse_qs(address.query)["quiet"][0]))


@pytest.fixture
def watcher(signed_in: SignedIn) -> Visitor:
    """At a page whose clock stands still unless a test turns it."""
    visitor = signed_in("nora")
    visitor.page.add_init_script(HIDEABLE)
    visitor.page.clock.install()
    return visitor


def test_hidden_tab_sends_no_requests_and_refreshes_when_shown(
    watcher: Visitor,
) -> None:
    page, polls = watcher.page, Polls(watcher.page)
    watcher.open("/catalogs")
    _until_next(page, polls)

    page.evaluate("hide(true)")
    page.clock.run_for(30 * _MINUTE)
    # What a request would have done is done: the page answers another question behind it.
    page.evaluate("fetch('/static/console.js').then((answer) => answer.text())")
    asked_hidden = len(polls.quiet)
    with page.expect_request("**/part?*"):
        page.evaluate("hide(false)")

    assert asked_hidden == 1
    assert len(polls.quiet) == 2


def test_catalog_made_in_another_session_appears_without_a_reload(
    watcher: Visitor, signed_in: SignedIn
) -> None:
    page, polls = watcher.page, Polls(watcher.page)
    watcher.open("/catalogs")
    _until_next(page, polls)
    _until_next(page, polls)

    make_catalog(signed_in("nora"), "Made elsewhere")
    _until_next(page, polls)

    listed = page.get_by_role("rowheader", name="Made elsewhere", exact=True)
    expect(listed).to_be_visible()
    _until_next(page, polls)
    assert polls.quiet.count(0) == 2  # and it is asked for as often as at first


def _until_next(page: Page, polls: Polls) -> int:
    """Seconds of the page's clock until it asks again; the answer is in the page then."""
    before = len(polls.quiet)
    shown = page.locator("#watch").get_attribute("hx-get")
    for seconds in range(1, 120):
        page.clock.run_for(1000)
        if len(polls.quiet) > before:
            expect(page.locator("#watch")).not_to_have_attribute("hx-get", str(shown))
            return seconds
    raise AssertionError("it asks no more")
