"""People at the console, each with a browser of their own: cookies of one are no other's."""

from dataclasses import dataclass

from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from stackroom_local.state import Instance

PATIENCE = 120_000  # milliseconds, of a very busy machine; an idle one takes a hundredth


@dataclass(frozen=True)
class Visitor:
    """
    Signed in at the local issuer. `said` fills with errors that the browser logs: what a Content
    Security Policy refuses, scripts that fail, files that are missing.
    """

    name: str
    page: Page
    url: str
    said: list[str]

    def open(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def expect_no_errors(self) -> None:
        assert not self.said, "\n".join(self.said)


def arrive(browser: Browser, instance: Instance, name: str) -> Visitor:
    """A new browser that knows nobody, and no page yet."""
    assert instance.console_url is not None, "it is served unless the context says otherwise"
    context = browser.new_context(base_url=instance.console_url, locale="en-GB")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    said: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            said.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: said.append(str(error)))
    return Visitor(name=name, page=page, url=instance.console_url, said=said)


def sign_in(visitor: Visitor, *, groups: tuple[str, ...] = ()) -> None:
    """From the front page to the first one of their own, as anyone does."""
    page = visitor.open("/")
    page.get_by_role("button", name="Sign in").click()
    answer_issuer(visitor, groups=groups)
    page.wait_for_url(f"{visitor.url}/catalogs**")


def answer_issuer(visitor: Visitor, *, groups: tuple[str, ...] = ()) -> None:
    """Say at the local issuer's page, which asks for no password, who one is."""
    visitor.page.locator("#user").fill(visitor.name)
    visitor.page.locator("#groups").fill(", ".join(groups))
    visitor.page.get_by_role("button", name="Sign in").click()


def choose_in_menu(page: Page, of: str, what: str) -> None:
    """Choose an entry of the menu behind the button of `of`'s row."""
    page.get_by_label(f"Actions for {of}", exact=True).click()
    page.get_by_role("link", name=f"{what} {of}", exact=True).click()


def make_catalog(visitor: Visitor, name: str) -> str:
    """A new catalog by way of the dialog; answers its page, which is shown."""
    page = visitor.open("/catalogs")
    page.get_by_role("button", name="New catalog").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    return page.url
