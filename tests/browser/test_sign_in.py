"""Who somebody is at the console: nobody at first, then one person, and nobody again."""

from playwright.sync_api import expect

from tests.browser.conftest import SignedIn
from tests.browser.visitors import Visitor, answer_issuer


def test_signing_in_leads_to_ones_own_catalogs(signed_in: SignedIn) -> None:
    tom = signed_in("tom")

    expect(tom.page.get_by_role("heading", level=1)).to_have_text("Catalogs")
    expect(tom.page.locator("bdi.user")).to_have_text("tom")
    assert tom.said == []


def test_the_page_that_a_stranger_wanted_comes_after_signing_in(stranger: Visitor) -> None:
    page = stranger.open("/catalogs/new")

    page.get_by_role("button", name="Sign in").click()
    answer_issuer(stranger)

    expect(page).to_have_url(f"{stranger.url}/catalogs/new")
    expect(page.get_by_label("Name", exact=True)).to_be_visible()


def test_no_script_can_read_the_session_and_no_token_is_kept(signed_in: SignedIn) -> None:
    tom = signed_in("tom")

    readable, *stored = tom.page.evaluate(
        "() => [document.cookie, ...Object.values(localStorage), ...Object.values(sessionStorage)]"
    )
    cookies = tom.page.context.cookies(tom.url)

    assert readable == ""
    assert all(each["httpOnly"] and each["sameSite"] == "Lax" for each in cookies)
    # A JSON Web Token begins so: it is the base64 of `{"`.
    assert not [each for each in stored if "eyJ" in each]
    assert not [each["name"] for each in cookies if each["value"].startswith("eyJ")]


def test_who_signs_out_is_asked_again(signed_in: SignedIn) -> None:
    tom = signed_in("tom")

    tom.page.locator("summary", has_text="tom").click()
    tom.page.get_by_role("button", name="Sign out", exact=True).click()
    expect(tom.page.get_by_text("You are signed out here.")).to_be_visible()
    tom.open("/catalogs")

    expect(tom.page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(tom.page.locator("bdi.user")).to_have_count(0)
    assert tom.said == []


def test_signing_out_everywhere_ends_the_other_browsers_session(signed_in: SignedIn) -> None:
    here, there, other = signed_in("tom"), signed_in("tom"), signed_in("ann")

    here.page.locator("summary", has_text="tom").click()
    here.page.get_by_role("button", name="Sign out everywhere").click()
    expect(here.page.get_by_role("button", name="Sign in")).to_be_visible()
    there.open("/catalogs")
    other.open("/catalogs")

    expect(there.page.locator("bdi.user")).to_have_count(0)
    expect(other.page.locator("bdi.user")).to_have_text("ann")
