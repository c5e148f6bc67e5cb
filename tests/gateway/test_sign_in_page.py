"""The page on which a person picks the user: by hand, by keyboard, and by nobody else."""

import re

import httpx2
import pytest

from tests.gateway.browser import a_browser, query, read
from tests.gateway.flow import CALLBACK, Flow
from tests.gateway.serving import RunningGateway

EVIL = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>"


@pytest.fixture
def flow(gateway: RunningGateway) -> Flow:
    return Flow(gateway=gateway)


def test_the_page_can_be_neither_framed_nor_scripted_nor_kept(flow: Flow) -> None:
    """It says where one goes."""
    with a_browser() as browser:
        response = browser.http.get(flow.link(), follow_redirects=True)

    assert f"<code>{CALLBACK}</code>" in response.text
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["x-frame-options"] == "DENY"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cache-control"] == "no-store"
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "<script" not in response.text
    assert not re.search(r"\son\w+=", response.text)
    assert not re.search(r"\sstyle=", response.text)


def test_one_page_is_good_for_one_answer_and_who_cancels_goes_back_without_a_code(
    flow: Flow,
) -> None:
    with a_browser() as browser:
        page = browser.open(flow.link())
        assert ("cancel", "yes") in page.buttons

        cancelled = browser.submit(page, cancel="yes")
        again = browser.submit(page, user="alice")

    assert query(cancelled.headers["location"]) == {"error": "access_denied", "state": "a state"}
    assert again.status_code == 400
    assert "no longer open" in again.text


def test_a_page_that_nobody_asked_for_has_no_form(gateway: RunningGateway) -> None:
    for name in ("", EVIL):
        response = httpx2.get(f"{gateway.base}/issuer/sign-in", params={"request": name})

        assert response.status_code == 400
        assert "<form" not in response.text
        assert "frame-ancestors 'none'" in response.headers["content-security-policy"]


def test_a_form_from_elsewhere_signs_nobody_in(flow: Flow) -> None:
    with a_browser() as browser:
        page = browser.open(flow.link())
        without_cookie = httpx2.post(page.url, data={**page.fields, "user": "mallory"})
        without_field = browser.submit(page, user="mallory", form="")
        with_another = browser.submit(page, user="mallory", form="another")

        assert {answer.status_code for answer in (without_cookie, without_field, with_another)} == {
            403
        }
        assert browser.submit(page, user="alice").status_code == 303


def test_who_can_be_no_user_is_asked_again(flow: Flow) -> None:
    with a_browser() as browser:
        page = browser.open(flow.link())
        for user in ("", "-alice", "alice/research", "é", "a" * 129, EVIL):
            response = browser.submit(page, user=user, groups="staff")

            assert response.status_code == 400
            assert 'role="alert"' in response.text
            assert EVIL not in response.text
            page = read(response)
            assert page.fields["user"] == user
            assert page.fields["groups"] == "staff"
        assert browser.submit(page, user="alice").status_code == 303


def test_what_can_be_no_group_is_said(flow: Flow) -> None:
    with a_browser() as browser:
        page = browser.open(flow.link())
        for groups in ("a b", "x" * 129, ",".join(map(str, range(21))), f"<b>{EVIL}"):
            response = browser.submit(page, user="alice", groups=groups)

            assert response.status_code == 400
            assert 'role="alert"' in response.text
            assert EVIL not in response.text


def test_who_signed_in_before_is_one_button_away(flow: Flow) -> None:
    flow.tokens("heidi", "staff,research")

    with a_browser() as browser:
        page = browser.open(flow.link())
        assert ("known", "heidi") in page.buttons
        response = browser.submit(page, known="heidi")

    seen = flow.exchange(query(response.headers["location"])["code"]).json()
    answer = flow.gateway.echo(token=seen["access_token"], query="hi")
    headers = answer["custom"]["bedrockAgentCorePropagatedHeaders"]
    assert (headers["x-user-sub"], headers["x-user-groups"]) == ("heidi", "staff,research")


def test_what_a_client_sends_or_registers_is_text_to_the_page(flow: Flow) -> None:
    registered = "com.example:<script>alert(1)</script>"
    url = f"{flow.gateway.base}/issuer/register"
    httpx2.post(url, json={"redirect_uris": [registered]}, timeout=120).raise_for_status()

    with a_browser() as browser:
        for uri in (f"http://localhost/callback?x={EVIL}", registered):
            page = browser.http.get(flow.link(redirect_uri=uri, state=EVIL), follow_redirects=True)

            assert page.status_code == 200
            assert "<script>" not in page.text
            assert "onerror='" not in page.text
    assert "&lt;script&gt;" in page.text
