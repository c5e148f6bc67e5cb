"""People's work on agents in the console: they make one, link knowledge bases, and ask it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2
from playwright.sync_api import Locator, expect

from bedrock_kb_simulator import scripts
from stackroom.model.keys import catalog_id_of
from stackroom_cli.sites.site_services import SiteServices
from stackroom_local.state import Instance
from tests.browser.visitors import Visitor
from tests.e2e.people import Person

MODEL = "global.amazon.nova-2-lite-v1:0"  # no other may be asked where nothing is configured
# The file and the page of the first passage, as the answer to the tool's call has them.
CITED = {"file": r'"filename": "([^"]+)"', "page": r'"page": (\d+)'}


@dataclass(frozen=True)
class Caller:
    """Calls the API with a bearer token of their own, as a program of theirs does."""

    person: Person

    def call(self, method: str, path: str, body: object = None) -> httpx2.Response:
        assert self.person.instance.console_url is not None, "it is served"
        return httpx2.request(
            method,
            self.person.instance.console_url + path,
            headers={"Authorization": f"Bearer {self.person.token()}"},
            json=body,
            timeout=120,
        )

    def tools_of(self, agent: str) -> list[dict[str, Any]]:
        """Return the tools of the agent at this path, as the console has them now."""
        answer = self.call("GET", f"/api{agent}")
        assert answer.status_code == 200, answer.text
        return list(answer.json()["data"]["agent"]["available_tools"])


def caller(instance: Instance, name: str) -> Caller:
    return Caller(Person(instance, name))


def stocked(instance: Instance, user: str, catalog: str, files: Mapping[str, bytes | str]) -> str:
    """A catalog of these files, once they are searchable; answers its id."""
    person = Person(instance, user)
    person.settle(person.put_all({f"{catalog}/{name}": body for name, body in files.items()}))
    return catalog_id_of(user, catalog)


def catalog_made(instance: Instance, user: str, name: str) -> str:
    """An empty one; answers its id."""
    return SiteServices(instance).use_cases.creation.create(user, name).catalog_id


def make_agent(visitor: Visitor, name: str) -> str:
    """Make an agent with the builder's form and its default model, and return its path."""
    page = visitor.open("/agents/new")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile(r"/agents/agent-[0-9a-f]{24}$"))
    return page.url.removeprefix(visitor.url)


def open_choice(visitor: Visitor) -> Locator:
    """The dialog's view `kb-list`, on the builder's page that is shown."""
    visitor.page.get_by_role("button", name="Add Knowledge Base").click()
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text("Add Knowledge Base")
    return dialog


def quick_add(visitor: Visitor, agent: str, catalog: str) -> Locator:
    """One click beside the catalog's name; answers the card that is there then."""
    visitor.open(agent)
    open_choice(visitor).get_by_role("button", name=f"Quick Add {catalog}").click()
    return card(visitor, catalog)


def card(visitor: Visitor, catalog: str) -> Locator:
    """The card of the tool that searches this catalog."""
    found = visitor.page.locator("[data-tool]").filter(
        has=visitor.page.locator("bdi", has_text=catalog)
    )
    expect(found).to_have_count(1)
    return found


def ask(visitor: Visitor, agent: str, question: str) -> Locator:
    """In a new conversation; answers the run, which may be unfinished."""
    page = visitor.open(f"{agent}/chat")
    page.get_by_label("Question", exact=True).fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("[data-run]")).to_have_count(1)
    return page.locator("[data-run]").last


def ask_on(visitor: Visitor, question: str) -> Locator:
    """In the conversation that is shown, by the keyboard; answers the run."""
    page = visitor.page
    before = page.locator("[data-run]").count()
    page.get_by_label("Question", exact=True).fill(question)
    page.keyboard.press("Enter")
    expect(page.locator("[data-run]")).to_have_count(before + 1)
    return page.locator("[data-run]").last


def answered(run: Locator, state: str = "succeeded") -> Locator:
    expect(run).to_have_attribute("data-state", state)
    return run


def script(instance: Instance, where: str, *turns: Mapping[str, Any], model: str) -> None:
    """Script the model's turns for questions that contain `where`."""
    order = {"model": model, "where": where, "turns": list(turns)}
    scripts.order(instance.simulator_endpoint, order, key=instance.root_key)


def searching(tool: str, *questions: str) -> Sequence[Mapping[str, Any]]:
    """Uses of a tool, for a turn of a script."""
    return [{"name": tool, "input": {"query": each}} for each in questions]
