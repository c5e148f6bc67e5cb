"""Fills in an issuer's sign-in pages without a browser, since nobody attends a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

import httpx

from stackroom_cli.smoke.scene import NotApplicable

_SECONDS = 20.0
_MOST_PAGES = 10  # a name, a password, and redirects between


@dataclass
class Form:
    action: str = ""
    fields: dict[str, str] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", "")))
        elif tag == "input" and self.forms and "name" in given:
            self.forms[-1].fields[given["name"]] = given.get("value", "")


def filled_form(page: str, answers: Mapping[str, str]) -> Form | None:
    """
    Return the first form that has any of these fields, filled in, with its other fields unchanged.
    """
    parser = _Forms()
    parser.feed(page)
    for form in parser.forms:
        if asked := form.fields.keys() & answers.keys():
            return Form(form.action, {**form.fields, **{name: answers[name] for name in asked}})
    return None


@dataclass
class SignInPages:
    """
    The sign-in pages. `answers` has values by field name; `ended` is set once the callback is
    reached.
    """

    answers: Mapping[str, str]
    callback: str
    ended: bool = False

    def follow(self, link: str) -> None:
        """
        Go where a browser would, up to the callback.

        Raises NotApplicable at a page that needs a script.
        """
        with httpx.Client(timeout=_SECONDS) as http:
            answer = http.get(link)
            for _ in range(_MOST_PAGES):
                if answer.is_redirect:
                    url = urljoin(str(answer.url), answer.headers["location"])
                    self.ended = url.startswith(self.callback)
                    answer = http.get(url)
                    if self.ended:
                        return
                elif form := filled_form(answer.text, self.answers):
                    url = urljoin(str(answer.url), form.action)
                    answer = http.post(url, data=form.fields)
                else:
                    break
        raise NotApplicable(
            f"the page at {answer.url.copy_with(query=None)} needs a browser; sign in with an MCP"
            " client instead (docs/sign-in.md), and call a tool"
        )
