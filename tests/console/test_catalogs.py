"""Catalogs and their documents, as their owner sees and changes them."""

import hashlib
import re
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

from stackroom.aws import session
from stackroom.catalogs import browsing, deletions
from stackroom.model.formats import MAX_FILE_BYTES
from stackroom_console.console import Console
from stackroom_console.pages import catalogs_page
from tests.aws.stores import BUCKET
from tests.console.browser import Browser, heading, rows
from tests.console.things import dropped, failing, indexed, ingested, new_catalog
from tests.functions.pipeline import Pipeline

MANY = 3


def test_catalogs_are_listed_with_counts_sizes_and_states(
    alice: Browser, pipeline: Pipeline
) -> None:
    research = new_catalog(alice, "Research", "papers")
    new_catalog(alice, "Ants")
    dropped(pipeline, "alice", research, "a.txt", "x" * 2048)

    text = alice.get("/catalogs").text

    today = f"{datetime.now(UTC):%Y-%m-%d}"
    ants, shown = rows(text)
    assert re.fullmatch(rf"Ants 0 0 B empty {today} [0-9:]+ UTC ⋯ Edit Delete", ants)
    assert re.fullmatch(
        rf"Research papers 1 2\.0 KB indexing {today} [0-9:]+ UTC ⋯ Edit Delete", shown
    )
    assert "2 catalogs" in text


def test_invalid_catalog_name_is_reported_at_its_field(alice: Browser) -> None:
    new_catalog(alice, "Research")
    expected = {
        "": (400, "Name: is empty. Allowed: A descriptive name: 1 to 100 letters"),
        "a/b": (400, "1 to 100 letters, digits, spaces and hyphens"),
        "research": (409, "already exists"),
    }
    for name, (status, told) in expected.items():
        form = {"name": name, "csrf_token": alice.csrf}

        part = alice.send("/catalogs", form, **{"HX-Request": "true"})
        page = alice.post("/catalogs", name=name)

        assert (part.status_code, page.status_code) == (status, status), name
        assert told in part.text, name
        assert told in page.text, name
        assert "<html" not in part.text, name
    assert len(rows(alice.get("/catalogs").text)) == 1


def test_catalog_gets_another_name_and_description(alice: Browser) -> None:
    catalog = new_catalog(alice, "Tides")
    new_catalog(alice, "Ebbs")

    taken = alice.post(f"/catalogs/{catalog}/edit", name="ebbs", description="")
    alice.post(f"/catalogs/{catalog}/edit", name="Tides and ebbs", description="How high it is.")

    assert taken.status_code == 409
    page = alice.get(f"/catalogs/{catalog}").text
    assert "Tides and ebbs" in page
    assert "How high it is." in page


def test_deletion_dialog_names_the_documents_before_they_are_deleted(
    alice: Browser, pipeline: Pipeline
) -> None:
    catalog = new_catalog(alice, "Research")
    dropped(pipeline, "alice", catalog, "a.txt", "x" * 2048)
    dropped(pipeline, "alice", catalog, "b.txt", "x" * 1024)

    asked = alice.part(f"/catalogs/{catalog}/delete").text
    kept = len(rows(alice.get("/catalogs").text))
    answer = alice.post(f"/catalogs/{catalog}/delete")

    assert "Research" in asked
    assert "all 2 documents in it (3.0 KB)" in " ".join(asked.split())
    assert kept == 1
    assert answer.headers["location"] == "/catalogs"
    [left] = rows(alice.get("/catalogs").text)
    assert "deleting" in left
    assert "Delete" not in left
    assert session.client("s3").list_objects_v2(Bucket=BUCKET).get("Contents", []) == []


@pytest.mark.slow
def test_large_catalog_is_deleted_in_steps_each_requested_by_the_page(
    alice: Browser, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogs_page, "FOR_A_STEP", 0.0)  # time for a slice of its documents
    monkeypatch.setattr(deletions, "_SLICE", 2)
    # Counters of the store in memory miss some where several threads count at once.
    monkeypatch.setattr(deletions, "_AT_ONCE", 1)
    catalog = new_catalog(alice)
    for number in range(MANY):
        dropped(pipeline, "alice", catalog, f"{number}.txt")

    answers = [delete_step(alice, catalog)]
    [listed] = rows(alice.get("/catalogs").text)
    while answers[-1].status_code == 200:
        answers.append(delete_step(alice, catalog))

    left = [re.findall(r"is large: ([0-9]+) documents? left", each.text) for each in answers]
    # The second step is that of their texts.
    assert left == [[str(MANY - 2)], [str(MANY - 2)], []]
    assert f'hx-post="/catalogs/{catalog}/delete" hx-target="#dialog"' in answers[0].text
    assert listed.endswith("Continue")
    assert answers[-1].headers["hx-redirect"] == "/catalogs"
    [listed] = rows(alice.get("/catalogs").text)
    assert "deleting" in listed
    assert not listed.endswith("Continue")


