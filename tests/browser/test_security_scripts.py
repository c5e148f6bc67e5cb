"""
Texts of others and of models are text on every page, whatever they look like: nothing in them runs.
"""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Dialog, Error, Page, Request, expect

from stackroom.access.tool import is_plain
from stackroom_local.state import Instance
from tests.browser.attempts import Attempts
from tests.browser.builders import answered, ask, make_agent, quick_add, script, searching, stocked
from tests.browser.conftest import SignedIn
from tests.browser.payloads import ATTACK, PAYLOADS
from tests.browser.visitors import Visitor

# A key of S3 goes on in a folder of its own behind a slash; what is in a name of a file has none.
GROUPS = [list(PAYLOADS.values())[first : first + 5] for first in range(0, len(PAYLOADS), 5)]
NAMED = [list(PAYLOADS.values())[first : first + 3] for first in range(0, len(PAYLOADS), 3)]
FILES = {f"{' '.join(each).replace('/', '∕')}.txt": "\n".join(each) for each in NAMED}
# What a policy of the page refuses has got into it all the same.
LISTEN = """addEventListener("securitypolicyviolation", (event) => {
  attacked(`refused by the policy: ${event.violatedDirective} ${event.blockedURI}`);
}, true);"""
# An element that no template of ours makes, an attribute that acts, and a template that was run.
LOOK = """() => {
  const found = [], OUT = /[/]attacked|javascript:|^js:/i;
  for (const element of document.querySelectorAll("*")) {
    for (const { name, value } of element.attributes) {
      const acts = /^(on|hx-|data-hx-|srcdoc|style)/.test(name) || /^(src|href|action)$/.test(name);
      if (/^on|^srcdoc|hx-on/.test(name) || (acts && OUT.test(value.replace(/\\s/g, "")))) {
        found.push(`${element.tagName} ${name}=${value}`);
      }
    }
    const own = location.origin + "/static/";
    const isForeign = element.tagName === "SCRIPT" && !(element.src || "").startsWith(own);
    const foreign = /^(IFRAME|OBJECT|EMBED|BASE|SVG|MATH|STYLE|TEMPLATE)$/i;
    if (isForeign || foreign.test(element.tagName)) {
      found.push(element.outerHTML.slice(0, 200));
    }
  }
  if (document.body && document.body.innerText.includes("9359")) found.push("9359");
  return found;
}"""
SETTLE = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


@dataclass
class Alarm:
    rung: list[str] = field(default_factory=list)

    def looked_at(self, page: Page) -> list[str]:
        """Return the alarms so far and the page's text, and silence the alarm."""
        try:
            page.wait_for_load_state()
            page.evaluate(SETTLE)
            found = [*page.evaluate(LOOK), *self.rung]
        except Error as error:  # while it was looked at
            found = [f"the page led elsewhere: {error.message}", *self.rung]
        self.rung.clear()
        return found


def alarm_at(page: Page) -> Alarm:
    alarm = Alarm()
    context = page.context

    def asked(request: Request) -> None:
        if urlsplit(request.url).path.startswith(f"/{ATTACK}"):
            alarm.rung.append(f"asked for {request.url}")

    def opened(dialog: Dialog) -> None:
        alarm.rung.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    context.expose_binding(ATTACK, lambda _source, how: alarm.rung.append(f"ran: {how}"))
    context.add_init_script(LISTEN)
    context.on("request", asked)
    page.on("dialog", opened)
    return alarm


def test_alarm_hears_executed_payloads_and_stays_silent_on_escaped_text(chromium: Browser) -> None:
    """Else the tests below would prove nothing."""
    page = chromium.new_page()
    alarm = alarm_at(page)
    heard = []

    for payload in ("a script", "an image", "a form's end", "htmx's handlers"):
        page.set_content(f"<p>{PAYLOADS[payload]}</p>")
        heard.append(bool(alarm.looked_at(page)))
    page.set_content("<p>&lt;script&gt;attacked(1)&lt;/script&gt;</p>")
    silent = alarm.looked_at(page)

    page.close()
    assert (heard, silent) == ([True] * 4, [])


