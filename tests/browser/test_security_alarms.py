"""What listens for attacks hears each in a page that lets it in: else silence would say nothing."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from stackroom_console.headers import content_security_policy
from stackroom_console.rendering import STATIC
from tests.browser.alarms import alarm_at
from tests.browser.payloads import PAYLOADS

URL = "http://careless.test/"
# Where careless templates put a text: by each of these some payload gets out.
PLACES = (
    "<p>{}</p>",
    '<p title="{}">',
    "<p title='{}'>",
    "<input value={}>",
    '<a href="{}">open</a>',
    "<textarea>{}</textarea>",
    "<!-- {} -->",
)
CONFIGURED = """<meta name="htmx-config" content='{"includeIndicatorStyles": false}'>"""
# To a browser alone: the first is for what normalises a text, the second for a template's engine.
HARMLESS = {"what folds to brackets", "a template's expression"}


@pytest.mark.parametrize("policy", ["", content_security_policy("http://uploads.test")])
def test_each_attack_is_heard_where_it_is_let_in(chromium: Browser, policy: str) -> None:
    script = (STATIC / "vendor/htmx.min.js").read_text()

    heard = {each for each in PAYLOADS if is_heard(chromium, PAYLOADS[each], policy, script)}

    assert set(PAYLOADS) - heard == HARMLESS


def test_a_template_that_was_run_is_seen_and_a_page_that_is_well_is_silent(
    chromium: Browser,
) -> None:
    page = chromium.new_page()
    alarm, shown = alarm_at(page), [""]
    answer(page, shown, "", "")

    found = []
    for text in ("<p>9359</p>", "<p>&lt;script&gt;attacked(1)&lt;/script&gt;</p>"):
        shown[0] = text
        page.goto(URL)
        found.append(alarm.looked_at(page))

    page.close()
    assert found == [["9359"], []]


def is_heard(chromium: Browser, payload: str, policy: str, script: str) -> bool:
    page = chromium.new_page()
    alarm, shown = alarm_at(page), [""]
    answer(page, shown, policy, script)
    try:
        for place in PLACES:
            shown[0] = place.replace("{}", payload)
            page.goto(URL, wait_until="commit")
            if alarm.looked_at(page):
                return True
        return False
    finally:
        page.close()


def answer(page: Page, shown: list[str], policy: str, script: str) -> None:
    """The page that stands in `shown`, at every address of the careless site but htmx's."""

    def answered(route: Route) -> None:
        if urlsplit(route.request.url).path == "/static/htmx.js":
            route.fulfill(body=script, content_type="text/javascript")
            return
        page = f'<!doctype html>{CONFIGURED}<body>{shown[0]}<script src="/static/htmx.js"></script>'
        headers = {"Content-Security-Policy": policy} if policy else {}
        route.fulfill(body=page, content_type="text/html; charset=utf-8", headers=headers)

    page.route(f"{URL}**", answered)