def delete_step(browser: Browser, catalog_id: str) -> httpx2.Response:
    form = {"csrf_token": browser.csrf}
    return browser.send(f"/catalogs/{catalog_id}/delete", form, **{"HX-Request": "true"})


def test_documents_are_listed_with_how_far_each_is(alice: Browser, pipeline: Pipeline) -> None:
    catalog = new_catalog(alice)
    indexed(pipeline, "alice", catalog, "done.txt", "thirty days")
    dropped(pipeline, "alice", catalog, "waits.txt")
    dropped(pipeline, "alice", catalog, "bad.exe")
    alice.call("POST", f"/catalogs/{catalog}/uploads", {"filename": "announced.txt", "size": 1})

    text = alice.get(f"/catalogs/{catalog}").text

    bad, announced, waits, done = rows(text)
    assert "uploading Waiting for the file; upload it again" in announced
    assert "failed File type &#39;.exe&#39; not supported." in bad
    assert "Fix the file and upload it again." in bad
    assert "Retry" not in bad
    assert "done.txt 11 B searchable" in done
    assert re.search("waits.txt 11 B pending Starting, about [0-9]+[sm] to go", waits)
    assert "2 of 4 done, 2 left" in heading(text)
    chips = re.findall(r'class="chip.*?>([^<]+) <b>([0-9]+)</b>', text)
    assert chips == [("All", "4"), ("Failed", "1"), ("In progress", "2"), ("Searchable", "1")]


def test_catalog_page_asks_soon_for_a_file_that_is_being_uploaded(
    alice: Browser, pipeline: Pipeline
) -> None:
    catalog = new_catalog(alice)
    indexed(pipeline, "alice", catalog, "done.txt", "thirty days")
    at_rest = alice.get(f"/catalogs/{catalog}").text

    alice.call("POST", f"/catalogs/{catalog}/uploads", {"filename": "announced.txt", "size": 1})
    uploading = alice.get(f"/catalogs/{catalog}").text

    waits = [float(*re.findall(r"load delay:([0-9.]+)s", each)) for each in (at_rest, uploading)]
    assert waits == [10, 2]


def test_files_of_folders_are_listed_as_a_tree(alice: Browser, pipeline: Pipeline) -> None:
    catalog = new_catalog(alice)
    for name in ("Port/2026/Q1/deep.txt", "Port/2026/b.txt", "Port/z.txt", "a.txt", "Port2/c.txt"):
        dropped(pipeline, "alice", catalog, name)

    tree = alice.get(f"/catalogs/{catalog}").text
    by_size = alice.get(f"/catalogs/{catalog}?sort=size").text

    names = r'(?:data-folder="([^"]+)"|id="about-[^>]+><bdi>(.*?)</bdi>)'
    seen = [folder or file for folder, file in re.findall(names, tree)]
    assert seen == [
        "a.txt",
        "Port",
        "Port/2026",
        "b.txt",
        "Port/2026/Q1",
        "deep.txt",
        "z.txt",
        "Port2",
        "c.txt",
    ]
    assert 'aria-label="Port/2026/Q1/deep.txt"' in tree
    assert "data-folder" not in by_size
    assert "<bdi>Port/z.txt</bdi>" in by_size


def test_upload_form_allows_only_that_file_and_overwriting_only_if_asked(
    alice: Browser, pipeline: Pipeline, console: Console
) -> None:
    catalog = new_catalog(alice)
    path, size = f"/catalogs/{catalog}/uploads", 45 * 1024**2
    dropped(pipeline, "alice", catalog, "a.txt")
    refused: list[tuple[dict[str, object], str]] = [
        ({"filename": "a.exe", "size": 1}, "FILE_TYPE_UNSUPPORTED"),
        ({"filename": "b.txt.metadata.json", "size": 1}, "FILE_TYPE_UNSUPPORTED"),
        ({"filename": "b.txt", "size": MAX_FILE_BYTES + 1}, "FILE_TOO_LARGE"),
        ({"filename": "b.txt"}, "VALIDATION_ERROR"),
        ({"filename": "../bob/a.txt", "size": 1}, "VALIDATION_ERROR"),
        ({"filename": "a.txt", "size": size}, "DOCUMENT_EXISTS"),
    ]
    for asked, code in refused:
        answer = alice.call("POST", path, asked)

        status = 409 if code == "DOCUMENT_EXISTS" else 400
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), asked
    assert len(rows(alice.get(f"/catalogs/{catalog}").text)) == 1
    for name in ("a.txt", "Größe 日本語.pdf", "2026/a b+c&d.csv"):
        given = {"filename": name, "size": size, "replace": name == "a.txt"}
        form = alice.call("POST", path, given).json()["data"]
        assert form["url"].startswith(console.uploads)
        assert form["fields"]["key"] == f"alice/{catalog}/{name}"


