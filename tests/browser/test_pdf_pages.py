"""The page of a PDF beside its text: the passage marked on it, whatever becomes of the address."""

import io
import random
import re

from PIL import Image
from playwright.sync_api import Page, Route, expect
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from simulator.tests import files
from stackroom.model.keys import locate
from stackroom_console.shown_citations import text_path
from stackroom_local.state import Instance
from tests.browser.builders import stocked
from tests.browser.conftest import SignedIn
from tests.browser.looks import Looks

QUESTION = "When does the pilot boat leave Vlissingen?"
BROKEN = ("In winter the pilot boat leaves Vliss-", "ingen at six, and returns before", "the tide.")
PASSAGE = "In winter the pilot boat leaves Vlissingen at six, and returns before the tide."
PAGES = 12
CITED = 5
LARGE = 2**20  # bytes; the page fetches a smaller file in one piece


def book() -> bytes:
    """Return a PDF of which each page has a text of its own and a picture that can't be packed."""
    body, noise = io.BytesIO(), random.Random(7)
    canvas = Canvas(body, pagesize=A4, invariant=True)
    for number in range(1, PAGES + 1):
        text = canvas.beginText(72, 770)
        text.textLine(f"Chapter {number}")
        for line in BROKEN if number == CITED else ():
            text.textLine(line)
        for shelf in range(25):
            text.textLine(f"Chart {shelf} of quay {number} hangs in hall {number + shelf}.")
        canvas.drawText(text)
        picture = Image.frombytes("RGB", (240, 240), noise.randbytes(240 * 240 * 3))
        canvas.drawImage(ImageReader(picture), 72, 100, 300, 300)
        canvas.showPage()
    canvas.save()
    return body.getvalue()


def document_in(instance: Instance, user: str, name: str, body: bytes) -> tuple[str, str]:
    """Return the ids of a searchable document's catalog and of the document."""
    catalog_id = stocked(instance, user, "Book", {name: body})
    location = locate(f"{user}/Book/{name}")
    assert location is not None
    return catalog_id, location.document_id


def letters(text: str) -> str:
    return re.sub(r"\W", "", text)


def marked_on(page: Page) -> dict[str, str]:
    """Return the letters that are marked in the PDF, by page."""
    return {
        each.get_attribute("data-page") or "": letters(
            "".join(each.locator("mark").all_text_contents())
        )
        for each in page.locator(".pdf-page:has(mark)").all()
    }


def test_citation_of_a_pdf_opens_its_page_with_the_passage_marked(
    signed_in: SignedIn, instance: Instance, looks: Looks
) -> None:
    visitor, body = signed_in("pdf-reader"), book()
    document_in(instance, visitor.name, "Pilots.pdf", body)
    requested: list[str] = []
    visitor.page.on("request", lambda request: requested.append(request.url))

    page = visitor.open(f"/ask?q={QUESTION.replace(' ', '+')}")
    page.locator("#answer a.cite").first.click()
    assert not [each for each in requested if "pdfjs" in each]
    page.get_by_role("dialog").get_by_role("link", name="Show in the PDF").click()

    expect(page.get_by_text("The passage is marked on page")).to_be_visible()
    assert letters(PASSAGE) in marked_on(page)[str(CITED)]
    expect(page.locator(f".pdf-page[data-page='{CITED}'] mark").first).to_be_in_viewport()
    expect(page.locator("#passage")).to_be_in_viewport()
    assert page.locator(".pdf-page").evaluate_all("all => all.map(each => each.dataset.page)") == [
        str(each) for each in (CITED - 1, CITED, CITED + 1)
    ]
    ranges = [each for each in requested if "X-Amz-Signature" in each]
    assert len(body) > LARGE
    assert 1 < len(ranges) < len(body) / 2**16
    page.get_by_role("region", name="Pages of the PDF").focus()
    top = page.locator(".pdf-pages").evaluate("box => box.scrollTop")
    page.keyboard.press("End")
    expect(page.locator(".pdf-pages")).not_to_have_js_property("scrollTop", top)
    looks.check(page, "document-pdf")
    visitor.expect_no_errors()


def test_expired_address_of_a_pdf_is_renewed_while_it_is_read(
    signed_in: SignedIn, instance: Instance
) -> None:
    visitor = signed_in("pdf-late")
    catalog_id, document_id = document_in(instance, visitor.name, "Pilots.pdf", book())
    page, opened, refused = visitor.page, list[str](), list[str]()
    page.on("request", lambda each: opened.append(each.url))

    visitor.open(text_path(catalog_id, document_id, PASSAGE))
    expect(page.get_by_text(f"The passage is marked on page {CITED}.")).to_be_visible()
    assert marked_on(page) == {str(CITED): letters(PASSAGE)}
    signed = [each for each in opened if "X-Amz-Signature" in each]
    expired = re.findall("X-Amz-Signature=([0-9a-f]+)", signed[-1])[0]

    def expire(route: Route) -> None:
        refused.append(route.request.url)
        route.fulfill(status=403, headers={"Access-Control-Allow-Origin": visitor.url})

    page.route(re.compile(expired), expire)
    while page.get_by_role("button", name="Next page").is_enabled():
        page.get_by_role("button", name="Next page").click()
    expect(page.locator(f".pdf-page[data-page='{PAGES}'] .textLayer")).to_contain_text(
        f"Chapter {PAGES}"
    )

    assert refused
    expect(page.get_by_text("The PDF can't be shown")).to_have_count(0)


def test_scanned_page_is_shown_and_says_why_nothing_is_marked(
    signed_in: SignedIn, instance: Instance
) -> None:
    visitor = signed_in("pdf-scan")
    catalog_id, document_id = document_in(
        instance, visitor.name, "Scan.pdf", files.scanned_pdf(PASSAGE, PASSAGE)
    )

    page = visitor.open(text_path(catalog_id, document_id, PASSAGE, page=2))

    expect(page.get_by_text("this page is a picture, without a text layer")).to_be_visible()
    expect(page.locator(".pdf-page[data-page='2'] canvas")).to_be_in_viewport()
    expect(page.locator(".pdf-page mark")).to_have_count(0)
    visitor.expect_no_errors()
