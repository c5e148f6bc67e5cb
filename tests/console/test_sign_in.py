"""Signing in and out: a session for whoever proved who they are, and for nobody else."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import jwt
import pytest
from cryptography.fernet import Fernet
from starlette.testclient import TestClient

from stackroom_console.app import console_app
from stackroom_console.authentication import HOME, own_path
from stackroom_console.console import Console
from stackroom_console.sealed_cookies import Seal, Session, SignInBegun
from tests.console.browser import SESSION, URL, Browser
from tests.console.conftest import NewBrowser
from tests.console.provider import ISSUER, Provider

CALLBACK = "/sign-in/callback"


def begun(browser: Browser, **query: str) -> str:
    """Begin to sign in, and return the address the browser is sent to."""
    answer = browser.client.get("/sign-in/begin", params=query, follow_redirects=False)
    assert answer.status_code == 303
    return str(answer.headers["location"])


def open_session(console: Console, browser: Browser) -> Session:
    opened = console.seal.open(browser.session, Session)
    assert opened is not None
    return opened


def test_each_sign_in_uses_its_own_pkce_challenge_state_and_nonce(
    browser: Browser,
) -> None:
    queries = [parse_qs(urlsplit(begun(browser)).query) for _ in range(2)]

    for query in queries:
        assert query["response_type"] == ["code"]
        assert query["redirect_uri"] == [URL + CALLBACK]
        assert query["scope"] == ["openid"]
        assert query["code_challenge_method"] == ["S256"]
        assert "prompt" not in query
    for name in ("state", "nonce", "code_challenge"):
        assert queries[0][name] != queries[1][name]


def test_sign_in_returns_with_a_sealed_http_only_cookie_without_token(
    console: Console, browser: Browser
) -> None:
    answer = browser.sign_in("alice", "people", return_to="/catalogs?after=cat-0")

    assert (answer.status_code, answer.headers["location"]) == (303, "/catalogs?after=cat-0")
    assert '<bdi class="user">alice</bdi>' in browser.get("/catalogs").text
    [cookie] = [
        each for each in answer.headers.get_list("set-cookie") if each.startswith(f"{SESSION}=")
    ]
    attributes = {each.strip().lower() for each in cookie.split(";")[1:]}
    assert {"httponly", "secure", "path=/", "samesite=lax"} <= attributes
    assert not any(each.startswith("domain") for each in attributes)
    assert "alice" not in cookie
    session = open_session(console, browser)
    assert (session.user_id, session.groups) == ("alice", ("people",))
    assert session.session_id == "session-of-alice"
    assert set(Session.model_fields) == {
        *("kind", "id", "user_id", "groups", "session_id", "csrf", "begun_at", "expires_at")
    }


def test_each_sign_in_is_another_session_whatever_cookie_came_before(
    console: Console, browser: Browser
) -> None:
    browser.sign_in("mallory")
    planted, token = open_session(console, browser), browser.csrf

    browser.sign_in("alice")

    session = open_session(console, browser)
    assert session.user_id == "alice"
    assert session.id != planted.id
    assert browser.send("/catalogs", {"name": "Mine", "csrf_token": token}).status_code == 403


def test_sign_in_answer_is_valid_only_in_the_browser_that_began_it(
    browser: Browser, new_browser: NewBrowser, provider: Provider
) -> None:
    """Else one could be signed in, unknowing, as whoever sent the address."""
    mallory = new_browser()
    back = provider.sign_in(begun(mallory), "mallory")

    without = browser.get(back)
    alices = parse_qs(urlsplit(provider.sign_in(begun(browser), "alice")).query)
    with_another = browser.get(back)
    state = parse_qs(urlsplit(begun(mallory)).query)["state"][0]
    stolen = mallory.get(f"{CALLBACK}?code={alices['code'][0]}&state={state}")

    statuses = [each.status_code for each in (without, with_another, stolen)]
    assert statuses == [400, 400, 401]
    assert browser.session is None
    assert mallory.session is None


def test_a_token_that_is_not_for_us_begins_no_session(browser: Browser, provider: Provider) -> None:
    wrong: list[tuple[dict[str, object], dict[str, object]]] = [
        ({"iss": "https://elsewhere.test"}, {}),
        ({"client_id": "another"}, {}),
        ({"token_use": "id"}, {}),
        ({"exp": 1}, {}),
        ({"sub": "../bob"}, {}),
        ({}, {"nonce": "of another sign-in"}),
        ({}, {"aud": "another"}),
        ({}, {"iss": "https://elsewhere.test"}),
        ({}, {"exp": 1}),
    ]
    for provider.claims, provider.id_claims in wrong:
        answer = browser.sign_in("alice")

        assert answer.status_code in (400, 401), (provider.claims, provider.id_claims)
        assert "Sign in" in answer.text
        assert browser.session is None


def test_outage_of_the_provider_is_reported_without_details(
    browser: Browser, provider: Provider
) -> None:
    provider.is_down = True

    begun, signed_out = browser.get("/sign-in/begin"), browser.get("/sign-in?out=1")

    assert begun.status_code == 503
    assert "Try again in a few seconds" in begun.text
    assert "refused" not in begun.text
    assert signed_out.status_code == 200
    assert "You are signed out of Stackroom" in signed_out.text
    assert f"{ISSUER}/logout" not in signed_out.text


def test_denied_or_refused_sign_in_says_so_and_begins_no_session(browser: Browser) -> None:
    for error, said in (
        ("access_denied", "it was cancelled, or access was denied"),
        ("server_error", "the sign-in service refused"),
    ):
        [state] = parse_qs(urlsplit(begun(browser)).query)["state"]
        answer = browser.get(f"{CALLBACK}?error={error}&state={state}")

        assert (answer.status_code, browser.session) == (400, None)
        assert said in answer.text


def test_provider_that_fails_after_the_sign_in_begins_no_session(
    browser: Browser, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: str) -> None:
        raise jwt.PyJWKClientConnectionError("refused")

    def nothing(_: object) -> httpx2.Response:
        return httpx2.Response(200, json={"token_type": "Bearer", "expires_in": 3600})

    statuses = []
    for name, failing in (("is_down", True), ("get_signing_key", away), ("_token", nothing)):
        back = provider.sign_in(begun(browser), "alice")
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(provider, name, failing)
            statuses.append(browser.get(back).status_code)

    assert (statuses, browser.session) == ([503, 503, 401], None)


@pytest.mark.parametrize(
    "other", [{"issuer": "https://elsewhere.test"}, {"token_endpoint": "file:///etc/passwd"}]
)
def test_metadata_of_another_provider_are_not_used(
    browser: Browser, provider: Provider, monkeypatch: pytest.MonkeyPatch, other: dict[str, str]
) -> None:
    metadata = {**provider._metadata(), **other}
    monkeypatch.setattr(provider, "_metadata", lambda: metadata)

    assert browser.get("/sign-in/begin").status_code == 503


def test_open_pages_go_on_working_after_the_same_user_signs_in_again(
    browser: Browser,
) -> None:
    browser.sign_in("alice")
    token = browser.csrf
    browser.sign_in("alice")

    answer = browser.send("/catalogs", {"name": "Mine", "csrf_token": token})

    assert answer.status_code == 303


def later(console: Console, browser: Browser, **after: float) -> Browser:
    """The same browser, when so much time has passed."""
    moved = replace(console, now=lambda: console.now() + timedelta(**after))
    client = TestClient(console_app(moved), base_url=URL, cookies=browser.client.cookies)
    return replace(browser, client=client)


def test_sign_in_that_took_too_long_is_refused(
    console: Console, browser: Browser, provider: Provider
) -> None:
    back = provider.sign_in(begun(browser), "alice")

    late = later(console, browser, minutes=11)

    assert late.get(back).status_code == 400
    assert late.session is None


def test_session_ends_with_its_token_and_next_sign_in_is_silent(
    console: Console, alice: Browser
) -> None:
    token, late = alice.csrf, later(console, alice, hours=1, seconds=1)

    page = late.get("/catalogs?after=x")
    change = late.send("/catalogs", {"csrf_token": token})
    part = late.part("/catalogs/part")

    assert page.headers["location"] == "/sign-in/begin?return_to=%2Fcatalogs%3Fafter%3Dx"
    assert change.headers["location"] == "/sign-in?return_to=%2Fcatalogs"
    assert part.status_code == 401
    assert "Session expired" in part.text


def test_sign_out_ends_the_session_here_and_at_the_provider(
    alice: Browser,
) -> None:
    answer = alice.post("/sign-out")

    assert alice.session is None
    assert alice.get("/catalogs").headers["location"].startswith("/sign-in?")
    assert f"{ISSUER}/logout?client_id=console" in alice.get(answer.headers["location"]).text


def test_sign_out_everywhere_ends_only_that_users_other_sessions(
    alice: Browser, bob: Browser, new_browser: NewBrowser
) -> None:
    elsewhere = new_browser()
    elsewhere.sign_in("alice")

    alice.post("/sign-out/everywhere")

    assert elsewhere.get("/catalogs").headers["location"] == (
        "/sign-in/begin?return_to=%2Fcatalogs&ask_again=1"
    )
    assert elsewhere.get("/api/agents").status_code == 401
    assert bob.get("/catalogs").status_code == 200


def test_sign_in_after_signing_out_everywhere_needs_a_newer_proof(
    console: Console, alice: Browser, provider: Provider
) -> None:
    alice.post("/sign-out/everywhere")

    provider.claims = {"auth_time": 1}
    silent = alice.sign_in("alice")
    kept = alice.session
    again = begun(alice, **dict(parse_qsl(urlsplit(silent.headers["location"]).query)))
    provider.claims = {"auth_time": int((console.now() + timedelta(minutes=5)).timestamp())}
    asked = alice.sign_in("alice")

    assert kept is None
    assert parse_qs(urlsplit(again).query)["prompt"] == ["login"]
    assert asked.headers["location"] == HOME
    assert alice.get("/catalogs").status_code == 200


def test_a_sign_in_leads_to_our_own_pages_alone(browser: Browser) -> None:
    assert browser.sign_in("alice", return_to="//evil.test/").headers["location"] == HOME
    for elsewhere in (
        "https://evil.test/",
        "/\\evil.test",
        "/\t/evil.test",
        "\\\\evil.test",
        "/%0d%0aSet-Cookie:x\r\nX: y",
        "javascript:alert(1)",
        "catalogs",
        "/sign-in/begin",
        "/ä",
        "/" + "a" * 1001,
        "",
    ):
        assert own_path(elsewhere) == HOME, elsewhere


def test_keys_can_be_replaced_while_sessions_last(console: Console) -> None:
    old, new = Fernet.generate_key(), Fernet.generate_key()
    begun_before = SignInBegun(
        state="s",
        nonce="n",
        code_verifier="c",
        return_to="/",
        expires_at=console.now(),
    )
    sealed = Seal([old]).close(begun_before)

    assert Seal([new, old]).open(sealed, SignInBegun) == begun_before
    assert Seal([new]).open(sealed, SignInBegun) is None
    assert Seal([old]).open(sealed, Session) is None


def test_the_console_is_served_by_tls_or_on_this_machine(console: Console) -> None:
    for url in ("http://console.test", "https://console.test/path", "console.test", "https://"):
        with pytest.raises(ValueError, match="Allowed: https://HOST"):
            replace(console, url=url)
