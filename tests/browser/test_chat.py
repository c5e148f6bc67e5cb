"""What users ask their agents in the chat, and what the page shows of it: facts of acceptance."""

import json
import math
import re
from pathlib import Path

from playwright.sync_api import expect

from stackroom.retrieval.budget import DEFAULT_BUDGET
from stackroom_local.state import Instance
from tests.browser.builders import (
    CITED,
    answered,
    ask,
    caller,
    card,
    make_agent,
    open_choice,
    quick_add,
    script,
    searching,
    stocked,
)
from tests.browser.conftest import SignedIn
from tests.browser.test_catalogs import make
from tests.files import pdf

_TOOLS_CONFIG = Path(__file__).parents[2] / "docs" / "tools-config.json"
GONE = "Knowledge base not found. It may have been deleted."
MANUAL = pdf("The harbour has two cranes.", "The pump of the lock is greased every 200 hours.")


def test_the_model_calls_the_tool_and_its_answer_cites_the_document(
    signed_in: SignedIn, instance: Instance
) -> None:
    vera = signed_in("vera-cites")
    stocked(instance, vera.name, "Lock manuals", {"pump.pdf": MANUAL})
    agent = make_agent(vera, "Lock keeper")
    quick_add(vera, agent, "Lock manuals")
    question = "How often is the pump of the lock greased?"
    script(
        instance,
        question,
        {"text": "I look it up.", "uses": searching("search_lock_manuals", question)},
        {
            "text": "{{often}} [{{file}}, page {{page}}].",
            "quotes": {"often": r"every \d+ hours", **CITED},
        },
        model=vera.page.get_by_label("Model", exact=True).input_value(),
    )

    run = answered(ask(vera, agent, question))

    expect(run.locator(".answer")).to_have_text("every 200 hours [pump.pdf, page 2].")
    expect(run.locator(".steps > li").first).to_have_text("I look it up.")
    step = run.locator("details")
    expect(step.locator("summary")).to_contain_text("search_lock_manuals")
    step.locator("summary").click()
    first = step.locator("blockquote").first
    expect(first).to_contain_text("greased every 200 hours")
    expect(first.locator("cite")).to_have_text("pump.pdf, page 2")
    assert vera.said == []


def test_a_deleted_catalog_is_warned_of_and_told_the_model_and_the_agent_lives(
    signed_in: SignedIn, instance: Instance
) -> None:
    vera = signed_in("vera-deletes")
    for name in ("Here", "Gone"):
        make(vera, name)
    agent = make_agent(vera, "Survivor")
    for name in ("Here", "Gone"):
        quick_add(vera, agent, name)
    model = vera.page.get_by_label("Model", exact=True).input_value()
    page = vera.open("/catalogs")

    page.get_by_role("link", name="Delete Gone").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="Gone", exact=True)).to_have_count(0)

    vera.open(agent)
    warned, healthy = card(vera, "Gone"), card(vera, "Here")
    expect(warned).to_contain_text("Knowledge base not found")
    expect(healthy).not_to_contain_text("Knowledge base not found")
    assert "gone" in str(warned.locator("img").get_attribute("src"))
    colours = [
        each.evaluate("card => getComputedStyle(card).borderTopColor") for each in (warned, healthy)
    ]
    red, green, blue = map(float, re.findall(r"[\d.]+", colours[0])[:3])
    assert red > 2 * max(green, blue), colours
    assert colours[0] != colours[1]
    question = "What is gone?"
    turns = (
        {"uses": searching("search_gone", question)},
        {"text": "I was told: {{told}}", "quotes": {"told": r'"message": "([^"]+)"'}},
    )
    script(instance, question, *turns, model=model)
    run = answered(ask(vera, agent, question))
    expect(run.locator(".answer")).to_have_text(f"I was told: {GONE}")
    expect(run.locator("details summary")).to_contain_text(GONE)
    script(instance, "Are you there?", {"text": "I am."}, model=model)
    expect(answered(ask(vera, agent, "Are you there?")).locator(".answer")).to_have_text("I am.")


