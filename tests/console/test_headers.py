"""The headers that a browser sends stay within the limit of API Gateway's HTTP API."""

import uuid
from urllib.parse import urlencode

import httpx2

from stackroom_console.authentication import LONGEST
from stackroom_console.console import MAX_HEADERS, Console
from stackroom_console.sealed_cookies import MAX_COOKIE, Session
from tests.console.conftest import NewBrowser


def a_name(number: int) -> str:
    """Return a group's name as long and as incompressible as a directory's may be."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, str(number)))


# Cognito lets a user be in so many:
# https://docs.aws.amazon.com/cognito/latest/developerguide/quotas.html
AS_MANY_AS_COGNITO_HAS = [a_name(number) for number in range(1, 101)]
THREE_HUNDRED = [f"Department of Works, section {number}" for number in range(300)]
# Of what Chromium sends beside these, with what htmx asks for, the longest that we have seen.
BYTES_OF_A_BROWSER = 720


def test_session_holds_hundreds_of_groups_and_refuses_more_with_the_limit(
    new_browser: NewBrowser, console: Console
) -> None:
    for groups in (AS_MANY_AS_COGNITO_HAS, THREE_HUNDRED):
        browser = new_browser()
        browser.sign_in("alice", *groups)

        session = console.seal.open(browser.session, Session)
        assert session is not None
        assert session.groups == tuple(groups)
        assert browser.get("/catalogs").status_code == 200

    stranger = new_browser()
    refused = stranger.sign_in("alice", *(a_name(number) for number in range(1, 301)))

    assert refused.status_code == 400
    assert "you are in 300 groups" in refused.text
    assert f"Allowed: {MAX_COOKIE:,}." in refused.text
    assert stranger.session is None


def test_the_most_that_a_browser_sends_is_taken(new_browser: NewBrowser) -> None:
    fullest = new_browser()
    for number in range(105, 200, 5):
        candidate = new_browser()
        candidate.sign_in("a" * 36, *(a_name(each) for each in range(1, number)))
        if candidate.session is None:
            break
        fullest = candidate
    assert MAX_COOKIE * 0.9 < len(fullest.session or "") <= MAX_COOKIE
    deepest = "/" + "%" * (LONGEST - 1)  # which three characters stand for, each, in a query
    asking = "/sign-in/begin?" + urlencode({"return_to": deepest})
    fullest.get(asking)
    fullest.post("/theme", theme="light")

    answer = fullest.get(
        asking,
        **{"user-agent": "a" * BYTES_OF_A_BROWSER},
        **{
            "referer": f"{fullest.client.base_url}{asking}",
            "hx-current-url": f"{fullest.client.base_url}{asking}",
            "x-csrf-token": "a" * 32,
        },
    )

    assert answer.status_code == 303
    assert "return_to" not in answer.headers["location"]
    assert size_of(answer.request) < MAX_HEADERS


def size_of(request: httpx2.Request) -> int:
    """Return the size of the request's line and headers, with names and line ends."""
    line = f"{request.method} {request.url.raw_path.decode()} HTTP/1.1\r\n"
    return len(line) + sum(len(name) + len(value) + 4 for name, value in request.headers.raw)
