"""The ten facts that agents and their linked knowledge bases are accepted by: the builder's."""

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Route, expect

from stackroom_local.state import Instance
from tests.browser.builders import (
    caller,
    card,
    catalog_made,
    make_agent,
    open_choice,
    quick_add,
    stocked,
)
from tests.browser.conftest import SignedIn
from tests.browser.test_catalogs import make
from tests.local.running import stackroom

LINK = {"toolName": "search_x", "toolDescription": "Everything"}


def test_the_list_shows_ones_own_with_the_counts_of_status_and_never_anothers(
    signed_in: SignedIn, instance: Instance
) -> None:
    for user, catalog, count in (("una", "Una one", 3), ("una", "Una two", 1), ("ugo", "Ugos", 1)):
        files = {f"{number}.txt": f"Note {number} of {catalog}." for number in range(count)}
        stocked(instance, user, catalog, files)
    una = signed_in("una")
    make_agent(una, "Counting")

    dialog = open_choice(una)

    shown = {
        row.locator("strong").inner_text(): row.locator("small").inner_text()
        for row in dialog.locator("[data-knowledge-base]").all()
    }
    status = stackroom("status", "--user", "una", "--json", state_dir=instance.state_dir)
    counted = Counter(each["catalog"] for each in json.loads(status.stdout)["documents"])
    assert counted == {"Una one": 3, "Una two": 1}
    assert shown == {"Una one": "3 docs", "Una two": "1 doc"}


def test_quick_add_in_one_click_gives_the_defaults_and_a_second_is_refused_in_the_dialog(
    signed_in: SignedIn, instance: Instance
) -> None:
    una = signed_in("una-quick")
    make(una, "Harbour Plans")
    api = caller(instance, una.name)
    agent = make_agent(una, "Quick")
    [offered] = api.call("GET", f"/api{agent}/available-knowledge-bases").json()["data"]

    added = quick_add(una, agent, "Harbour Plans")

    expect(una.page.get_by_role("dialog")).to_have_count(0)
    expect(added).to_contain_text("Knowledge Base")
    expect(added).to_contain_text(f"• Top 5 results • Min score: {offered['defaultMinScore']}")
    [tool] = api.tools_of(agent)
    assert (tool["name"], tool["type"]) == ("search_harbour_plans", "knowledge_base")
    assert tool["description"] == "Search Harbour Plans knowledge base"
    assert tool["config"] == {
        "knowledgeBaseId": offered["id"],
        "knowledgeBaseName": "Harbour Plans",
        "defaultTopK": 5,
        "defaultMinScore": 0.0,  # which is what this deployment says of its store
    }
    properties = tool["schema"]["properties"]
    assert tool["schema"]["required"] == ["query"]
    assert (properties["topK"]["default"], properties["topK"]["maximum"]) == (5, 20)
    dialog = open_choice(una)
    with una.page.expect_response("**/knowledge-bases") as answer:
        dialog.get_by_role("button", name="Quick Add Harbour Plans").click()
    assert answer.value.status == 400
    expect(dialog.get_by_role("alert")).to_contain_text("KB already linked")
    assert len(api.tools_of(agent)) == 1


def test_anothers_agent_and_knowledge_base_are_not_found(
    signed_in: SignedIn, instance: Instance
) -> None:
    una, ugo = signed_in("una-foreign"), signed_in("ugo-foreign")
    make(una, "Hers")
    make(ugo, "His")
    agent = make_agent(una, "Hers alone")
    hers, his = caller(instance, una.name), caller(instance, ugo.name)
    his_agent = make_agent(ugo, "His alone")
    [his_base] = his.call("GET", f"/api{his_agent}/available-knowledge-bases").json()["data"]
    link = {**LINK, "knowledgeBaseId": his_base["id"]}

    answers = [
        hers.call("POST", f"/api{agent}/knowledge-base-tools", link),  # a knowledge base of his
        his.call("POST", f"/api{agent}/knowledge-base-tools", link),  # an agent of hers
        hers.call("POST", "/api/agents/agent-0/knowledge-base-tools", link),
    ]

    assert [each.status_code for each in answers] == [404] * 3
    assert {each.json()["error"]["message"] for each in answers} == {"Not found"}
    assert his.call("GET", f"/api{agent}").status_code == 404
    assert hers.tools_of(agent) == []
    opened = ugo.page.goto(ugo.url + agent)
    assert opened is not None
    assert opened.status == 404


