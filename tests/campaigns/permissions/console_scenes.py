"""What a person does in the console, in the recorded run; and an agent of theirs, by its runner."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from typing import Any

import httpx2

from tests.campaigns.permissions.tool_calls import QUESTION, forget_runs
from tests.e2e.people import Person, eventually
from tests.gateway.browser import Browser

# The one that a deployment's agents may ask if the context says nothing else.
MODEL = "global.amazon.nova-2-lite-v1:0"
_TEXT = "The lighthouse at Skagen is forty-six metres high."


class Pages:
    """The console's, for somebody who has signed in."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http
        [token] = re.findall(r'name="csrf-token" content="([^"]+)"', self.get("/catalogs"))
        self._headers = {"X-CSRF-Token": unescape(token)}

    def get(self, path: str) -> str:
        answer = self._http.get(path, follow_redirects=path.endswith("/file"))
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.text

    def post(self, path: str, **form: str) -> str:
        """Where it leads, or what it shows."""
        answer = self._http.post(path, data=form, headers=self._headers)
        assert answer.status_code in (200, 303), (path, answer.status_code, answer.text)
        return answer.headers.get("location") or answer.text

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        answer = self._http.request(method, path, json=body, headers=self._headers)
        assert answer.is_success, (path, answer.status_code, answer.text)
        return answer.json()["data"]


@contextmanager
def signed_in(person: Person, *, groups: str = "") -> Iterator[Pages]:
    url = person.instance.console_url
    assert url is not None, "it is served unless its stack is left out"
    with httpx2.Client(base_url=url, timeout=120) as http:
        browser = Browser(http)
        begun = http.get("/sign-in/begin")
        page = browser.open(begun.headers["location"])
        answer = browser.submit(page, user=person.name, groups=groups)
        http.get(answer.headers["location"])
        yield Pages(http)


def use_the_console(person: Person) -> None:
    with signed_in(person) as pages:
        pages.post("/catalogs", name="lighthouses")
        path = f"/catalogs/{person.catalog('lighthouses').catalog_id}"
        document = _send(pages, path)
        pages.get(f"{path}/part")
        pages.get(f"{path}/documents/{document}/file")
        pages.post("/ask", query="How high is the lighthouse at Skagen?")
        _ask_an_agent(pages, person)
        pages.post(f"/catalogs/{person.catalog('harbours').catalog_id}/retry")
        forget_runs(person)
        receipt = pages.post(f"{path}/documents/{document}/delete")
        eventually(
            lambda: "not searchable" in pages.get(receipt) or "no search" in pages.get(receipt),
            "the receipt tells of the proof",
        )
        pages.get(f"{path}/delete")
        pages.post(f"{path}/delete")
        pages.post("/sign-out/everywhere")
    time.sleep(1)  # tokens tell whole seconds, and those of this one are void


def look_at_operations(person: Person) -> None:
    """As one of the operators: over all users, and what CloudWatch counts."""
    with signed_in(person, groups="operators") as pages:
        assert "Missing here" not in pages.get("/operations"), "each part of it could be read"


def ask_in_the_console(person: Person) -> None:
    """Where something else is the case than usual."""
    shelf = person.catalog("harbours").catalog_id
    with signed_in(person) as pages:
        pages.post("/ask", query=QUESTION, catalog_id=shelf)
        pages.post("/ask", query=QUESTION)
        _ask_an_agent(pages, person)


def _send(pages: Pages, path: str) -> str:
    asked = {"filename": "skagen.txt", "size": len(_TEXT), "replace": True}
    form = pages.call("POST", f"{path}/uploads", asked)
    httpx2.post(form["url"], data=form["fields"], files={"file": _TEXT.encode()}, timeout=120)
    eventually(lambda: "searchable" in pages.get(path), "the file is searchable")
    return str(form["documentId"])


def _ask_an_agent(pages: Pages, person: Person) -> None:
    """Of a catalog that has lost a place map."""
    made = pages.call("POST", "/api/agents", {"name": "Pilot", "model": MODEL})
    agent = f"/api/agents/{made['agent']['id']}"
    shelf = person.catalog("shelf 0").catalog_id
    link = {
        "knowledgeBaseId": shelf,
        "toolName": "search_shelf_0",
        "toolDescription": "Search shelf 0 knowledge base",
        "defaultMinScore": 0,
    }
    tool = pages.call("POST", f"{agent}/knowledge-base-tools", link)["tool"]["id"]
    run = pages.call("POST", f"{agent}/runs", {"message": QUESTION})["run"]["id"]

    def ended() -> str | None:
        state = pages.call("GET", f"/api/runs/{run}")["run"]["state"]
        return None if state in ("accepted", "running") else str(state)

    assert eventually(ended, "the run is over") == "succeeded"
    pages.call("POST", f"/api/runs/{run}/cancel")
    pages.get(f"/agents/{made['agent']['id']}/chat")
    pages.call("DELETE", f"{agent}/tools/{tool}")
    pages.call("DELETE", agent)
