"""What a script in a page of the console asks: with the cookies of whoever is signed in there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page

from stackroom_console.endpoint import Endpoint, Kind

# A browser tells of a redirect only that it was one.
REDIRECTED = 0

_FETCH = """async ([path, options]) => {
  const answer = await fetch(path, { redirect: "manual", ...options });
  return [answer.status, await answer.text(), Object.fromEntries(answer.headers)];
}"""


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int
    text: str
    headers: Mapping[str, str]


def ask(
    page: Page,
    method: str,
    path: str,
    *,
    body: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    options: dict[str, Any] = {"method": method, "headers": dict(headers or {})}
    if body is not None:
        options["body"] = body
    status, text, given = page.evaluate(_FETCH, [path, options])
    return Answer(status=status, text=text, headers=given)


def token(page: Page) -> str:
    """The CSRF token of the page's session."""
    found: str = page.evaluate("() => document.querySelector('meta[name=csrf-token]').content")
    return found


def call(
    page: Page,
    endpoint: Endpoint,
    path: str,
    given: Mapping[str, object],
    **headers: str,
) -> Answer:
    """As well-formed as any page of ours would call it, but for what is given here."""
    if not endpoint.changes:
        return ask(page, "GET", path, headers=headers)
    if endpoint.kind is Kind.API:
        body, of_type = json.dumps(given), "application/json"
    else:
        body, of_type = urlencode(given), "application/x-www-form-urlencoded"
    sent = {"Content-Type": of_type, "X-CSRF-Token": token(page), **headers}
    return ask(page, endpoint.method, path, body=body, headers=sent)
