"""A file that is opened runs nothing, and stands in no page of the console's origin."""

from collections.abc import Mapping
from contextlib import suppress

from playwright.sync_api import Error, Response

from stackroom_local.state import Instance
from tests.browser.attempts import Attempts
from tests.browser.conftest import SignedIn
from tests.browser.test_catalogs import make
from tests.browser.test_security_scripts import alarm_at
from tests.e2e.people import Person, eventually

RUNS = "<script>attacked(1)</script><img src=/attacked onerror=attacked(2)>"
HTML = f"<!doctype html><title>Report</title>{RUNS}"
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" onload="attacked(3)">{RUNS}</svg>'
FILES = {
    "page.html": HTML,
    "text.txt": HTML,
    "drawing.pdf": SVG,  # under the name of another type
    'quoted".html': HTML,
    "page.html;.txt": HTML,
}


def test_a_file_that_is_opened_runs_nothing(signed_in: SignedIn, instance: Instance) -> None:
    visitor, tried = signed_in("mallory-of-pages"), Attempts()
    make(visitor, "Reports")
    at = visitor.page.url.removeprefix(visitor.url)
    documents = {name: sent(instance, visitor.name, at, name) for name in FILES}
    page = visitor.page.context.new_page()
    alarm = alarm_at(page)
    answers: list[Response] = []

    def hear(answer: Response) -> None:
        answers.extend([answer] if answer.url.startswith("http") else [])  # no viewer's own

    page.on("response", hear)
    for name, document in documents.items():
        for query in ("", "?save", "#page=1"):
            answers.clear()
            with suppress(Error):  # it is saved, and no page
                page.goto(f"{visitor.url}{at}/documents/{document}/file{query}")
            ran, last = list(alarm.rung), answers[-1]
            alarm.rung.clear()
            is_ours = page.url.startswith(visitor.url) and last.status == 200
            tried.note(
                f"{name}{query}: {ran}, {last.url}, {last.headers}",
                got_in=bool(ran) or is_ours or may_run(last.headers),
            )

    tried.none_succeeded(least=3 * len(FILES))


def may_run(headers: Mapping[str, str]) -> bool:
    """Whether a browser would show it, as what it has scripts in."""
    is_saved = headers.get("content-disposition", "").startswith("attachment")
    return not is_saved and headers.get("content-type") != "application/pdf"


def sent(instance: Instance, user: str, catalog: str, name: str) -> str:
    """As what a browser would run, if nobody said otherwise: S3 keeps the type that it is told."""
    path = f"{catalog.rpartition('/')[2]}/{name}"
    instance.client("s3").put_object(
        Bucket=instance.bucket,
        Key=f"{user}/{path}",
        Body=FILES[name].encode(),
        ContentType="image/svg+xml" if "svg" in FILES[name] else "text/html",
    )
    document = eventually(lambda: Person(instance, user).record(path), f"a record of {name}")
    assert document is not None, "eventually() returns what is truthy"
    return document.document_id
