"""The person at a sign-in: a browser that follows the client's link and fills in the form."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

import httpx2


@dataclass(frozen=True)
class Page:
    """A page's form as it stands: where it goes, its fields with their values, its buttons."""

    url: str
    fields: Mapping[str, str]
    buttons: tuple[tuple[str, str], ...]


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self.buttons: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "input":
            self.fields[given["name"]] = given.get("value", "")
        if tag == "button":
            self.buttons.append((given.get("name", ""), given.get("value", "")))


@dataclass(frozen=True)
class Browser:
    http: httpx2.Client

    def open(self, link: str) -> Page:
        """Follows redirects, as far as the page with the form."""
        response = self.http.get(link, follow_redirects=True)
        assert response.status_code == 200, response.text
        return read(response)

    def submit(self, page: Page, **given: str) -> httpx2.Response:
        """The answer, which a browser would follow to the client."""
        return self.http.post(page.url, data={**page.fields, **given})

    def sign_in(self, link: str, user: str, groups: str = "") -> dict[str, str]:
        """Sign in, and return the query that the browser brings to the client."""
        response = self.submit(self.open(link), user=user, groups=groups)
        assert response.status_code == 303, response.text
        return query(response.headers["location"])


@contextmanager
def a_browser() -> Iterator[Browser]:
    """A browser without cookies."""
    with httpx2.Client(timeout=120) as http:
        yield Browser(http)


def sign_in(link: str, user: str, groups: str = "") -> dict[str, str]:
    """One sign-in in a browser of its own; answers as `Browser.sign_in`."""
    with a_browser() as browser:
        return browser.sign_in(link, user, groups)


def read(response: httpx2.Response) -> Page:
    forms = _Forms()
    forms.feed(response.text)
    return Page(str(response.url), forms.fields, tuple(forms.buttons))


def query(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query, strict_parsing=True))
