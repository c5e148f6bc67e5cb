"""Every page of the console as people see it: all can be read, and nothing keeps anybody out."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from stackroom_console.endpoint import EndpointKind
from stackroom_console.routes import ROUTES
from stackroom_console.safe_markdown import markdown
from tests.browser.builders import MODEL, open_choice
from tests.browser.conftest import SignedIn
from tests.browser.looks import Looks
from tests.browser.visitors import Visitor, choose_in_menu, make_catalog

PAGES = {
    each.path
    for each in ROUTES
    if each.method == "GET" and each.kind is EndpointKind.PAGE and not each.path.endswith("/part")
}
# Of what a browser may ask for by GET: what it never shows as a page of ours.
NO_PAGES = {
    "/": "leads on",
    "/sign-in/begin": "leads on",
    "/sign-in/callback": "leads on",
    "/catalogs/{catalog_id}/documents/{document_id}/file": "a user's file",
    "/agents/{agent_id}/export": "a file to be kept",
    "/tools-config.json": "a file to be kept",
}
# /agents/new is no agent's.
FORMS = {
    path: re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
    for path in sorted(PAGES, key=lambda path: path.count("{"))
}
LONG = "A very long name of a catalog that somebody has pasted from elsewhere without a break"
TABLE = (
    f"| Harbour | Spring tide | Neap tide | {LONG} |\n|---|---|---|---|\n| Ostend | 4 | 2 | no |"
)
CALCULATOR = {
    "id": "tool_calculator_1",
    "name": "calculator",
    "description": "Works out what is asked of it",
    "type": "builtin",
}
PILOT = {
    "format": "stackroom-agent",
    "version": 1,
    "agent": {
        "name": "Pilot",
        "description": "Knows the ferries, and works out fares",
        "model": MODEL,
        "system_prompt": "Answer in one sentence, and say where it stands.",
        "available_tools": [CALCULATOR],
    },
}


@dataclass(frozen=True)
class Stage:
    """Somebody's browser, in which pages are looked at; `seen` fills with the table's paths."""

    visitor: Visitor
    looks: Looks
    folder: Path
    seen: set[str] = field(default_factory=set)

    @property
    def page(self) -> Page:
        return self.visitor.page

    def look(self, name: str) -> None:
        self._note(self.page)
        self.looks.check(self.page, name)

    def look_at(self, path: str, name: str) -> Page:
        self.visitor.open(path)
        self.look(name)
        return self.page

    def look_at_dialog(self, opener: Locator, name: str) -> Locator:
        """Over its page, and as the page that it is where there is no script; it is left open."""
        href = opener.get_attribute("href")
        assert href is not None, "what opens a dialog is a link, for whom there is no script"
        apart = self.page.context.new_page()
        apart.goto(self.visitor.url + href)
        self._note(apart)
        self.looks.compare(apart, f"{name} as a page")
        apart.close()

        opener.click()
        dialog = self.page.locator("dialog:modal")
        expect(dialog).to_be_visible()
        self.looks.check(self.page, name)
        return dialog

    def file(self, name: str, text: str) -> Path:
        made = self.folder / name
        made.write_text(text)
        return made

    def close_dialog(self) -> None:
        self.page.keyboard.press("Escape")
        expect(self.page.locator("dialog")).to_have_count(0)

    def _note(self, page: Page) -> None:
        at = page.url.removeprefix(self.visitor.url).partition("?")[0]
        self.seen.add(next((path for path, form in FORMS.items() if form.fullmatch(at)), at))


def test_every_page_passes_the_accessibility_checks(
    signed_in: SignedIn, stranger: Visitor, looks: Looks, tmp_path: Path
) -> None:
    outside = Stage(stranger, looks, tmp_path)
    stage = Stage(signed_in("marta", "operators"), looks, tmp_path)

    outside.look_at("/sign-in", "sign-in")
    catalogs(stage)
    connect(stage)
    agents(stage)
    operations = stage.look_at("/operations", "operations")
    expect(operations.locator("#signals-title")).to_be_visible()
    expect(operations.locator("#unusable-title")).to_be_visible()
    expect(operations.get_by_text("Missing here")).to_have_count(0)
    problems(stage)

    assert PAGES - NO_PAGES.keys() <= stage.seen | outside.seen


def catalogs(stage: Stage) -> None:
    page = stage.look_at("/catalogs", "catalogs-none")
    make_catalog(stage.visitor, "Tide tables")
    stage.look("catalog-empty")
    page.locator("#files").set_input_files(
        [
            stage.file("Ostend.md", "# Ostend\nThe tide at Ostend is four metres high in spring."),
            stage.file(f"Scan {'0' * 70}.pdf", "%PDF-1.7 and nothing more"),
        ]
    )
    expect(page.locator("#documents td .state.searchable")).to_be_visible()
    expect(page.locator("#documents td .state.failed")).to_be_visible()
    send_what_is_never_taken(stage)
    stage.look("catalog")
    documents(stage)

    page.get_by_label("Select all on this page").check()
    page.locator("#delete-chosen").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    stage.look("documents-delete")
    stage.close_dialog()
    menu = page.get_by_label("More actions for this catalog")
    for name, picture in (
        ("Edit name and description", "catalog-edit"),
        ("Delete", "catalog-delete"),
    ):
        menu.click()
        stage.look_at_dialog(page.get_by_role("link", name=name), picture)
        stage.close_dialog()
    stage.look_at(
        f"{page.url.removeprefix(stage.visitor.url)}?q=no+such+file", "catalog-none-found"
    )
    stage.look_at("/ask", "ask")
    expect(page.get_by_role("region", name="Examples")).to_be_visible()
    page.locator("[data-choice] > summary").click()
    stage.look("ask-options")
    page.get_by_label("Question", exact=True).fill("How high is the tide at Ostend?")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#answer mark").first).to_be_visible()
    page.locator("[data-choice] > summary").click()
    stage.look("answer")
    page.get_by_role("button", name="Helpful", exact=True).click()
    page.get_by_role("button", name="Keep as a test question").click()
    expect(page.get_by_text("Kept as a test question")).to_be_visible()
    table = str(markdown(TABLE))  # which no passage makes, but a model does
    page.locator(".answer-text").evaluate(
        "(answer, table) => { answer.innerHTML += table; }", table
    )
    stage.look("answer-kept")
    page.get_by_role("link", name="Source 1").first.click()
    source = page.get_by_role("dialog", name="Source 1")
    expect(source.locator("mark").first).to_be_visible()
    stage.look("answer-source")
    source.get_by_role("link", name="Show in the text").click()
    expect(page.locator("#passage")).to_be_in_viewport()
    stage.look("document-text")
    stage.look_at("/ask/test-questions", "test-questions")

    make_catalog(stage.visitor, LONG)
    stage.look_at("/catalogs", "catalogs")
    dialog = stage.look_at_dialog(page.get_by_role("button", name="New catalog"), "catalog-new")
    dialog.get_by_label("Name", exact=True).fill(LONG)
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    stage.look("catalog-new-refused")


def connect(stage: Stage) -> None:
    page = stage.look_at("/connect", "connect")
    for each in page.locator("main summary").all():
        each.click()
    stage.looks.compare(page, "connect with all clients")


def documents(stage: Stage) -> None:
    """The page of one that is indexed, of one that failed, and back."""
    page = stage.page
    page.get_by_role("link", name="Ostend.md", exact=True).click()
    expect(page.locator(".cut article")).to_be_visible()
    stage.look("document")
    page.go_back()
    page.get_by_role("link", name="Scan 000").first.click()
    expect(page.locator("#document .state.failed")).to_be_visible()
    stage.look("document-failed")
    page.go_back()


def send_what_is_never_taken(stage: Stage) -> None:
    """One file that is of no type that is read, and one whose way to the bucket is broken."""
    uploads = stage.page.locator("#uploads")
    wrong = [stage.file("setup.exe", "MZ"), stage.file("Mooring plan.md", "Berth 5 is for tugs.")]

    stage.page.route(lambda url: not url.startswith(stage.visitor.url), lambda route: route.abort())
    stage.page.locator("#files").set_input_files(wrong)

    expect(uploads).to_contain_text("isn't supported")
    expect(uploads).to_contain_text("The connection was lost.")
    expect(stage.page.locator("#documents")).to_contain_text("Waiting for the file")
    stage.page.unroute_all()


def agents(stage: Stage) -> None:
    """Make agents with each kind of tool: a linked one, one without its catalog, another user's."""
    page = stage.look_at("/agents", "agents-none")
    stage.look_at("/agents/new", "agent-new")
    opener = stage.visitor.open("/agents").get_by_role("button", name="Import")
    dialog = stage.look_at_dialog(opener, "agent-import")
    dialog.get_by_label("Or paste its text").fill('{"agent": "of somebody else\'s making"}')
    dialog.get_by_role("button", name="Import").click()
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    stage.look("agent-import-refused")
    dialog.get_by_label("Or paste its text").fill(json.dumps(PILOT))
    dialog.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Pilot")
    agent = page.url.removeprefix(stage.visitor.url)
    open_choice(stage.visitor).get_by_role("button", name=f"Quick Add {LONG}").click()
    expect(page.locator("li[data-tool]")).to_have_count(2)
    taken = page.locator("li[data-tool] strong").last.inner_text()
    stage.look_at_dialog(page.get_by_role("button", name="Add Knowledge Base"), "knowledge-bases")
    configure = page.get_by_role("button", name="Configure Tide tables")
    dialog = stage.look_at_dialog(configure, "knowledge-base-link")
    dialog.get_by_label("Tool name").fill(taken)
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    stage.look("knowledge-base-link-refused")
    dialog.get_by_label("Tool name").fill("search_tide_tables")
    dialog.get_by_role("button", name="Add").click()
    expect(page.locator("li[data-tool]")).to_have_count(3)
    stage.look_at(f"{agent}/knowledge-bases?search=tide", "knowledge-bases-searched")
    delete_catalog(stage, LONG)

    stage.look_at(agent, "agent")
    expect(page.locator(".card.gone")).to_contain_text("Knowledge base not found")
    picture = page.locator(".card.gone img")
    assert picture.evaluate("(triangle) => triangle.naturalWidth > 0")
    for opener, name in (
        (page.get_by_role("link", name="Edit search_tide_tables"), "tool-edit"),
        (page.get_by_role("link", name="Delete search_tide_tables"), "tool-delete"),
        (page.get_by_role("button", name="Delete", exact=True), "agent-delete"),
    ):
        stage.look_at_dialog(opener, name)
        stage.close_dialog()
    page.get_by_role("link", name=f"Delete {taken}", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("li[data-tool]")).to_have_count(2)
    stage.look_at("/agents", "agents")
    stage.look_at("/ask?q=How+high+is+the+tide+at+Ostend%3F&threshold=0.1", "answer-threshold")
    expect(page.get_by_role("button", name="Save threshold to this agent")).to_be_visible()
    chat(stage, agent)
    delete_document(stage)