def test_what_is_configured_edited_and_deleted_survives_a_reload(signed_in: SignedIn) -> None:
    una = signed_in("una-configured")
    make(una, "Tide tables")
    agent = make_agent(una, "Configured")
    page = una.page

    dialog = open_choice(una)
    dialog.get_by_role("button", name="Configure Tide tables").click()
    expect(dialog.get_by_label("Tool name")).to_have_value("search_tide_tables")
    dialog.get_by_role("button", name="Back").click()
    dialog.get_by_role("button", name="Configure Tide tables").click()
    dialog.get_by_label("Tool name").fill("tides")
    dialog.get_by_label("Top K results").fill("12")
    dialog.get_by_label("Similarity threshold").fill("0.25")
    dialog.get_by_role("button", name="Add").click()
    expect(card(una, "Tide tables")).to_contain_text("• Top 12 results • Min score: 0.25")
    page.reload()
    expect(card(una, "Tide tables").locator("strong")).to_have_text("tides")

    page.get_by_role("link", name="Edit tides").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Top K results")).to_have_value("12")
    dialog.get_by_label("Tool description").fill("When the water is high")
    dialog.get_by_label("Top K results").fill("20")
    dialog.get_by_role("button", name="Save").click()
    expect(card(una, "Tide tables")).to_contain_text("• Top 20 results • Min score: 0.25")
    page.reload()
    expect(card(una, "Tide tables")).to_contain_text("When the water is high")

    page.get_by_role("link", name="Delete tides").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator("[data-tool]")).to_have_count(0)
    una.open(agent)
    expect(page.get_by_text("It has no tools yet")).to_be_visible()
    assert una.said == []


def test_what_is_typed_of_an_agent_stays_while_its_tools_are_changed(signed_in: SignedIn) -> None:
    una = signed_in("una-types")
    for name in ("Tide tables", "Harbours"):
        make(una, name)
    agent = make_agent(una, "Typed")
    page = una.page
    prompt, dialog = page.get_by_label("Prompt"), page.get_by_role("dialog")
    prompt.fill("Answer in rhymes.")

    open_choice(una).get_by_role("button", name="Quick Add Tide tables").click()
    expect(card(una, "Tide tables")).to_be_visible()
    open_choice(una).get_by_role("button", name="Configure Harbours").click()
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(card(una, "Harbours")).to_be_visible()
    page.get_by_role("link", name="Edit search_tide_tables").click()
    dialog.get_by_label("Top K results").fill("7")
    dialog.get_by_role("button", name="Save").click()
    expect(card(una, "Tide tables")).to_contain_text("Top 7 results")
    expect(page.get_by_role("link", name="Edit search_tide_tables")).to_be_focused()
    page.get_by_role("link", name="Delete search_harbours").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(page.locator("[data-tool]")).to_have_count(1)

    expect(dialog).to_have_count(0)
    expect(prompt).to_have_value("Answer in rhymes.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    una.open(agent)
    expect(prompt).to_have_value("Answer in rhymes.")
    expect(card(una, "Tide tables")).to_contain_text("Top 7 results")
    assert una.said == []


def test_who_presses_twice_makes_one(signed_in: SignedIn, instance: Instance) -> None:
    una = signed_in("una-twice")
    page = una.open("/agents/new")
    page.get_by_label("Name", exact=True).fill("Single")
    page.route("**/agents", _late)
    page.get_by_role("button", name="Save").dblclick()
    expect(page.get_by_role("heading", level=1)).to_have_text("Single")

    path = page.url.removeprefix(una.url)
    una.open(f"{path}/chat").get_by_label("Question", exact=True).fill("How high is it?")
    page.route("**/chat", _late)
    page.get_by_role("button", name="Ask").dblclick()
    expect(page.locator("[data-run]")).to_have_count(1)

    answer = caller(instance, una.name).call("GET", "/api/agents").json()["data"]
    assert [each["name"] for each in answer["agents"]] == ["Single"]
    runs = caller(instance, una.name).call("GET", f"/api{path}/runs").json()["data"]["runs"]
    assert len(runs) == 1


def _late(route: Route) -> None:
    """What is sent arrives, and its answer takes a moment."""
    answer = route.fetch(max_redirects=0)
    time.sleep(0.3)
    route.fulfill(response=answer)


def test_a_tool_of_another_type_is_shown_and_deleted_and_never_edited_as_a_knowledge_base(
    signed_in: SignedIn, instance: Instance
) -> None:
    una = signed_in("una-other")
    clock = {"id": "t1", "name": "clock", "description": "The time", "type": "http", "schema": {}}
    told = {"name": "With a clock", "model": "m", "available_tools": [clock]}
    file = json.dumps({"format": "stackroom-agent", "version": 1, "agent": told})

    page = una.open("/agents/import")
    page.get_by_label("Or paste its text").fill(file)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("With a clock")
    agent, api = page.url.removeprefix(una.url), caller(instance, una.name)
    edited = api.call("PATCH", f"/api{agent}/knowledge-base-tools/t1", {"defaultTopK": 3})

    assert edited.status_code == 400
    assert edited.json()["error"]["message"] == "Not a KB tool"
    expect(page.get_by_role("link", name="Edit clock")).to_have_count(0)
    page.get_by_role("link", name="Delete clock").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator("[data-tool]")).to_have_count(0)
    assert api.tools_of(agent) == []


