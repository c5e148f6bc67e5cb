"""Catalogs in a browser: one's own and nobody else's, whatever names they have."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn
from tests.browser.visitors import Visitor
from tests.e2e.people import Person, eventually

# Each would run in a page that let it; each says so where a test looks.
SCRIPT = "document.documentElement.dataset.attacked=1"
HOSTILE = (
    f"<img src=x onerror={SCRIPT}>",
    f"<script>{SCRIPT}<-script>",
    f'" autofocus onfocus="{SCRIPT}',
    f"' onmouseover='{SCRIPT}",
    f"{{{{ {SCRIPT} }}}}",
    f"javascript:{SCRIPT}",
)


def test_a_list_shows_ones_own_catalogs_and_no_others(signed_in: SignedIn) -> None:
    tom, ann = signed_in("tom"), signed_in("ann")

    make(tom, "Toms tides")
    make(ann, "Anns anchors")

    tom.open("/catalogs")
    ann.open("/catalogs")
    expect(tom.page.get_by_role("link", name="Toms tides", exact=True)).to_be_visible()
    expect(ann.page.get_by_role("link", name="Anns anchors", exact=True)).to_be_visible()
    assert "Anns anchors" not in tom.page.content()
    assert "Toms tides" not in ann.page.content()


def test_anothers_catalog_is_as_if_it_were_not_there(signed_in: SignedIn) -> None:
    tom, ann = signed_in("tom"), signed_in("ann")
    hers = make(ann, "Hers alone").rpartition("/")[2]

    statuses, bodies = [], []
    for each in (hers, "cat-000000000000000000000000"):
        answer = tom.page.goto(f"{tom.url}/catalogs/{each}")
        assert answer is not None
        statuses.append(answer.status)
        bodies.append(tom.page.get_by_role("main").inner_text().replace(each, "the id"))

    assert statuses == [404, 404]
    assert bodies[0] == bodies[1]


def test_a_file_that_is_chosen_is_sent_and_seen_as_it_comes(
    signed_in: SignedIn, tmp_path: Path
) -> None:
    tom = signed_in("tom")
    tide = tmp_path / "Fluth und Ebbe – 潮汐.txt"
    tide.write_text("The tide at Ostend is four metres.", "utf-8")

    make(tom, "Sent by hand")
    tom.page.locator("#files").set_input_files(tide)

    documents = tom.page.locator("#documents")
    expect(documents.get_by_text(tide.name, exact=True)).to_be_visible()
    expect(documents.locator("td .state.indexed")).to_be_visible()
    assert tom.said == []


def test_a_file_of_another_type_is_refused_before_it_is_sent(
    signed_in: SignedIn, tmp_path: Path
) -> None:
    tom = signed_in("tom")
    program = tmp_path / "setup.exe"
    program.write_bytes(b"MZ")
    sent: list[str] = []

    make(tom, "Refused")
    tom.page.on("request", lambda request: sent.append(request.method))
    tom.page.locator("#files").set_input_files(program)

    expect(tom.page.locator("#uploads")).to_contain_text("setup.exe")
    assert "POST" not in sent


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_name_is_text_and_never_part_of_the_page(
    signed_in: SignedIn, instance: Instance, name: str
) -> None:
    mallory = Person(instance, "mallory")
    filename = f"{name}.exe"  # of a type that is not ingested
    mallory.put(f"hostile names/{filename}", "x")
    eventually(lambda: mallory.record(f"hostile names/{filename}"), "a record of the file")
    visitor = signed_in("mallory")

    visitor.page.get_by_role("link", name="hostile names", exact=True).click()

    expect(visitor.page.locator("#documents").get_by_text(filename, exact=True)).to_be_visible()
    visitor.page.get_by_role("link", name=f"Delete {filename}", exact=True).click()
    expect(visitor.page.get_by_role("dialog")).to_contain_text(filename)
    assert visitor.page.locator("[data-attacked]").count() == 0
    assert visitor.said == []


def make(visitor: Visitor, name: str) -> str:
    """A new catalog by way of the dialog; answers its page, which is shown."""
    page = visitor.open("/catalogs")
    page.get_by_role("button", name="New catalog").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    return page.url