def chat(stage: Stage, agent: str) -> None:
    stage.look_at("/chat", "chat-assistant")
    page = stage.look_at(f"{agent}/chat", "chat-empty")
    page.get_by_label("Question", exact=True).fill("How high is the tide at Ostend?")
    page.keyboard.press("Enter")
    expect(page.locator("[data-state=succeeded]")).to_be_visible()
    for each in page.locator(".steps summary").all():
        each.click()
    stage.look("chat")
    for opener in ("Rename", "Delete"):
        stage.look_at_dialog(page.get_by_role("button", name=opener), f"chat-{opener.lower()}")
        stage.close_dialog()
    stage.look_at(f"{agent}/chat/single", "chat-single")


def delete_catalog(stage: Stage, name: str) -> None:
    page = stage.visitor.open("/catalogs")
    choose_in_menu(page, name, "Delete")
    page.get_by_role("button", name="Delete catalog").click()
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)


def delete_document(stage: Stage) -> None:
    page = stage.visitor.open("/catalogs")
    page.get_by_role("link", name="Tide tables", exact=True).click()
    page.get_by_label("Actions for Ostend.md").click()
    opener = page.get_by_role("link", name="Delete Ostend.md")
    stage.look_at_dialog(opener, "document-delete").get_by_role(
        "button", name="Delete document"
    ).click()
    expect(page.locator("#receipt")).to_contain_text("searches no longer find it")
    stage.look("receipt")


def problems(stage: Stage) -> None:
    """A page that is not there, and a change that no page of ours asked for."""
    stage.look_at("/no/such/page", "not-found")
    page = stage.visitor.open("/catalogs/new")
    page.locator("[name=csrf_token]").last.evaluate("(field) => { field.value = 'of another'; }")
    page.locator("dialog form").evaluate("(form) => { form.elements.name.value = 'x'; }")
    page.locator("dialog form").evaluate("(form) => form.submit()")
    expect(page.get_by_role("heading", level=1)).to_have_text("Forbidden")
    stage.look("forbidden")
