"""A document's text on a page of ours: at the passage, in parts, and never as a page of its own."""

import re
from html import escape, unescape
from unittest.mock import Mock
from urllib.parse import quote

import pytest

from simulator.tests import files
from stackroom.aws import session
from stackroom.catalogs.reading import located
from stackroom.model.bucket import File, FileVersion
from stackroom.model.keys import TextName
from stackroom.model.passages import OnlyPlaces
from stackroom.text.document_text import text_of
from stackroom.text.extraction.page import Page
from stackroom_console.console import Console
from stackroom_console.pages.text_page import part_of
from stackroom_console.shown_citations import FoundPassage, citations_of, source_of, text_path
from tests.aws.stores import BUCKET
from tests.console.browser import Browser, read
from tests.console.things import dropped, ingested, new_catalog
from tests.functions.pipeline import Pipeline

HOSTILE = "# Plan\n\n<script>alert(1)</script> <img src=x onerror=alert(1)>\n\nThe *tide* is high."


def shown(browser: Browser, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, answer.text
    return str(answer.text)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("plan.txt", HOSTILE.encode()),
        ("plan.html", HOSTILE.encode()),
        ("plan.xlsx", files.workbook({"Plan": [[escape(each)] for each in HOSTILE.split("\n")]})),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_text_page_marks_the_passage_and_escapes_all_markup(
    alice: Browser, pipeline: Pipeline, console: Console, name: str, body: bytes
) -> None:
    """A citation leads to this page."""
    catalog = new_catalog(alice)
    document = dropped(pipeline, "alice", catalog, name, body)
    source = source_of({"catalog_id": catalog, "document_id": document, "filename": name})
    found = FoundPassage(sources=[source], text="The tide\nis high.", score=0.5)
    own = {each.catalog_id: each for each in console.services.listing.catalogs_of("alice").catalogs}

    [cited] = citations_of("How high is the tide?", [found], own, OnlyPlaces(None))
    page = shown(alice, cited.stands[0].href or "")

    [passage] = re.findall('<div class="text passage" id="passage".*?</div>', page, re.S)
    assert "tide" in passage
    assert "high." in passage
    for each in (page, shown(alice, text_path(catalog, document, HOSTILE))):
        assert "<script>alert" not in each
        assert "<img src=x" not in each
    assert ("&lt;script&gt;" in page) is (name != "plan.html")
    assert f'href="/catalogs/{catalog}/documents/{document}/file?save"' in page


def test_missing_passage_is_reported_and_the_text_still_shown(
    alice: Browser, pipeline: Pipeline
) -> None:
    catalog = new_catalog(alice)
    document = dropped(pipeline, "alice", catalog, "plan.txt", "The tide is high.")

    page = shown(alice, text_path(catalog, document, "Something else was said."))

    assert "exact passage was not found" in unescape(page)
    assert "The tide is high." in page
    assert 'id="passage"' not in page


@pytest.mark.slow
def test_citation_opens_the_version_it_is_of_until_the_next_one_answers(
    alice: Browser, pipeline: Pipeline, console: Console
) -> None:
    catalog = new_catalog(alice)
    key = f"alice/{catalog}/plan.txt"
    document = ingested(pipeline, "alice", catalog, "plan.txt", "The tide is high.")
    first = session.client("s3").head_object(Bucket=BUCKET, Key=key)["VersionId"]
    given = {"catalog_id": catalog, "document_id": document, "filename": "plan.txt"}
    source = source_of({**given, "version_id": first})
    found = FoundPassage(sources=[source], text="The tide is high.", score=0.5)
    own = {each.catalog_id: each for each in console.services.listing.catalogs_of("alice").catalogs}
    [cited] = citations_of("How high is the tide?", [found], own, OnlyPlaces(None))
    stands = cited.stands[0]

    def saved() -> str:
        return str(alice.get(stands.save_href or "").headers["location"])

    pipeline.drop(key, "The tide is low.")
    under_way, link = shown(alice, stands.href or ""), saved()
    newest = shown(alice, text_path(catalog, document))
    unknown = shown(alice, text_path(catalog, document, version="x" * 32))
    pipeline.settle(key)

    assert "The tide is high." in under_way
    assert "the file has been replaced" in under_way
    assert f"file?save&amp;version={quote(first, safe='')}" in under_way
    assert f"versionId={quote(first, safe='')}" in link
    for page in (newest, unknown, shown(alice, stands.href or "")):
        assert "low." in page
        assert "The tide is high" not in page
        assert "a newer one" not in page
    assert "versionId" not in saved()


def test_kept_text_is_shown_page_by_page_and_not_read_anew(
    alice: Browser, pipeline: Pipeline, console: Console
) -> None:
    catalog = new_catalog(alice)
    document_id = dropped(pipeline, "alice", catalog, "scan.pdf", files.pdf("Cover"))
    document = pipeline.document(f"alice/{catalog}/scan.pdf")
    assert document is not None
    assert document.text_id is not None
    seen = [Page(1, "Cover"), Page(2, ""), Page(3, "Seen by OCR."), Page(4, "The tide is high.")]
    name = TextName("alice", document.catalog_id, document_id, document.text_id)
    console.services.texts.put(name, text_of(seen, "scan.pdf"))

    page = read(shown(alice, text_path(catalog, document_id, "The tide is high.")))

    assert "Seen by OCR." in page
    assert "⟦" not in page
    assert re.search(r"Page 1\s+Cover\s+Page 3\s+Seen by OCR.\s+Page 4\s+The tide is high.", page)


def test_unreadable_text_page_gives_the_reason_and_a_download(
    alice: Browser, pipeline: Pipeline, console: Console
) -> None:
    catalog = new_catalog(alice)
    broken = dropped(pipeline, "alice", catalog, "a.pdf", "no PDF at all")
    path = f"/catalogs/{catalog}/documents/"

    told = read(shown(alice, f"{path}{broken}/text"))
    assert "The text can't be shown: the file is not a PDF" in told

    reading = vars(console.services.reading)
    version = FileVersion(etag="e", version_id=None)
    too_large = Mock(read=Mock(return_value=File(version=version, body=None)))
    console.services.reading = type(console.services.reading)(**{**reading, "files": too_large})
    page = shown(alice, f"{path}{broken}/text")
    assert "files of more than 20 MB aren't shown as text" in read(page)
    assert "/file?save" in page


def test_passage_across_two_pages_names_its_pages() -> None:
    pages = [Page(1, "One."), Page(2, "Two begins\nand ends here"), Page(3, "on three. Four.")]

    part = part_of(pages, first="ends here", last="on three.")

    assert [(each.page, each.text, each.is_passage) for each in part.pieces] == [
        (1, "One.\n", False),
        (2, "Two begins\nand ", False),
        (None, "ends here\n", True),
        (3, "on three.", True),
        (None, " Four.\n", False),
    ]
    assert (part.page, part.is_found) == (2, True)


def test_a_long_text_comes_in_parts_and_the_one_with_the_passage_first() -> None:
    lines = [f"Line {number} of the log." for number in range(20_000)]
    pages = [Page(None, "\n".join(lines))]

    part = part_of(pages, first="Line 9000 of the log.")
    every = [part_of(pages, wanted=number) for number in range(1, part.count + 1)]

    assert 1 < part.number < part.count
    assert [each.text for each in part.pieces if each.is_passage] == ["Line 9000 of the log."]
    assert "".join(piece.text for each in every for piece in each.pieces) == pages[0].text + "\n"
    assert part_of(pages, wanted=99).number == part.count


@pytest.mark.parametrize(
    ("text", "first", "last", "found"),
    [
        ("The  **tide**\nis high. Go.", "the tide is", "high", "The  **tide**\nis high."),
        ("潮は高い。船は待つ。", "潮は高い。", "待つ。", "潮は高い。船は待つ。"),
        ("One two three four", "Title One two three four", "", "One two three four"),
        ("One two three four.", "five six seven", "", None),
        ("Go. Stay. Go. Leave.", "Go", "Leave", "Go. Stay. Go. Leave."),
        ("Some words here.", "...", "", None),
        ("One.\n\n## Two\nThree.", "Two three", "", "## Two\nThree."),
    ],
)  # fmt: skip
def test_a_passage_is_found_by_its_first_and_last_words(
    text: str, first: str, last: str, found: str | None
) -> None:
    span = located(text, first, last)

    assert (None if span is None else text[span[0] : span[1]]) == found


def test_address_of_a_passage_stays_short_for_any_passage() -> None:
    assert len(text_path("cat-" + "0" * 24, "doc-" + "0" * 24, "潮" * 5_000)) < 1_400


def test_rows_of_cells_are_shown_as_a_table_with_the_passage_marked(
    alice: Browser, pipeline: Pipeline
) -> None:
    catalog, cells = new_catalog(alice), [["1", "", "3"], ["4", "5", "6"]]
    body = files.workbook({"Plan": [["Berths"], *cells]})
    document = dropped(pipeline, "alice", catalog, "plan.xlsx", body)
    at = f"/catalogs/{catalog}/documents/{document}/text"

    page, passage = shown(alice, at), shown(alice, f"{at}?from=4%095&to=6")

    assert "<tr><td>1</td><td></td><td>3</td></tr><tr><td>4</td><td>5</td>" in page
    assert "<mark>5</mark>" in passage