def test_of_twenty_long_passages_those_that_fit_are_told_and_the_rest_counted(
    signed_in: SignedIn, instance: Instance
) -> None:
    vera = signed_in("vera-reads-20")
    texts = {f"{number:02}.txt": _long(number) for number in range(20)}
    stocked(instance, vera.name, "Long", texts)
    agent = make_agent(vera, "Reader")
    quick_add(vera, agent, "Long")
    question = "What does the ledger of the harbour say?"
    use = {"name": "search_long", "input": {"query": question, "topK": 20}}
    model = vera.page.get_by_label("Model", exact=True).input_value()
    script(instance, question, {"uses": [use]}, {"text": "It says much."}, model=model)

    run = answered(ask(vera, agent, question))

    # Counted here anew: all twenty are of one length, the last that fits may be a beginning.
    [length] = {len(each) for each in texts.values()}
    tokens = math.ceil(length / 4)
    whole, left = divmod(DEFAULT_BUDGET.max_tokens, tokens)
    assert left > 100, "a beginning of the next one has room"
    fitting = whole + 1
    assert 0 < fitting < 20
    told = f"Found {fitting} relevant chunks ({20 - fitting} omitted due to size)"
    expect(run.locator("details summary")).to_contain_text(told)
    expect(run.locator("details blockquote")).to_have_count(fitting)
    api = caller(instance, vera.name)
    [listed] = api.call("GET", f"/api{agent}/runs").json()["data"]["runs"]
    [step] = [each for each in listed["steps"] if each["kind"] == "tool"]
    assert [each["isCut"] for each in step["passages"]] == [False] * whole + [True]
    assert step["tokens"] <= DEFAULT_BUDGET.max_tokens


def test_a_name_with_signs_and_umlauts_is_kept_and_gives_a_name_for_the_tool(
    signed_in: SignedIn, instance: Instance
) -> None:
    vera, name = signed_in("vera-names"), "R&D: Pläne!"
    page = vera.open("/catalogs")
    page.get_by_role("button", name="New catalog").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text("letters, digits, spaces and hyphens")
    expect(dialog.get_by_label("Name", exact=True)).to_have_value(name)
    dialog.get_by_label("Name", exact=True).fill("RD Pläne")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("RD Pläne")

    agent = make_agent(vera, name)
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    dialog = open_choice(vera)
    dialog.get_by_role("button", name="Configure RD Pläne").click()
    field = dialog.get_by_label("Tool name")
    expect(field).to_have_value("search_rd_plane")
    field.fill(name)
    dialog.get_by_role("button", name="Add").click()
    assert field.evaluate("field => field.validity.patternMismatch")
    [base] = (
        caller(instance, vera.name)
        .call("GET", f"/api{agent}/available-knowledge-bases")
        .json()["data"]
    )
    link = {"knowledgeBaseId": base["id"], "toolName": name, "toolDescription": name}
    refused = caller(instance, vera.name).call("POST", f"/api{agent}/knowledge-base-tools", link)
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith(
        "toolName: Allowed: 1 to 64 of the letters"
    )
    field.fill("search_rd_plane")
    dialog.get_by_role("button", name="Add").click()
    expect(card(vera, "RD Pläne").locator("strong")).to_have_text("search_rd_plane")


def test_an_exported_agent_is_imported_again_as_it_was(
    signed_in: SignedIn, instance: Instance
) -> None:
    vera = signed_in("vera-exports")
    make(vera, "Kept")
    agent = make_agent(vera, "R&D: Pläne! 計画")
    quick_add(vera, agent, "Kept")
    vera.page.get_by_label("Prompt").fill("First.\nSecond: “quoted” & <b>.")
    vera.page.get_by_role("button", name="Save").click()
    expect(vera.page.get_by_label("Prompt")).to_have_value("First.\nSecond: “quoted” & <b>.")

    with vera.page.expect_download() as download:
        vera.page.get_by_role("button", name="Export").click()
    page = vera.open("/agents")
    page.get_by_role("button", name="Import").click()
    page.get_by_label("File").set_input_files(download.value.path())
    expect(page.get_by_label("Or paste its text")).to_have_value(re.compile("stackroom-agent"))
    page.get_by_role("dialog").get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("R&D: Pläne! 計画")

    imported = page.url.removeprefix(vera.url)
    assert imported != agent
    api = caller(instance, vera.name)
    its_own = {"id", "version", "created_at", "updated_at"}
    first, second = (
        {
            name: value
            for name, value in api.call("GET", f"/api{path}").json()["data"]["agent"].items()
            if name not in its_own
        }
        for path in (agent, imported)
    )
    assert first == second
    with page.expect_download() as again:
        page.get_by_role("button", name="Export").click()
    assert again.value.path().read_bytes() == download.value.path().read_bytes()
    with page.expect_download() as front_end:
        vera.open("/agents").get_by_role("link", name="tools-config.json").click()
    committed = json.loads(_TOOLS_CONFIG.read_text("utf-8"))
    assert json.loads(front_end.value.path().read_text("utf-8")) == committed


def _long(number: int) -> str:
    """Of one length, one passage each, and each about the question."""
    sentence = f"The ledger of the harbour says in line {number:02} that the crane was paid. "
    return (sentence * 15).strip()
