"""The headers that a browser sends stay within the limit of API Gateway's HTTP API."""

import uuid

from stackroom_console.console import Console
from stackroom_console.sealed_cookies import MAX_COOKIE, Session
from tests.console.conftest import NewBrowser


def a_name(number: int) -> str:
    """Return a group's name as long and as incompressible as a directory's may be."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, str(number)))


# Cognito lets a user be in so many:
# https://docs.aws.amazon.com/cognito/latest/developerguide/quotas.html
AS_MANY_AS_COGNITO_HAS = [a_name(number) for number in range(1, 101)]
THREE_HUNDRED = [f"Department of Works, section {number}" for number in range(300)]


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
