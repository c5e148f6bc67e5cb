"""A person's browser at the console: keeps cookies, and follows no redirect unless told to."""

import html
import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import httpx2
from starlette.testclient import TestClient

from tests.console.provider import Provider

URL = "https://console.test"
SESSION = "__Host-stackroom"


@dataclass(frozen=True, kw_only=True)
class Browser:
    """`tokens` are those of the sessions, which its pages have; one page is loaded for each."""

    client: TestClient
    provider: Provider
    tokens: dict[str | None, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.client.get(path, headers=headers, follow_redirects=False)

    def part(self, path: str) -> httpx2.Response:
        """Get a part of a page, as htmx does."""
        return self.get(path, **{"HX-Request": "true"})

    def post(self, path: str, **form: str) -> httpx2.Response:
        """A form of one of our pages."""
        return self.send(path, {"csrf_token": self.csrf, **form})

    def ask(self, query: str, **more: str) -> httpx2.Response:
        """To where the answer is, as a browser without script does it."""
        sent = self.post("/ask", query=query, **more)
        return self.get(sent.headers["location"]) if sent.status_code == 303 else sent

    def send(self, path: str, form: dict[str, str], **headers: str) -> httpx2.Response:
        """Any form, from anywhere."""
        return self.client.post(path, data=form, headers=headers, follow_redirects=False)

    def call(self, method: str, path: str, body: Any = None) -> httpx2.Response:
        """The API, by a script of our page."""
        headers = {"X-CSRF-Token": self.csrf}
        return self.client.request(
            method, path, json={} if body is None else body, headers=headers, follow_redirects=False
        )

    def sign_in(
        self, user: str = "alice", *groups: str, return_to: str = "/catalogs"
    ) -> httpx2.Response:
        begun = self.client.get(
            "/sign-in/begin", params={"return_to": return_to}, follow_redirects=False
        )
        return self.get(self.provider.sign_in(begun.headers["location"], user, *groups))

    @property
    def csrf(self) -> str:
        if self.session not in self.tokens:
            page = self.get("/catalogs").text
            [token] = re.findall(r'name="csrf-token" content="([^"]*)"', page)
            self.tokens[self.session] = unescape(token)
        return self.tokens[self.session]

    @property
    def session(self) -> str | None:
        return self.client.cookies.get(SESSION)


def read(text: str) -> str:
    """Return the text as a person reads it."""
    return " ".join(html.unescape(re.sub("<[^>]+>", "", text.partition(">")[2])).split())


def rows(text: str) -> list[str]:
    """The rows of a page's table, each as a person reads it."""
    body = text.split("<tbody>")[1].partition("</tbody>")[0] if "<tbody>" in text else ""
    return [
        " ".join(re.sub("<[^>]+>", " ", each).split())
        for each in re.findall("<tr>.*?</tr>", body, re.S)
    ]


def heading(text: str) -> str:
    """Return the heading of a catalog's documents, as a person reads it."""
    return " ".join(
        re.sub("<[^>]+>", " ", text.split('class="counts"')[1].split("</p>", maxsplit=1)[0]).split()
    )


def walked(browser: Browser, path: str) -> tuple[list[str], int]:
    """The files on all pages from there, and how many pages these are."""
    seen, pages = list[str](), 0
    while path:
        text = browser.get(path).text
        seen += [each.split()[0] for each in rows(text)]
        found = re.findall(r'id="next-page" href="([^"]+)"', text)
        path, pages = (unescape(found[0]) if found else ""), pages + 1
    return seen, pages
