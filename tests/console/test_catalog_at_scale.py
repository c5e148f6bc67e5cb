"""A catalog of many documents: searched, sorted, narrowed, and several of them seen to at once."""

import re
from html import unescape

import pytest

from stackroom.catalogs import browsing
from stackroom.runs import estimates
from stackroom_console.console import Console
from stackroom_console.pages import catalog_pages
from tests.console.browser import Browser, heading, rows, walked
from tests.console.things import dropped, failing, new_catalog
from tests.functions.pipeline import Pipeline
from tests.support.large_catalogs import GAP, filled

MANY = 12
FAILED = 11  # its name comes last
WITH_GAPS = 1
HTMX = {"HX-Request": "true"}


@pytest.fixture(params=["whole", "by names", "very large"])
def catalog(
    request: pytest.FixtureRequest, console: Console, monkeypatch: pytest.MonkeyPatch
) -> str:
    """
    One document failed, and one has gaps; read as a whole, by its list of names, or by a part of
    that.
    """
    if request.param != "whole":
        monkeypatch.setattr(browsing, "WHOLE", 2)
    if request.param == "very large":
        monkeypatch.setattr(browsing, "NAMES_SEARCHED", 5)
    return filled(console.services, "alice", "Many", MANY, failed={FAILED}, with_gaps={WITH_GAPS})


def shown(browser: Browser, catalog_id: str, query: str = "") -> list[int]:
    """The numbers of the documents on a page."""
    text = browser.get(f"/catalogs/{catalog_id}{query}").text
    return [int(re.findall(r"report (\d+)", each)[0]) for each in rows(text)]


