"""Ten tasks of people, from their first page to what they wanted, in as few clicks as now."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from simulator.tests.files import pdf
from stackroom_local.state import Instance
from tests.browser.builders import catalog_made, stocked
from tests.browser.clicks import Clicks
from tests.browser.conftest import SignedIn
from tests.browser.visitors import Visitor, answer_issuer, arrive

TIDE = "The tide at Ostend is four metres high."
QUESTION = "How high is the tide at Ostend?"


def choose(page: Page, file: Path, body: bytes | str) -> None:
    """Choose a file in the system's dialog, which a click on the page opens."""
    file.write_bytes(body if isinstance(body, bytes) else body.encode())
    with page.expect_file_chooser() as opened:
        page.get_by_text("Choose files").click()
    opened.value.set_files(file)


def ask(page: Page, question: str = QUESTION) -> None:
    page.get_by_label("Question", exact=True).fill(question)
    page.wait_for_load_state()  # its scripts, one of which sends by Enter
    page.keyboard.press("Enter")


def answered(visitor: Visitor) -> Page:
    """Open the answer from a PDF, as one comes back to it by its address."""
    page = visitor.open(f"/ask?q={QUESTION.replace(' ', '+')}")
    expect(page.locator("#answer a.cite").first).to_be_visible()
    return page


