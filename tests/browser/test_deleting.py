"""A large catalog is deleted by a page that asks for one step after another, by itself."""

from types import SimpleNamespace
from urllib.parse import parse_qs

from playwright.sync_api import Route, expect

from stackroom.catalogs.deletions import CatalogDeletion
from stackroom_console.rendering import _environment
from tests.browser.conftest import SignedIn
from tests.browser.visitors import make_catalog


def unfinished(catalog_id: str, csrf: str) -> str:
    """What the console answers where time was over, 40 documents before the end."""
    asked = CatalogDeletion(
        catalog_id=catalog_id,
        name="Large",
        documents=140,
        size=140,
        receipt_ids=(),
        is_asked_for=False,
    )
    template = _environment().get_template("catalog_deleting.html")
    return template.render(request=SimpleNamespace(is_htmx=True), csrf=csrf, asked=asked, left=40)


def test_a_deletion_goes_on_by_itself_until_all_is_asked_for(signed_in: SignedIn) -> None:
    tom = signed_in("tom")
    catalog_id = make_catalog(tom, "Large").rpartition("/")[2]
    steps: list[Route] = []

    def answered(route: Route) -> None:
        """The first step here; the console answers the next, once what is told was seen."""
        steps.append(route)
        if len(steps) == 1:
            [csrf] = parse_qs(route.request.post_data or "")["csrf_token"]
            route.fulfill(body=unfinished(catalog_id, csrf), content_type="text/html")

    tom.open("/catalogs").get_by_label("Actions for Large").click()
    tom.page.get_by_role("link", name="Delete Large").click()
    tom.page.route(f"**/catalogs/{catalog_id}/delete", answered)
    tom.page.get_by_role("button", name="Delete catalog").click()

    dialog = tom.page.get_by_role("dialog")
    expect(dialog.get_by_role("status")).to_contain_text("40 documents left to delete")
    with tom.page.expect_response(f"**/catalogs/{catalog_id}/delete"):
        while len(steps) < 2:
            tom.page.wait_for_timeout(50)
        steps[1].continue_()
    expect(dialog).to_have_count(0)
    expect(tom.page.get_by_role("link", name="Delete Large")).to_have_count(0)
    assert steps[1].request.post_data == steps[0].request.post_data
    assert tom.said == []