@pytest.mark.parametrize(
    ("field", "wrong", "allowed"),
    [
        ("defaultTopK", 21, "a whole number from 1 to 20"),
        ("defaultTopK", 0, "a whole number from 1 to 20"),
        ("defaultMinScore", 1.1, "a number from 0 to 1"),
        ("defaultMinScore", -0.1, "a number from 0 to 1"),
    ],
)
def test_what_is_out_of_range_is_refused_by_its_name_and_the_range(
    instance: Instance, field: str, wrong: float, allowed: str
) -> None:
    una = caller(instance, "una-ranges")
    base = stocked(instance, "una-ranges", "Ranges", {"a.txt": "A text."})
    made = una.call("POST", "/api/agents", {"name": f"{field} {wrong}", "model": "m"})
    agent = f"/agents/{made.json()['data']['agent']['id']}"
    path = f"/api{agent}/knowledge-base-tools"
    link = {**LINK, "knowledgeBaseId": base}

    refused = una.call("POST", path, {**link, field: wrong})
    tool = una.call("POST", path, link).json()["data"]["tool"]
    unchanged = una.call("PATCH", f"{path}/{tool['id']}", {field: wrong})

    for each in (refused, unchanged):
        assert each.status_code == 400
        assert each.json()["error"]["message"].startswith(f"{field}: Allowed: {allowed}")
    assert una.tools_of(agent) == [tool]


def test_ten_people_who_add_ten_tools_at_once_get_ten(instance: Instance) -> None:
    una = caller(instance, "una-ten")
    made = una.call("POST", "/api/agents", {"name": "Ten", "model": "m"})
    agent = f"/agents/{made.json()['data']['agent']['id']}"
    names = [f"Shelf {number}" for number in range(10)]
    bases = [catalog_made(instance, "una-ten", name) for name in names]

    def add(number: int) -> int:
        link = {"knowledgeBaseId": bases[number], "toolName": f"shelf_{number}"}
        more = {"toolDescription": "One of ten"}
        answer = una.call("POST", f"/api{agent}/knowledge-base-tools", {**link, **more})
        return answer.status_code

    with ThreadPoolExecutor(10) as people:
        statuses = list(people.map(add, range(10)))

    assert statuses == [200] * 10
    tools = una.tools_of(agent)
    assert {each["name"] for each in tools} == {f"shelf_{number}" for number in range(10)}
    assert len({each["id"] for each in tools}) == 10
