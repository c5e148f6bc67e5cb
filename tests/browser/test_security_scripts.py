"""
Texts of others and of models are text on every page, whatever they look like: nothing in them runs.

`test_security_alarms.py` proves that what listens here hears each of the payloads.
"""

import json
import re
from contextlib import suppress
from urllib.parse import quote, urlencode

from playwright.sync_api import Error, expect

from stackroom.gateway.plain_text import is_plain
from stackroom_console.endpoint import Kind
from stackroom_console.routes import ROUTES
from stackroom_local.state import Instance
from tests.browser.alarms import Alarm, alarm_at
from tests.browser.attempts import Attempts
from tests.browser.belongings import MODEL, belongings_of
from tests.browser.builders import answered, ask, make_agent, quick_add, script, searching, stocked
from tests.browser.conftest import NewAttempts, SignedIn
from tests.browser.payloads import PAYLOADS
from tests.browser.visitors import Visitor
from tests.console.things import AGENT

# Of a query, by any name that a page reads or might read.
PARAMETERS = (
    *("after", "catalog", "code", "error", "error_description", "limit", "next", "offset", "out"),
    *("query", "quiet", "return_to", "save", "seen", "state"),
)
# A key of S3 goes on in a folder of its own behind a slash; what is in a name of a file has none.
GROUPS = [list(PAYLOADS.values())[first : first + 5] for first in range(0, len(PAYLOADS), 5)]
FILES = {f"{text.replace('/', '∕')}.txt": text for text in PAYLOADS.values()}


def look_at(
    visitor: Visitor, alarm: Alarm, tried: Attempts, what: str, *, payloads: int = 1
) -> None:
    """The page that is shown, where as many payloads had their chance."""
    rung = alarm.looked_at(visitor.page)
    for _ in range(payloads):
        tried.note(f"{rung}: {what} at {visitor.page.url[:200]}", got_in=bool(rung))


def test_names_and_texts_of_documents_do_nothing(
    signed_in: SignedIn, instance: Instance, attempts: NewAttempts
) -> None:
    visitor, tried = signed_in("mallory-of-files"), attempts("scripts in files and their names")
    alarm, page = alarm_at(visitor.page), visitor.page
    texts = {name: f"{text} The quay is closed. {text}" for name, text in FILES.items()}
    catalog = stocked(instance, visitor.name, "quays", texts)
    address = f"/catalogs/{catalog}"

    visitor.open("/catalogs")
    look_at(visitor, alarm, tried, "the list")
    visitor.open(address)
    rows = page.locator("#documents tbody tr")
    expect(rows).to_have_count(len(FILES))
    look_at(visitor, alarm, tried, "the catalog", payloads=len(FILES))
    deleted = page.locator("a[aria-label^=Delete]")
    for number in range(len(FILES)):
        deleted.nth(number).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        look_at(visitor, alarm, tried, f"dialog {number}")
        page.keyboard.press("Escape")
    for group in GROUPS:
        asked = " ".join(filter(is_typed, group))
        visitor.open("/ask")
        page.get_by_label("Question", exact=True).fill(f"{asked} Is the quay closed?")
        page.get_by_label("Passages at most").fill("20")
        page.get_by_role("button", name="Ask").click()
        expect(page.locator("#answer mark").first).to_be_visible()
        look_at(visitor, alarm, tried, f"the answer to {asked}", payloads=len(group))

    tried.none_succeeded(least=2 * len(PAYLOADS))