def look_at(
    visitor: Visitor, alarm: Alarm, tried: Attempts, what: str, *, payloads: int = 1
) -> None:
    """The page that is shown, where as many payloads had their chance."""
    rung = alarm.looked_at(visitor.page)
    for _ in range(payloads):
        tried.note(f"{rung}: {what} at {visitor.page.url[:200]}", got_in=bool(rung))


def test_script_in_document_names_and_texts_does_not_run(
    signed_in: SignedIn, instance: Instance
) -> None:
    visitor, tried = signed_in("mallory-of-files"), Attempts()
    alarm, page = alarm_at(visitor.page), visitor.page
    texts = {name: f"{text} The quay is closed. {text}" for name, text in FILES.items()}
    catalog = stocked(instance, visitor.name, "quays", texts)
    address = f"/catalogs/{catalog}"

    visitor.open("/catalogs")
    look_at(visitor, alarm, tried, "the list")
    visitor.open(address)
    rows = page.locator("#documents tbody tr")
    expect(rows).to_have_count(len(FILES))
    look_at(visitor, alarm, tried, "the catalog", payloads=len(PAYLOADS))
    paths = page.locator("#documents tbody th a").evaluate_all(
        "(all) => all.map((each) => each.pathname)"
    )
    for path in paths:
        visitor.open(path)
        expect(page.locator(".cut article").first).to_be_visible()
        look_at(visitor, alarm, tried, "a document", payloads=3)
        visitor.open(f"{path}/text?from=The+quay+is+closed")
        expect(page.locator("#passage")).to_be_visible()
        look_at(visitor, alarm, tried, "the text of a document", payloads=3)
    visitor.open(address)
    for group in GROUPS:
        asked = " ".join(filter(is_typed, group))
        visitor.open("/ask")
        page.get_by_label("Question", exact=True).fill(f"{asked} Is the quay closed?")
        page.locator("[data-choice] > summary").click()
        page.get_by_label("Number of passages").fill("20")
        page.get_by_role("button", name="Ask").click()
        expect(page.locator("#answer mark").first).to_be_visible()
        page.locator("#answer summary").evaluate_all("(all) => all.forEach((one) => one.click())")
        page.locator("#history summary").click()
        look_at(visitor, alarm, tried, f"the answer to {asked}", payloads=len(group))
        page.locator("a.cite").first.click()
        expect(page.get_by_role("dialog").locator("blockquote")).to_be_visible()
        look_at(visitor, alarm, tried, f"the source of {asked}")

    tried.none_succeeded(least=3 * len(PAYLOADS))


def test_script_in_model_output_does_not_run(signed_in: SignedIn, instance: Instance) -> None:
    visitor, tried = signed_in("mallory-of-models"), Attempts()
    alarm, page = alarm_at(visitor.page), visitor.page
    text = "\n".join(PAYLOADS.values())
    stocked(instance, visitor.name, "moorings", {"moorings.txt": f"{text} The mooring is free."})
    agent = make_agent(visitor, "Of moorings")
    model = page.get_by_label("Model", exact=True).input_value()
    quick_add(visitor, agent, "moorings")

    for number, group in enumerate(GROUPS):
        said, question = "\n".join(group), f"Mooring {number}: is it free?"
        asked = list(filter(is_typed, group))
        uses = searching("search_moorings", " ".join([*asked, "Is the mooring free?"]))
        turns = ({"text": f"Looking. {said}", "uses": uses}, {"text": f"Free. {said}"})
        script(instance, question, *turns, model=model)
        run = answered(ask(visitor, agent, " ".join([*asked, question])))
        run.locator("summary").first.click()
        expect(run.locator("blockquote").first).to_be_visible()
        look_at(visitor, alarm, tried, f"group {number}", payloads=len(group))

    tried.none_succeeded(least=len(PAYLOADS))


def is_typed(text: str) -> bool:
    """Return whether a field accepts the text; others come only from files and models."""
    return all(map(is_plain, text))
