"""Pages of other origins in the browser of somebody signed in: they change and read nothing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Response

from stackroom_cli.sites.site_services import SiteServices
from stackroom_console.endpoint import Endpoint
from stackroom_console.routes import ROUTES
from stackroom_local.state import Instance
from tests.browser.attempts import Attempts
from tests.browser.builders import make_agent, stocked
from tests.browser.conftest import SignedIn
from tests.browser.visitors import Visitor
from tests.console.things import CHANGES, name_of

# Of one site and of two: ports make another origin, and names another site, which gets no cookie
# that is SameSite=Lax but with a link that is followed.
HOSTS = ("127.0.0.1", "localhost")


@dataclass
class Elsewhere:
    """`pages` are shown by their paths; one that isn't there is empty."""

    port: int
    pages: dict[str, str] = field(default_factory=dict)

    def address(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"

    def form(self, path: str, target: str, fields: Mapping[str, object], encoding: str) -> None:
        """Sends itself as soon as its page is there."""
        inputs = "".join(
            f'<input type="hidden" name="{escape(name)}" value="{escape(str(value))}">'
            for name, value in fields.items()
        )
        self.pages[path] = (
            f'<form method="post" action="{escape(target)}" enctype="{encoding}">{inputs}</form>'
            "<script>document.forms[0].submit()</script>"
        )


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    site = Elsewhere(port=0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = site.pages.get(self.path.partition("?")[0], "").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.port = server.server_address[1]
    serving = Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        serving.join()


# Each address with every wrong token, and the headers of each answer: tests/console. Here: what a
# browser sends along, and lets others see.
CHANGED = (
    "/catalogs",
    "/catalogs/{catalog_id}/delete",
    "/agents/{agent_id}/delete",
    "/api/agents/{agent_id}",
)
SHOWN = ("/catalogs", "/catalogs/{catalog_id}", "/agents/{agent_id}", "/api/agents/{agent_id}")
SENT = [each for each in CHANGES if each.path in CHANGED]
LOOKS = [each for each in ROUTES if not each.changes and each.path in SHOWN]
ENCODINGS = ("application/x-www-form-urlencoded", "text/plain")
SENT_WITH = (("text/plain", "no-cors"), ("text/plain", "cors"), ("application/json", "cors"))

# Each answers whether it has read anything of what is at the address.
READ = (
    """async (target) => {
      try { return await (await fetch(target, { credentials: "include" })).text(); }
      catch { return ""; }
    }""",
    """(target) => new Promise((done) => {
      const request = new XMLHttpRequest();
      request.withCredentials = true;
      request.onload = () => done(request.responseText);
      request.onerror = () => done("");
      request.open("GET", target);
      request.send();
    })""",
    *(
        f"""(target) => new Promise((done) => {{
          const element = document.createElement("{name}");
          element.onload = () => done("loaded");
          element.onerror = () => done("");
          element.rel = "stylesheet";
          element.src = element.href = target;
          document.body.append(element);
        }})"""
        for name in ("script", "img", "link")
    ),
)
SEND = """async ([target, method, type, mode]) => {
  const headers = type ? { "Content-Type": type } : {};
  const body = type === "application/json" ? "{}" : "csrf_token=guessed";
  const options = { method, mode, headers, body, credentials: "include" };
  try { return await (await fetch(target, options)).text(); } catch { return ""; }
}"""


@pytest.fixture(scope="module")
def site() -> Iterator[Elsewhere]:
    with elsewhere() as served:
        yield served


@dataclass(frozen=True, kw_only=True)
class Hers:
    """A catalog with a document, and an agent, of somebody who is signed in."""

    visitor: Visitor
    instance: Instance
    catalog_id: str
    agent_id: str

    def address(self, endpoint: Endpoint) -> str:
        path = endpoint.path.format(catalog_id=self.catalog_id, agent_id=self.agent_id)
        return self.visitor.url + path

    def kept(self) -> str:
        """Whatever a change would show in."""
        agent = self.visitor.page.request.get(f"{self.visitor.url}/api/agents/{self.agent_id}")
        versions = self.instance.client("s3").list_object_versions(
            Bucket=self.instance.bucket, Prefix=f"{self.visitor.name}/"
        )
        files = [(each["Key"], each["VersionId"]) for each in versions["Versions"]]
        catalogs = SiteServices(self.instance).use_cases.listing.catalogs_of(self.visitor.name)
        return repr((agent.text(), files, catalogs))


@pytest.fixture
def hers(signed_in: SignedIn, instance: Instance) -> Hers:
    visitor = signed_in("ada")
    catalog_id = stocked(instance, "ada", "Celadon", {"celadon.txt": "It is in hall 7."})
    agent_id = make_agent(visitor, "Celadon").rpartition("/")[2]
    return Hers(visitor=visitor, instance=instance, catalog_id=catalog_id, agent_id=agent_id)


def test_no_page_of_another_origin_changes_reads_or_frames_anything(
    hers: Hers, site: Elsewhere
) -> None:
    for host in HOSTS:
        changes_nothing(hers, site, host)
        reads_and_frames_nothing(hers, site, host)


def changes_nothing(hers: Hers, site: Elsewhere, host: str) -> None:
    """No form, and no script."""
    tried, page, before = Attempts(), hers.visitor.page, hers.kept()

    for endpoint in SENT:
        target = hers.address(endpoint)
        for encoding in ENCODINGS:
            fields = {"name": "Mine", "csrf_token": "guessed", "_method": endpoint.method}
            site.form("/form", target, fields, encoding)
            with page.expect_response(lambda each: each.url == target) as sent:  # noqa: B023
                page.goto(site.address(host, "/form"))
            page.wait_for_load_state()
            tried.note(
                f"{name_of(endpoint)} by {encoding}: {sent.value.status}", got_in=is_in(sent.value)
            )

    attacker = hers.visitor.page.context.new_page()
    attacker.goto(site.address(host))
    answers: list[Response] = []

    def hear(answer: Response) -> None:
        answers.append(answer)

    attacker.on("response", hear)

    for endpoint in SENT:
        target = hers.address(endpoint)
        for of_type, mode in SENT_WITH:
            answers.clear()
            read = attacker.evaluate(SEND, [target, endpoint.method, of_type, mode])
            let_in = [each.status for each in answers if is_in(each)]
            tried.note(
                f"{name_of(endpoint)} as {of_type}, {mode}: {let_in} {read}",
                got_in=bool(let_in or read),
            )

    hers.visitor.open("/catalogs")
    assert hers.kept() == before
    tried.none_succeeded(least=5 * len(SENT))


def reads_and_frames_nothing(hers: Hers, site: Elsewhere, host: str) -> None:
    tried = Attempts()
    attacker = hers.visitor.page.context.new_page()

    for endpoint in LOOKS:
        target = hers.address(endpoint)
        attacker.goto(site.address(host))
        for way in READ:
            read = attacker.evaluate(way, target)
            tried.note(f"{name_of(endpoint)} by {way}: {read}", got_in=bool(read))

        for element in ("<iframe src", "<object data"):
            site.pages["/frame"] = f'<p>Win a prize</p>{element}="{target}"></iframe>'
            attacker.goto(site.address(host, "/frame"), wait_until="load")
            shown = [
                each.url for each in attacker.frames[1:] if each.url.startswith(hers.visitor.url)
            ]
            tried.note(f"{name_of(endpoint)} in {element}: {shown}", got_in=bool(shown))

    assert len(LOOKS) == len(SHOWN)
    tried.none_succeeded(least=(len(READ) + 2) * len(LOOKS))


def test_attack_page_notices_a_console_that_allows_it(stranger: Visitor, site: Elsewhere) -> None:
    """Else the test above would prove nothing."""
    page = stranger.page
    site.pages["/page"] = "told"
    site.pages["/frame"] = f'<iframe src="{site.address(HOSTS[0], "/page")}"></iframe>'

    page.goto(site.address(HOSTS[0], "/frame"), wait_until="load")
    framed = [each.url for each in page.frames[1:]]
    read = [page.evaluate(way, site.address(HOSTS[0], "/page")) for way in READ[:3]]

    assert framed == [site.address(HOSTS[0], "/page")]
    assert read == ["told", "told", "loaded"]


def is_in(response: Response) -> bool:
    """Return whether the request changed or showed anything but the sign-in page."""
    if response.status >= 400:
        return False
    leads_to = urlsplit(response.headers.get("location", "")).path
    return not leads_to.startswith("/sign-in")
