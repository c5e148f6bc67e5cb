"""A session is one browser's and one user's, begins with a sign-in, and leads nowhere else."""

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from playwright.sync_api import Browser, Page, Request, expect

from stackroom_console.own_paths import HOME
from stackroom_local.state import Instance
from tests.browser.asking import REDIRECTED, ask, token
from tests.browser.conftest import NewAttempts, SignedIn
from tests.browser.visitors import Visitor, answer_issuer, arrive
from tests.gateway.browser import Browser as HttpBrowser

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
EVIL = "evil.test"
# What browsers and servers read in other ways than it looks.
ELSEWHERE = (
    f"https://{EVIL}/",
    f"//{EVIL}/",
    f"///{EVIL}/",
    f"////{EVIL}/",
    f"/\\{EVIL}/",
    f"\\\\{EVIL}/",
    f"\\/{EVIL}/",
    f"/\t/{EVIL}/",
    f"/\n/{EVIL}/",
    f"\t//{EVIL}/",
    f"\x00//{EVIL}/",
    f"\x1f//{EVIL}/",
    f" //{EVIL}/",
    f"https:{EVIL}",
    f"https:/{EVIL}",
    f"http:\\\\{EVIL}",
    f"//127.0.0.1@{EVIL}/",
    f"/%2f{EVIL}/",
    f"/%5c{EVIL}/",
    f"/.//{EVIL}/",
    f"/..//{EVIL}/",
    f"/catalogs/..//{EVIL}/",
    f"//{EVIL}\u3002test/",
    f"/\u2215{EVIL}/",
    f"/catalogs\r\nLocation: //{EVIL}/",
    "javascript:location='//evil.test'",
    "data:text/html,<script>location='//evil.test'</script>",
    f"?return_to=//{EVIL}/",
    f"#//{EVIL}/",
)
LINKED = """(host) => [...document.links, ...document.forms]
  .map((each) => each.href || each.action).filter((each) => new URL(each).host.includes(host))"""
PARAMETERS = ("return_to", "next", "url", "redirect", "redirect_uri", "continue", "out")


def session_of(page: Page, url: str) -> Any:
    """The console's cookie, if there is one."""
    name = f"stackroom-{urlsplit(url).port}"
    found = [each for each in page.context.cookies(url) if each.get("name") == name]
    return found[0] if found else None


def plant(page: Page, cookie: Any) -> None:
    page.context.add_cookies([cookie])


def user_of(visitor: Visitor) -> str | None:
    visitor.open("/sign-in")
    shown = visitor.page.locator("bdi.user")
    return shown.inner_text() if shown.count() else None


def test_a_cookie_that_was_there_before_is_no_session_after(
    signed_in: SignedIn, chromium: Browser, instance: Instance, attempts: NewAttempts
) -> None:
    tried, mallory = attempts("session fixation"), signed_in("mallory-of-sessions")
    planted = session_of(mallory.page, mallory.url)
    sealed = planted["value"]

    for number, value in enumerate((sealed, sealed[:-4], "chosen", f'"{sealed}"')):
        victim = arrive(chromium, instance, f"vic-{number}")
        plant(victim.page, {**planted, "value": value})
        victim.open("/sign-in/begin")
        answer_issuer(victim)
        victim.page.wait_for_url(f"{victim.url}{HOME}")
        kept = session_of(victim.page, victim.url)
        with_it = ask(mallory.page, "GET", "/catalogs").text
        tried.note(f"{value} is kept", got_in=kept["value"] in (value, sealed))
        tried.note(f"{value} is told {with_it}", got_in=victim.name in with_it)
        tried.note(f"{value}: {user_of(victim)}", got_in=user_of(victim) != victim.name)
        tried.note("the same token", got_in=token(victim.page) == token(mallory.page))
        victim.page.context.close()

    tried.none_succeeded(least=16)


def test_a_changed_cookie_is_none(
    signed_in: SignedIn, chromium: Browser, instance: Instance, attempts: NewAttempts
) -> None:
    tried, tom = attempts("forged cookies"), signed_in("tom-of-sessions")
    cookie = session_of(tom.page, tom.url)
    sealed = cookie["value"]
    stranger = arrive(chromium, instance, "nobody")
    stranger.open("/sign-in/begin?return_to=/catalogs")
    begun = [
        each["value"]
        for each in stranger.page.context.cookies(tom.url)
        if "sign-in" in each["name"]
    ]
    changed = [
        sealed[:at] + ("A" if sealed[at] != "A" else "B") + sealed[at + 1 :]
        for at in range(0, len(sealed) - 2, 7)
    ]

    for value in [*begun, *changed, sealed[:-8], sealed[8:], "gAAAAA", "null", "%00", "{}"]:
        plant(stranger.page, {**cookie, "value": value})
        user = user_of(stranger)
        tried.note(f"{value}: {user}", got_in=user is not None)

    stranger.page.context.close()
    assert begun
    tried.none_succeeded(least=30)