def test_documents_are_filtered_found_by_name_and_paged(
    alice: Browser, catalog: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = alice.get(f"/catalogs/{catalog}").text
    searchable = shown(alice, catalog, "?state=searchable")

    assert shown(alice, catalog)[:4] == [FAILED, WITH_GAPS, 0, 2]
    assert shown(alice, catalog, "?state=failed") == [FAILED]
    assert shown(alice, catalog, "?state=with-gaps") == [WITH_GAPS]
    assert (FAILED in searchable, WITH_GAPS in searchable) == (False, True)
    [told] = [each for each in rows(text) if GAP in each]
    assert f"report 00001.pdf 120.6 KB searchable {GAP} " in told
    assert f'<span class="gap">{GAP}</span>' in text

    assert shown(alice, catalog, "?q=REPORT+00003.PDF") == [3]
    assert shown(alice, catalog, "?q=00004") == [4]
    assert shown(alice, catalog, "?q=report+00011&state=failed") == [FAILED]
    nothing = alice.get(f"/catalogs/{catalog}?q=invoice").text
    assert "No document" in nothing
    assert f'href="/catalogs/{catalog}"' in nothing

    monkeypatch.setattr(browsing, "ROWS", 4)
    seen, pages = walked(alice, f"/catalogs/{catalog}?sort=-size")
    assert len(seen) >= MANY  # what failed may come again where its name stands
    assert pages >= 3


@pytest.mark.parametrize(
    ("looked_through", "chip", "over_the_rows"),
    [(1000, "With gaps <b>2</b>", "11 searchable 2 with gaps 1 failed"), (5, "With gaps", "")],
)
def test_documents_with_gaps_are_counted_where_all_names_are_read(
    alice: Browser,
    console: Console,
    monkeypatch: pytest.MonkeyPatch,
    *,
    looked_through: int,
    chip: str,
    over_the_rows: str,
) -> None:
    monkeypatch.setattr(browsing, "WHOLE", 2)
    monkeypatch.setattr(browsing, "NAMES_SEARCHED", looked_through)
    catalog = filled(console.services, "alice", "Many", MANY, failed={FAILED}, with_gaps={1, 10})

    for query in ("", "?state=failed", "?state=with-gaps"):
        text = alice.get(f"/catalogs/{catalog}{query}").text

        assert re.findall(r'id="show-with-gaps".*?>(.*?)</a>', text) == [chip], query
        assert over_the_rows in heading(text), query
        assert over_the_rows or "with gaps" not in heading(text), query


def test_a_catalog_is_sorted_by_what_its_address_says(alice: Browser, console: Console) -> None:
    catalog = filled(console.services, "alice", "Sorted", 4, failed={2})
    orders = {
        "": [2, 0, 1, 3],
        "?sort=-state": [3, 1, 0, 2],
        "?sort=name": [0, 1, 2, 3],
        "?sort=-name": [3, 2, 1, 0],
        "?sort=size": [0, 1, 2, 3],
        "?sort=-size": [3, 2, 1, 0],
        "?sort=time": [3, 2, 1, 0],
        "?sort=-time": [0, 1, 2, 3],
    }

    assert {each: shown(alice, catalog, each) for each in orders} == orders
    page = unescape(alice.get(f"/catalogs/{catalog}?sort=size&q=report&state=searchable").text)
    assert 'aria-sort="ascending"><a id="sort-size"' in page
    turned = f'href="/catalogs/{catalog}?q=report&state=searchable&sort=-size"'
    assert turned in page
    assert f'hx-get="/catalogs/{catalog}/part?sort=size&q=report&state=searchable&seen=' in page


def test_an_address_with_an_unknown_filter_or_order_answers_404(alice: Browser) -> None:
    catalog = new_catalog(alice)

    for query in ("?state=lost", "?sort=color", "?page=x", "?q=" + "a" * 201):
        assert alice.get(f"/catalogs/{catalog}{query}").status_code == 404, query


def test_partly_searched_catalog_says_how_many_documents_were_searched(
    alice: Browser, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browsing, "WHOLE", 2)
    monkeypatch.setattr(browsing, "NAMES_SEARCHED", 5)
    catalog = filled(console.services, "alice", "Large", MANY)

    text = alice.get(f"/catalogs/{catalog}?sort=-size").text

    assert f"5 of {MANY} documents were searched" in text
    assert ">Continue</a>" in text


def test_expected_uploads_of_a_large_catalog_are_counted_as_under_way(
    alice: Browser, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browsing, "WHOLE", 2)
    monkeypatch.setattr(estimates, "PAGE", 2)
    catalog = filled(console.services, "alice", "Large", 3)
    for name in ("a.txt", "b.txt"):
        alice.call("POST", f"/catalogs/{catalog}/uploads", {"filename": name, "size": 1})

    text = alice.get(f"/catalogs/{catalog}").text

    assert "3 of 5 done, 2 left" in heading(text)
    chips = re.findall(r'class="chip.*?>([^<]+) <b>([0-9]+)</b>', text)
    assert chips == [("All", "5"), ("In progress", "2"), ("Searchable", "3")]
    monkeypatch.setattr(browsing, "FORM_SECONDS", 0)  # nobody came
    later = alice.get(f"/catalogs/{catalog}").text
    assert "3 searchable" in heading(later)
    assert "3 documents." in later
    assert len(rows(later)) == 3


GONE = f"doc-{'0' * 24}"


def test_selected_failed_documents_are_retried_in_one_request(
    alice: Browser, console: Console, pipeline: Pipeline
) -> None:
    catalog = new_catalog(alice)
    chosen = [
        failing(console, catalog, dropped(pipeline, "alice", catalog, name))
        for name in ("a.txt", "b.txt")
    ]
    fine = dropped(pipeline, "alice", catalog, "c.txt")
    at = f"/catalogs/{catalog}/selected"
    form = {"csrf_token": alice.csrf, "do": "retry", **dict.fromkeys(chosen, "on")}

    done = alice.send(at, form, **HTMX)
    again = alice.send(at, {**form, fine: "on"}, **HTMX)
    bare = {"csrf_token": alice.csrf, "do": "retry"}
    none, gone = (alice.send(at, {**bare, **each}, **HTMX) for each in ({}, {GONE: "on"}))
    unknown = alice.send(at, {**form, "do": "copy"}, **HTMX)

    assert (done.status_code, done.headers["hx-trigger"]) == (204, "changed")
    assert alice.get(f"/catalogs/{catalog}").text.count('class="state pending"') == 3
    assert again.status_code == 409
    assert "3 of 3 can&#39;t be retried: a.txt: it has not failed" in again.text
    assert none.status_code == gone.status_code == 400
    assert "they no longer exist" in gone.text
    assert unknown.status_code == 404
    more = [dropped(pipeline, "alice", catalog, f"{number}.txt") for number in range(10)]
    many = alice.send(at, {**form, **dict.fromkeys(more, "on")}, **HTMX).text
    assert "12 of 12 can&#39;t be retried: " in many
    assert "; and others." in many


def test_selected_documents_are_deleted_in_steps_after_confirmation(
    alice: Browser, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_pages, "FOR_A_STEP", 0.0)
    monkeypatch.setattr("stackroom.catalogs.deletions._AT_ONCE", 2)
    catalog = new_catalog(alice)
    ids = [dropped(pipeline, "alice", catalog, f"{each}.txt") for each in range(4)]
    form = {"csrf_token": alice.csrf, "do": "delete", **dict.fromkeys(ids[:3], "on")}

    asked = alice.send(f"/catalogs/{catalog}/selected", form, **HTMX)
    kept = len(rows(alice.get(f"/catalogs/{catalog}").text))
    steps = [alice.send(f"/catalogs/{catalog}/selected/delete", fields(asked.text), **HTMX)]
    steps.append(alice.send(f"/catalogs/{catalog}/selected/delete", fields(steps[0].text), **HTMX))

    assert [name in asked.text for name in ("0.txt", "1.txt", "2.txt", "3.txt")] == [True] * 3 + [
        False
    ]
    assert kept == 4
    assert "2 documents are being deleted, 1 left" in steps[0].text
    assert "3 documents are being deleted." in steps[1].text
    receipts = re.findall(r'href="(/receipts/[^"]+)"', steps[0].text + steps[1].text)
    assert [alice.get(each).status_code for each in receipts] == [200] * 3
    states = [
        re.findall(r"\d B (\w+)", each)[0] for each in rows(alice.get(f"/catalogs/{catalog}").text)
    ]
    assert sorted(states) == ["deleting"] * 3 + ["pending"]


def fields(text: str) -> dict[str, str]:
    """Those of the form that a dialog holds."""
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', text)
    return {name: unescape(value) for name, value in hidden}
