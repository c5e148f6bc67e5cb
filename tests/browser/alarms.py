"""What rings when a page takes a text for more than that, whether or not it comes to anything."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Dialog, Error, Page, Request

from tests.browser.payloads import NAME

# What a policy of the page refuses has got into it all the same.
_LISTEN = """addEventListener("securitypolicyviolation", (event) => {
  attacked(`refused by the policy: ${event.violatedDirective} ${event.blockedURI}`);
}, true);"""
# An element that no template of ours makes, an attribute that acts, and a template that was run.
_LOOK = """() => {
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
_SETTLE = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


@dataclass
class Alarm:
    rung: list[str] = field(default_factory=list)

    def looked_at(self, page: Page) -> list[str]:
        """What has rung until now, and what stands in the page; silent again."""
        try:
            page.wait_for_load_state()
            page.evaluate(_SETTLE)
            found = [*page.evaluate(_LOOK), *self.rung]
        except Error as error:  # while it was looked at
            found = [f"the page led elsewhere: {error.message}", *self.rung]
        self.rung.clear()
        return found


def alarm_at(page: Page) -> Alarm:
    alarm = Alarm()
    context = page.context

    def asked(request: Request) -> None:
        if urlsplit(request.url).path.startswith(f"/{NAME}"):
            alarm.rung.append(f"asked for {request.url}")

    def opened(dialog: Dialog) -> None:
        alarm.rung.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    context.expose_binding(NAME, lambda _source, how: alarm.rung.append(f"ran: {how}"))
    context.add_init_script(_LISTEN)
    context.on("request", asked)
    page.on("dialog", opened)
    return alarm