def test_first_visit_to_a_cited_passage(
    chromium: Browser, instance: Instance, tmp_path: Path
) -> None:
    visitor = arrive(chromium, instance, "story-first")
    clicks, page = Clicks(visitor), visitor.open("/")

    page.get_by_role("button", name="Sign in").click()
    answer_issuer(visitor)
    page.get_by_role("button", name="Create a catalog", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Tides")
    dialog.get_by_role("button", name="Create catalog").click()
    choose(page, tmp_path / "Ostend.txt", TIDE)
    expect(page.locator("#documents td .state.searchable")).to_be_visible()
    page.locator("#ask").click()
    ask(page)
    page.locator("#answer a.cite").first.click()

    expect(page.get_by_role("dialog", name="Source 1")).to_contain_text(TIDE)
    clicks.match("Sign in, upload a file, ask, and read the cited passage")
    visitor.expect_no_errors()
    page.context.close()


def test_question_to_two_of_five_catalogs_has_an_address(
    signed_in: SignedIn, instance: Instance
) -> None:
    visitor = signed_in("story-two")
    for name in ("Cranes", "Locks", "Pilots"):
        catalog_made(instance, visitor.name, name)
    for name, metres in (("Ostend", "four"), ("Bruges", "no")):
        text = f"The tide at {name} is {metres} metres high."
        stocked(instance, visitor.name, name, {f"{name}.txt": text})
    clicks, page = Clicks(visitor), visitor.open("/ask")

    page.get_by_text("Search in all catalogs").click()
    page.get_by_label("Bruges").check()
    page.get_by_label("Locks").check()
    ask(page)

    expect(page.locator("#answer")).to_contain_text("Bruges is no metres high")
    expect(page.locator("#answer")).not_to_contain_text("Ostend is four")
    shared = page.context.new_page()
    shared.goto(page.url)
    expect(shared.get_by_text("Search in Bruges, Locks")).to_be_visible()
    expect(shared.locator("#answer")).to_contain_text("Bruges is no metres high")
    clicks.match("Ask two of five catalogs, and share the address")


def test_failed_file_names_its_reason_and_is_replaced(
    signed_in: SignedIn, instance: Instance, tmp_path: Path
) -> None:
    visitor = signed_in("story-failed")
    stocked(instance, visitor.name, "Tides", {"Ostend.pdf": b"%PDF-1.4 and no more"})
    clicks, page = Clicks(visitor), visitor.open("/catalogs")

    page.get_by_role("link", name="Tides", exact=True).click()
    expect(page.locator("#documents td.state-cell")).to_contain_text("cut off")
    choose(page, tmp_path / "Ostend.pdf", pdf(TIDE))
    page.get_by_role("button", name="Replace Ostend.pdf").click()

    expect(page.locator("#documents td .state.searchable")).to_be_visible()
    clicks.match("Find why a file failed, and replace it")


def test_catalog_gets_another_name_and_description(signed_in: SignedIn, instance: Instance) -> None:
    visitor = signed_in("story-renames")
    catalog_made(instance, visitor.name, "Tides")
    clicks, page = Clicks(visitor), visitor.open("/catalogs")

    page.get_by_role("rowheader").get_by_role("link", name="Tides").click()
    page.get_by_label("More actions for this catalog").click()
    page.get_by_role("link", name="Edit name and description").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Tides and ebbs")
    dialog.get_by_label("Description").fill("How high the sea is.")
    dialog.get_by_role("button", name="Save").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Tides and ebbs")
    expect(page.get_by_text("How high the sea is.")).to_be_visible()
    clicks.match("Rename a catalog and edit its description")


def test_running_upload_is_cancelled(
    signed_in: SignedIn, instance: Instance, tmp_path: Path
) -> None:
    visitor = signed_in("story-cancels")
    catalog = catalog_made(instance, visitor.name, "Tides")
    clicks, page = Clicks(visitor), visitor.open(f"/catalogs/{catalog}")
    page.route(f"{instance.aws_endpoint}/**", lambda _: None)  # it never comes to an end

    choose(page, tmp_path / "Ostend.txt", TIDE)
    page.get_by_role("button", name="Cancel Ostend.txt").click()

    expect(page.locator("#upload-summary")).to_have_text("0 of 1 uploaded, 1 cancelled")
    expect(page.get_by_text("No documents yet.")).to_be_visible()
    clicks.match("Upload a file, and cancel it")


def test_answer_goes_on_as_a_chat(signed_in: SignedIn, instance: Instance) -> None:
    visitor = signed_in("story-chats")
    stocked(instance, visitor.name, "Tides", {"Ostend.txt": TIDE})
    clicks, page = Clicks(visitor), answered(visitor)

    page.get_by_role("button", name="Continue in chat").click()
    page.wait_for_url("**/chat/chat-**")
    ask(page, "And at Ostend tomorrow?")

    expect(page.locator("[data-state=succeeded]")).to_have_count(2)
    clicks.match("Continue an answer in chat")


def test_passage_is_marked_on_the_page_of_its_pdf(signed_in: SignedIn, instance: Instance) -> None:
    visitor = signed_in("story-pdf")
    stocked(instance, visitor.name, "Tides", {"Ostend.pdf": pdf("The sea is salt.", TIDE)})
    clicks, page = Clicks(visitor), answered(visitor)

    page.get_by_role("link", name="Show in the PDF").first.click()

    expect(page.locator(".pdf-page[data-page='2'] mark").first).to_be_in_viewport()
    clicks.match("Open the PDF of an answer with the passage marked")


def test_own_agent_answers_from_a_linked_knowledge_base(
    signed_in: SignedIn, instance: Instance
) -> None:
    visitor = signed_in("story-agent")
    stocked(instance, visitor.name, "Tides", {"Ostend.txt": TIDE})
    clicks, page = Clicks(visitor), visitor.open("/catalogs")

    page.get_by_role("link", name="Agents", exact=True).click()
    page.get_by_role("button", name="New agent").click()
    page.get_by_label("Name", exact=True).fill("Tide reader")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Add Knowledge Base").click()
    page.get_by_role("button", name="Quick Add Tides").click()
    expect(page.locator("[data-tool]")).to_have_count(1)
    page.get_by_label("Test question").fill(QUESTION)
    page.keyboard.press("Enter")

    run = page.locator("#test [data-state=succeeded]")
    expect(run.locator(".answer")).to_contain_text("four metres high")
    clicks.match("Make an agent, link a catalog, and ask it")


def test_three_of_thirty_documents_are_deleted(signed_in: SignedIn, instance: Instance) -> None:
    visitor = signed_in("story-deletes")
    names = [f"{number:02}.txt" for number in range(30)]
    texts = {each: f"Quay {each[:2]} is of stone." for each in names}
    catalog = stocked(instance, visitor.name, "Quays", texts)
    clicks, page = Clicks(visitor), visitor.open(f"/catalogs/{catalog}")
    rows = page.locator("#documents tbody tr")
    expect(rows).to_have_count(30)

    for each in names[:3]:
        page.get_by_label(f"Select {each}").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete 3 documents").click()
    page.get_by_role("link", name="Close").or_(page.get_by_role("button", name="Close")).click()

    expect(rows).to_have_count(27)
    expect(page.get_by_role("dialog")).to_have_count(0)
    clicks.match("Delete three of thirty documents, and see them gone")


def test_operator_finds_a_failed_run_and_its_document(
    signed_in: SignedIn, instance: Instance
) -> None:
    visitor = signed_in("story-operates", "operators")
    catalog = stocked(instance, visitor.name, "Tides", {"Ostend.exe": "MZ"})
    states = instance.client("stepfunctions")
    [machine] = states.list_state_machines()["stateMachines"]
    run = f"{catalog}-999"  # nobody's: the first task fails without its input
    states.start_execution(stateMachineArn=machine["stateMachineArn"], name=run, input="{}")
    clicks, page = Clicks(visitor), visitor.open("/operations")

    page.get_by_role("link", name=re.compile("^[0-9]+ runs? failed$")).click()
    expect(page.get_by_role("row").filter(has_text=run)).to_contain_text("failed")
    page.get_by_text("Inspect a run on this machine").click()
    expect(page.locator("#runs-title ~ details code")).to_contain_text(run)
    page.get_by_role("link", name="Ostend.exe").click()

    expect(page.locator("#document .state")).to_have_text("failed")
    clicks.match("From Operations to a failed run's log and its document")
