"""Who somebody is at the console: nobody at first, then one person, and nobody again."""

from urllib.parse import urlencode

from playwright.sync_api import Browser, Request, expect

from stackroom_local.state import Instance
from tests.browser.attempts import Attempts
from tests.browser.conftest import SignedIn
from tests.browser.visitors import Visitor, answer_issuer, arrive

EVIL = "evil.test"
# What browsers and servers read in other ways than it looks.
ELSEWHERE = (
    f"https://{EVIL}/",
    f"//{EVIL}/",
    f"/\\{EVIL}/",
    f"\\\\{EVIL}/",
    f"/\t/{EVIL}/",
    f"\t//{EVIL}/",
    f"\x1f//{EVIL}/",
    f"https:{EVIL}",
    f"http:\\\\{EVIL}",
    f"//127.0.0.1@{EVIL}/",
    f"/%2f{EVIL}/",
    f"/.//{EVIL}/",
    f"/catalogs/..//{EVIL}/",
    f"//{EVIL}\u3002test/",
    f"/catalogs\r\nLocation: //{EVIL}/",
    "javascript:location='//evil.test'",
    "data:text/html,<script>location='//evil.test'</script>",
)
LINKED = """(host) => [...document.links, ...document.forms]
  .map((each) => each.href || each.action).filter((each) => new URL(each).host.includes(host))"""
PARAMETERS = ("return_to", "next", "url", "redirect", "redirect_uri", "continue", "out")


def test_the_page_that_a_stranger_wanted_comes_after_signing_in(stranger: Visitor) -> None:
    page = stranger.open("/catalogs/new")

    page.get_by_role("button", name="Sign in").click()
    answer_issuer(stranger)

    expect(page).to_have_url(f"{stranger.url}/catalogs/new")
    expect(page.get_by_label("Name", exact=True)).to_be_visible()


def test_who_signs_out_is_asked_again(signed_in: SignedIn) -> None:
    tom = signed_in("tom")

    tom.page.locator("summary", has_text="tom").click()
    tom.page.get_by_role("button", name="Sign out", exact=True).click()
    expect(tom.page.get_by_text("You are signed out here.")).to_be_visible()
    tom.open("/catalogs")

    expect(tom.page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(tom.page.locator("bdi.user")).to_have_count(0)
    assert tom.said == []


def test_a_sign_in_leads_to_the_console_and_nowhere_else(
    chromium: Browser, instance: Instance
) -> None:
    tried, visitor = Attempts(), arrive(chromium, instance, "una")
    page, asked = visitor.page, list[str]()

    def hear(request: Request) -> None:
        asked.append(request.url)

    page.on("request", hear)
    for target in ELSEWHERE:
        query = urlencode(dict.fromkeys(PARAMETERS, target))
        visitor.open(f"/sign-in?{query}")
        link = page.evaluate(LINKED, EVIL)
        visitor.open(f"/sign-in/begin?{query}")
        answer_issuer(visitor)
        page.wait_for_url(f"{visitor.url}/**")
        where = led_to(asked, visitor.url, instance.issuer)
        tried.note(f"{target!r} led to {where}, {link}", got_in=bool(where or link))
        page.context.clear_cookies()
        visitor.open(f"/{target}")
        tried.note(f"{target!r} as a path", got_in=bool(led_to(asked, visitor.url)))

    page.context.close()
    tried.none_succeeded(least=2 * len(ELSEWHERE))


def led_to(asked: list[str], *own: str) -> list[str]:
    """What was asked for of other origins; forgotten then."""
    found = [each for each in asked if not each.startswith(tuple(f"{url}/" for url in own))]
    asked.clear()
    return found