def test_what_is_said_of_agents_and_their_tools_does_nothing(
    signed_in: SignedIn, instance: Instance, attempts: NewAttempts
) -> None:
    visitor, tried = signed_in("mallory-of-agents"), attempts("scripts in agents and tools")
    alarm, page = alarm_at(visitor.page), visitor.page

    for name, text in PAYLOADS.items():
        visitor.open("/agents/import")
        page.get_by_label("Or paste its text").fill(json.dumps(agent_file(text)))
        page.get_by_role("button", name="Import").click()
        if not is_typed(text):
            expect(page.get_by_role("alert").last).to_contain_text("agent")
            look_at(visitor, alarm, tried, f"the refusal of {name}")
            continue
        expect(page.locator("[data-tool]")).to_have_count(3)
        at = page.url.removeprefix(visitor.url)
        look_at(visitor, alarm, tried, f"the builder of {name}")
        for dialog in ("Edit", "Delete"):
            page.locator(f"[data-tool] a[aria-label^={dialog}]").first.click()
            expect(page.get_by_role("dialog")).to_be_visible()
            look_at(visitor, alarm, tried, f"{dialog} of a tool of {name}")
            page.keyboard.press("Escape")
        for path in (f"{at}/chat", f"{at}/delete", f"{at}/tools/t1/delete"):
            visitor.open(path)
            look_at(visitor, alarm, tried, name)
    visitor.open("/agents")
    look_at(visitor, alarm, tried, "the list")

    tried.none_succeeded(least=5 * (len(PAYLOADS) - 2))


def agent_file(text: str) -> dict[str, object]:
    """With the text wherever an agent's file may have one."""
    other = {"name": text, "description": text, "type": text, "schema": {text: text}}
    linked = {
        "id": "t1",
        "name": "search_quays",
        "description": text,
        "type": "knowledge_base",
        "config": {"knowledgeBaseId": text, "knowledgeBaseName": text},
    }
    tools = [linked, {**other, "id": "t2"}, {**other, "id": "t3", "config": {text: [text]}}]
    told = {**AGENT, "model": MODEL, "name": text, "description": text, "system_prompt": text}
    return {"format": "stackroom-agent", "version": 1, "agent": {**told, "available_tools": tools}}


def test_what_a_model_says_and_asks_does_nothing(
    signed_in: SignedIn, instance: Instance, attempts: NewAttempts
) -> None:
    visitor, tried = signed_in("mallory-of-models"), attempts("scripts in what models say")
    alarm, page = alarm_at(visitor.page), visitor.page
    text = "\n".join(PAYLOADS.values())
    stocked(instance, visitor.name, "moorings", {"moorings.txt": f"{text} The mooring is free."})
    agent = make_agent(visitor, "Of moorings")
    model = page.get_by_label("Model", exact=True).input_value()
    quick_add(visitor, agent, "moorings")

    for number, group in enumerate(GROUPS):
        said, question = "\n".join(group), f"Mooring {number}: is it free?"
        asked = list(filter(is_typed, group))
        uses = searching("search_moorings", " ".join([*asked, "Is the mooring free?"]))
        turns = ({"text": f"Looking. {said}", "uses": uses}, {"text": f"Free. {said}"})
        script(instance, question, *turns, model=model)
        run = answered(ask(visitor, agent, " ".join([*asked, question])))
        run.locator("summary").first.click()
        expect(run.locator("blockquote").first).to_be_visible()
        look_at(visitor, alarm, tried, f"group {number}", payloads=len(group))

    tried.none_succeeded(least=len(PAYLOADS))


def test_addresses_and_their_queries_do_nothing(
    signed_in: SignedIn, instance: Instance, attempts: NewAttempts
) -> None:
    """Of each page, with the payload in the place of each id and in each parameter."""
    visitor, tried = signed_in("mallory-of-queries"), attempts("scripts in addresses")
    things = belongings_of(visitor, instance, "quayside").things
    alarm = alarm_at(visitor.page)
    pages = [each for each in ROUTES if not each.changes and each.kind is Kind.PAGE]
    looks = [each for each in pages if each.path != "/sign-in/begin"]  # it leads to the issuer

    for endpoint in looks:
        for group in GROUPS:
            text = " ".join(group)
            query = urlencode(dict.fromkeys(PARAMETERS, text))
            unknown = re.sub("{[a-z_]+}", quote(text, safe=""), endpoint.path)
            for address in {f"{things.address(endpoint)}?{query}", f"{unknown}?{query}"}:
                with suppress(Error):  # a file that is saved is no page to go to
                    visitor.open(address)
                look_at(visitor, alarm, tried, endpoint.path, payloads=len(group))

    tried.none_succeeded(least=len(looks) * len(PAYLOADS))


def is_typed(text: str) -> bool:
    """Whether a field takes it; others come from files and models alone."""
    return all(map(is_plain, text))