def test_one_users_cookie_and_anothers_token_change_nothing(
    signed_in: SignedIn, attempts: NewAttempts
) -> None:
    tried, tom, ann = attempts("tokens of others"), signed_in("tom-t"), signed_in("ann-t")
    old = token(tom.page)
    tom.open("/sign-in/begin")
    answer_issuer(tom)
    tom.page.wait_for_url(f"{tom.url}{HOME}")

    for given in (token(ann.page), old, "", "null", token(tom.page)[:-1], token(tom.page) + "A"):
        headers = {**FORM, "X-CSRF-Token": given}
        answer = ask(tom.page, "POST", "/catalogs", body="name=Planted", headers=headers)
        tried.note(f"{given}: {answer}", got_in=answer.status != 403)

    tom.open("/catalogs")
    expect(tom.page.get_by_text("Planted")).to_have_count(0)
    tried.none_succeeded(least=6)


def test_an_answer_of_the_issuer_is_for_one_sign_in_of_one_browser(
    chromium: Browser, instance: Instance, attempts: NewAttempts
) -> None:
    tried, victim = attempts("sign-ins of others, and again"), arrive(chromium, instance, "victim")
    back = unused_answer(victim.url, "mallory")
    given = {name: value for name, [value] in parse_qs(urlsplit(back).query).items()}
    called: list[str] = []

    def hear(request: Request) -> None:
        called.extend([request.url] if "state=" in request.url else [])

    victim.page.goto(back)
    tried.note("without a sign-in of its own", got_in=user_of(victim) is not None)
    victim.page.on("request", hear)
    victim.open("/sign-in/begin")
    answer_issuer(victim)
    victim.page.wait_for_url(f"{victim.url}{HOME}")
    used = called[-1]
    before = session_of(victim.page, victim.url)["value"]
    victim.open("/sign-in/begin")
    [state] = parse_qs(urlsplit(called[-1]).query)["state"]
    for query in (
        given,
        {**given, "state": state},
        {**given, "state": ""},
        {"code": given["code"]},
        {"state": state, "code": ""},
        {"state": state},
        {"state": state, "error": "access_denied"},
    ):
        victim.page.goto(f"{victim.url}/sign-in/callback?{urlencode(query)}")
        now = session_of(victim.page, victim.url)["value"]
        tried.note(f"{query}", got_in=now != before or user_of(victim) != victim.name)
    victim.page.goto(used)
    tried.note("the same again", got_in=session_of(victim.page, victim.url)["value"] != before)

    victim.page.context.close()
    tried.none_succeeded(least=9)


def test_signing_out_everywhere_ends_other_browsers_and_copies_of_their_cookies(
    signed_in: SignedIn, chromium: Browser, instance: Instance, attempts: NewAttempts
) -> None:
    tried, here, there = attempts("sessions signed out"), signed_in("uma"), signed_in("uma")
    thief, other = arrive(chromium, instance, "thief"), signed_in("ann-of-sessions")
    plant(thief.page, session_of(there.page, there.url))
    assert user_of(thief) == "uma"
    stolen, left = token(thief.page), token(there.page)

    here.page.locator("summary", has_text="uma").click()
    here.page.get_by_role("button", name="Sign out everywhere").click()
    expect(here.page.get_by_text("You are signed out here.")).to_be_visible()

    for visitor, given in ((there, left), (thief, stolen)):
        headers = {**FORM, "X-CSRF-Token": given}
        changed = ask(visitor.page, "POST", "/catalogs", body="name=Late", headers=headers)
        looked = ask(visitor.page, "GET", "/api/agents")
        tried.note(f"{changed}", got_in=changed.status != REDIRECTED)
        tried.note(f"{looked}", got_in=looked.status != 401)
        tried.note("known", got_in=user_of(visitor) is not None)
    assert user_of(other) == "ann-of-sessions"
    thief.page.context.close()
    tried.none_succeeded(least=6)


def test_a_sign_in_leads_to_the_console_and_nowhere_else(
    chromium: Browser, instance: Instance, attempts: NewAttempts
) -> None:
    tried, visitor = attempts("open redirects"), arrive(chromium, instance, "una")
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


def unused_answer(url: str, user: str) -> str:
    """Where the issuer sends a user who has signed in with another browser; nobody went there."""
    with httpx2.Client(base_url=url, timeout=120) as http:
        person, begun = HttpBrowser(http), http.get("/sign-in/begin")
        answer = person.submit(person.open(begun.headers["location"]), user=user, groups="")
        return str(answer.headers["location"])
