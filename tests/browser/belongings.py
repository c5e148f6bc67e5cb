"""
Everything that a user of the running console owns and an address can name, and requests that a
script in a page sends with the cookies of whoever is signed in.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page

from stackroom_agents.user_agents.agent_run import RunState
from stackroom_local.state import Instance
from tests.browser.visitors import Visitor
from tests.console.things import AGENT, Things
from tests.e2e.people import Person, eventually

MODEL = "global.amazon.nova-2-lite-v1:0"  # no other may be asked where nothing is configured

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


@dataclass(frozen=True, kw_only=True)
class Belongings:
    """`word` stands in the name and text of each, and nowhere else."""

    owner: Visitor
    word: str
    things: Things
    instance: Instance

    def kept(self) -> list[str]:
        """Whatever a change would show in, and that changes by itself no more."""
        page, at = self.owner.page, f"/api/agents/{self.things.agent_id}"
        s3 = self.instance.client("s3")
        versions = s3.list_object_versions(
            Bucket=self.instance.bucket, Prefix=f"{self.owner.name}/"
        )
        files = [
            (each["Key"], each["VersionId"])
            for each in (*versions["Versions"], *versions["DeleteMarkers"])
        ]
        return [*(ask(page, "GET", each).text for each in (at, f"{at}/runs")), repr(files)]


def belongings_of(owner: Visitor, instance: Instance, word: str) -> Belongings:
    """Made by the pages' own calls, in the owner's browser, which stays on the list of catalogs."""
    owner.open("/catalogs")
    person = Person(instance, owner.name)
    made = _form(owner, "/catalogs", {"name": f"Catalog {word}", "description": f"Of {word}"})
    catalog_id = made.rpartition("/")[2]
    kept, gone = (_sent(person, catalog_id, f"{each} {word}.txt") for each in ("kept", "gone"))
    receipt = _form(owner, f"/catalogs/{catalog_id}/documents/{gone}/delete", {})
    described = {
        **AGENT,
        "model": MODEL,
        "name": f"Agent {word}",
        "system_prompt": f"You are {word}.",
    }
    agent_id = _json(owner, "/api/agents", described)["agent"]["id"]
    wanted = {
        "knowledgeBaseId": catalog_id,
        "toolName": f"search_{word}",
        "toolDescription": f"About {word}",
    }
    tool = _json(owner, f"/api/agents/{agent_id}/knowledge-base-tools", wanted)["tool"]
    asked = {"message": f"What is {word}?", "conversationId": "new"}
    run = _json(owner, f"/api/agents/{agent_id}/runs", asked)["run"]
    eventually(lambda: _is_over(owner, run["id"]), "the run is over")
    return Belongings(
        instance=instance,
        owner=owner,
        word=word,
        things=Things(
            catalog_id=catalog_id,
            document_id=kept,
            receipt_id=receipt.rpartition("/")[2],
            agent_id=agent_id,
            tool_id=tool["id"],
            run_id=run["id"],
            chat_id=run["conversationId"],
        ),
    )


def _is_over(owner: Visitor, run_id: str) -> bool:
    answer = json.loads(ask(owner.page, "GET", f"/api/runs/{run_id}").text)
    return answer["data"]["run"]["state"] not in (RunState.ACCEPTED, RunState.RUNNING)


def _sent(person: Person, catalog_id: str, filename: str) -> str:
    """Answers the document's id, once there is a record of it."""
    path = f"{catalog_id}/{filename}"
    person.put(path, f"The contents of {filename}.")
    document = eventually(lambda: person.record(path), f"a record of {filename}")
    assert document is not None, "eventually() returns what is truthy"
    return document.document_id


def _form(owner: Visitor, path: str, form: Mapping[str, str]) -> str:
    """Send a form as htmx does, and return the address it leads to."""
    headers = {
        "X-CSRF-Token": token(owner.page),
        "HX-Request": "true",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    answer = ask(owner.page, "POST", path, body=urlencode(form), headers=headers)
    assert answer.status == 204, answer.text
    return answer.headers["hx-redirect"]


def _json(owner: Visitor, path: str, given: Mapping[str, object]) -> dict[str, Any]:
    headers = {"X-CSRF-Token": token(owner.page), "Content-Type": "application/json"}
    answer = ask(owner.page, "POST", path, body=json.dumps(given), headers=headers)
    assert answer.status in (200, 201, 202), answer.text
    data: dict[str, Any] = json.loads(answer.text)["data"]
    return data