def test_identical_file_is_not_uploaded_again(alice: Browser, pipeline: Pipeline) -> None:
    catalog = new_catalog(alice)
    path = f"/catalogs/{catalog}/uploads"
    dropped(pipeline, "alice", catalog, "a.txt", "as it was")
    asked = {"filename": "a.txt", "size": 9}

    def sent(text: str, **more: object) -> httpx2.Response:
        digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
        return alice.call("POST", path, {**asked, "md5": digest, **more})

    assert sent("as it was").json()["data"]["isThere"] is True
    assert sent("otherwise").json()["error"]["code"] == "DOCUMENT_EXISTS"
    assert "fields" in sent("as it was", replace=True).json()["data"]
    for wrong in ("", 5, "g" * 32):
        refused = alice.call("POST", path, {**asked, "md5": wrong})
        assert refused.json()["error"]["code"] == "VALIDATION_ERROR"


@pytest.mark.slow
def test_pdf_opens_in_the_browser_and_other_files_on_our_text_page(
    alice: Browser, pipeline: Pipeline, console: Console
) -> None:
    """These headers decide how a browser treats a file: from the bucket, and never as a page."""
    catalog = new_catalog(alice)
    pdf, *others = (
        f"/catalogs/{catalog}/documents/{dropped(pipeline, 'alice', catalog, name)}"
        for name in ("a.pdf", 'quoted".html', "page.html;.txt")
    )

    def asked(path: str) -> dict[str, str]:
        link = alice.get(path).headers["location"]
        assert link.startswith(console.uploads), "no page of the console's origin"
        return dict(parse_qsl(urlsplit(link).query))

    opened = asked(f"{pdf}/file")
    assert opened["response-content-disposition"].partition(";")[0] == "inline"
    assert opened["response-content-type"] == "application/pdf"
    assert asked(f"{pdf}/file?save")["response-content-disposition"].startswith("attachment;")
    for path in others:
        assert alice.get(f"{path}/file").headers["location"] == f"{path}/text"
        saved = asked(f"{path}/file?save")
        assert saved["response-content-disposition"].startswith("attachment;"), path
        assert "response-content-type" not in saved


def test_failed_documents_are_retried_singly_or_all_at_once(
    alice: Browser, console: Console, pipeline: Pipeline
) -> None:
    catalog = new_catalog(alice)
    rejected = dropped(pipeline, "alice", catalog, "c.exe")
    failed = [
        failing(console, catalog, dropped(pipeline, "alice", catalog, name))
        for name in ("a.txt", "b.txt")
    ]
    at = f"/catalogs/{catalog}"
    before = rows(alice.get(at).text)

    refused = alice.post(f"{at}/documents/{rejected}/retry")
    one = alice.post(f"{at}/documents/{failed[0]}/retry")
    after_one = rows(alice.get(at).text)
    rest = alice.send(f"{at}/retry", {"csrf_token": alice.csrf}, **{"HX-Request": "true"})
    after_all = rows(alice.get(at).text)

    assert "failed it has no text. Fix the file" in before[0]
    assert "Open Download Retry Delete" in before[0]
    assert refused.status_code == 409
    assert "another try would end the same" in refused.text
    assert one.headers["location"] == at
    assert waiting_in(after_one) == ["a.txt"]
    assert (rest.status_code, rest.headers["hx-trigger"]) == (204, "changed")
    assert waiting_in(after_all) == ["a.txt", "b.txt"]


def waiting_in(found: list[str]) -> list[str]:
    return [each.split()[0] for each in found if "pending" in each]


@pytest.mark.slow
def test_a_document_goes_with_a_receipt_that_its_owner_alone_can_read(
    alice: Browser, pipeline: Pipeline
) -> None:
    catalog = new_catalog(alice)
    document = ingested(pipeline, "alice", catalog, "a.txt", "thirty days")
    key = f"alice/{catalog}/a.txt"

    asked = alice.part(f"/catalogs/{catalog}/documents/{document}/delete").text
    receipt = alice.post(f"/catalogs/{catalog}/documents/{document}/delete").headers["location"]
    open_ = alice.get(receipt).text
    pipeline.settle(key)
    closed = alice.get(receipt).text

    assert "a.txt" in asked
    assert "Its passages are being removed" in open_
    assert "searches no longer find it" in closed
    assert rows(alice.get(f"/catalogs/{catalog}").text) == []


@pytest.mark.parametrize("words", ["M\u00c4RZ", "ma\u0308rz 1", "2026/"])
@pytest.mark.parametrize("name", ["2026/M\u00e4rz 1.txt", "2026/Ma\u0308rz\u00a01.txt"])
def test_a_document_is_looked_for_by_its_name_in_any_encoding(words: str, name: str) -> None:
    assert browsing.Wanted(words=words).takes(name, browsing.Group.SEARCHABLE)
    assert not browsing.Wanted(words="Marz").takes(name, browsing.Group.SEARCHABLE)
