"""Bodies that can't be read, sent by a page that may send: refused, and no error of ours."""

import re
from base64 import b64encode

from playwright.sync_api import Page

from stackroom_console.endpoint import Endpoint
from stackroom_local.state import Instance
from tests.browser.asking import token
from tests.browser.belongings import belongings_of
from tests.browser.conftest import NewAttempts, SignedIn
from tests.console.malformed import Malformed, malformed
from tests.console.test_access import CHANGES, told
from tests.console.things import Things

_SEND = """async ([path, method, headers, content]) => {
  const body = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
  const answer = await fetch(path, { method, headers, body, redirect: "manual" });
  return [answer.status, await answer.text()];
}"""


def test_what_can_not_be_read_changes_nothing_and_is_no_error_of_ours(
    signed_in: SignedIn, instance: Instance, attempts: NewAttempts
) -> None:
    visitor, tried = signed_in("mallory-of-bodies"), attempts("malformed and oversized bodies")
    hers = belongings_of(visitor, instance, "amaranth")
    before, log = hers.kept(), instance.state_dir / "logs" / "console.log"
    logged = log.stat().st_size

    for endpoint in CHANGES:
        for each in malformed(endpoint):
            status, text = sent(visitor.page, hers.things, endpoint, each)
            tried.note(
                f"{told(endpoint)}, {each.told}: {status} {text[:200]}",
                got_in=status != each.status or "Traceback" in text,
            )

    assert hers.kept() == before
    assert not re.search("Traceback|a request failed", log.read_text()[logged:])
    tried.none_succeeded(least=10 * len(CHANGES))


def sent(page: Page, things: Things, endpoint: Endpoint, each: Malformed) -> tuple[int, str]:
    headers = {**each.headers, "X-CSRF-Token": token(page)}
    content = b64encode(each.content).decode()
    status, text = page.evaluate(
        _SEND, [things.address(endpoint), endpoint.method, headers, content]
    )
    return status, text
