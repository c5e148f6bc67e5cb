"""The console as the local mode serves it: a sign-in at its issuer, a file sent, and asked."""

import re
from collections.abc import Iterator
from html import unescape

import httpx2
import pytest

from stackroom_local.state import Instance
from tests.e2e.people import eventually
from tests.gateway.browser import Browser

pytestmark = pytest.mark.processes

# Of a catalog that the pool of the shared local mode has a place for (tests/conftest.py).
USER, CATALOG = "kim", "sea"
TEXT = "The lighthouse at Skagen is forty-six metres high."


@pytest.fixture
def browser(instance: Instance) -> Iterator[httpx2.Client]:
    """Kim's, signed in."""
    with httpx2.Client(base_url=url_of(instance), timeout=120) as http:
        person = Browser(http)
        begun = http.get("/sign-in/begin")
        answer = person.submit(person.open(begun.headers["location"]), user=USER, groups="")
        back = http.get(answer.headers["location"])
        assert (back.status_code, back.headers["location"]) == (303, "/catalogs"), back.text
        yield http


def url_of(instance: Instance) -> str:
    assert instance.console_url is not None, "it is served unless its stack is left out"
    return instance.console_url


def token_of(text: str) -> str:
    [token] = re.findall(r'name="csrf-token" content="([^"]+)"', text)
    return unescape(token)


def test_a_file_that_a_page_sends_is_indexed_and_answers(browser: httpx2.Client) -> None:
    listed = browser.get("/catalogs").text
    headers = {"X-CSRF-Token": token_of(listed)}
    if f">{CATALOG}<" not in listed:
        assert browser.post("/catalogs", data={"name": CATALOG}, headers=headers).status_code == 303
        listed = browser.get("/catalogs").text
    [path] = re.findall(f'href="(/catalogs/cat-[0-9a-f]+)"><bdi>{CATALOG}<', listed)

    asked = {"filename": "lighthouse.txt", "size": len(TEXT), "replace": True}
    form = browser.post(f"{path}/uploads", json=asked, headers=headers).json()["data"]
    sent = httpx2.post(form["url"], data=form["fields"], files={"file": TEXT.encode()}, timeout=120)

    assert sent.status_code == 204
    [row] = eventually(
        lambda: re.findall(
            "<tr>(?:(?!</tr>).)*lighthouse.txt(?:(?!</tr>).)*searchable",
            browser.get(path).text,
            re.DOTALL,
        ),
        "the file is searchable",
    )
    assert form["documentId"] in row
    answer = browser.post(
        "/ask", data={"query": "How high is the lighthouse at Skagen?"}, headers=headers
    ).text
    assert "forty-six metres" in answer
    assert f"{path}/documents/{form['documentId']}/file" in answer
    file = browser.get(f"{path}/documents/{form['documentId']}/file", follow_redirects=True)
    assert file.text == TEXT


def test_the_bucket_lets_pages_of_the_console_post_to_it(
    instance: Instance, browser: httpx2.Client
) -> None:
    policy = browser.get("/catalogs").headers["content-security-policy"]

    preflight = httpx2.options(
        f"{instance.aws_endpoint}/{instance.bucket}",
        headers={"Origin": url_of(instance), "Access-Control-Request-Method": "POST"},
        timeout=120,
    )

    assert instance.aws_endpoint in policy
    assert "POST" in preflight.headers["access-control-allow-methods"]
